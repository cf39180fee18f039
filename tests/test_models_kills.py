"""Runs that are killed or interrupted: they go on to the same bytes, and nothing is paid twice."""

import contextlib
import os
import pty
import random
import signal
import subprocess
import time

import orjson
import pytest
from journal_samples import program, query

from models.rehearsal.server import running
from models.rehearsal.writing import Rehearsal


def test_killed_at_any_instant_a_run_goes_on_to_the_same_bytes_and_pays_nothing_twice(tmp_path):
    chance = random.Random(7)
    with running() as (undisturbed, _):
        assert program(tmp_path / "undisturbed", undisturbed).wait(60) == 0
    with running(Rehearsal(latency=0.01)) as (address, api):
        for most in sorted(chance.sample(range(1, 70), 2)):
            started = program(tmp_path / "killed", address)
            _wait_for(started, lambda most=most: api.stats()["answered"] >= most)
            started.kill()
            started.wait()
        assert program(tmp_path / "killed", address).wait(60) == 0
        stats = api.stats()
    assert (tmp_path / "killed" / "said.json").read_bytes() == (tmp_path / "undisturbed" / "said.json").read_bytes()
    ((requests, doubts),) = query(tmp_path / "killed" / "journal.sqlite", "SELECT count(*), sum(doubts) FROM requests")
    assert stats["distinct"] == requests == 80
    assert stats["answered"] - stats["distinct"] <= doubts


def test_killed_while_batches_are_under_way_a_run_collects_them_and_submits_nothing_twice(tmp_path):
    with running(Rehearsal(batch_seconds=0.3)) as (address, api):
        for batches in (1, 2):
            started = program(tmp_path, address, "--batch")
            _wait_for(started, lambda most=batches: api.stats()["batches"] >= most)
            started.kill()
            started.wait()
        assert program(tmp_path, address, "--batch").wait(60) == 0
        stats = api.stats()
    assert (stats["answered"], stats["distinct"], stats["batches"]) == (80, 80, 2)
    assert orjson.loads((tmp_path / "said.json").read_bytes())[39][1]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_finishes_what_is_pending_and_the_next_run_goes_on(tmp_path, number):
    with running(Rehearsal(latency=0.01)) as (address, api):
        started = program(tmp_path, address)
        _wait_for(started, lambda: api.stats()["answered"] >= 5)
        started.send_signal(number)
        assert started.wait(60) == 130
        counted = "SELECT count(replies.key), sum(doubts) FROM requests LEFT JOIN replies USING (key)"
        ((kept, doubts),) = query(tmp_path / "journal.sqlite", counted)
        assert (kept, doubts) == (api.stats()["answered"], 0)
        assert program(tmp_path, address).wait(60) == 0
        assert api.stats()["answered_twice"] == 0


def test_a_second_ctrl_c_drops_what_is_pending(tmp_path):
    with running(Rehearsal(latency=600.0)) as (address, api):
        started = program(tmp_path, address, stderr=subprocess.PIPE)
        _wait_for(started, lambda: api.stats()["received"] >= 4)
        started.send_signal(signal.SIGINT)
        assert b"finishing 4 requests in flight" in started.stderr.readline()
        started.send_signal(signal.SIGINT)
        assert started.wait(60) == 130
        assert b"Traceback" not in started.stderr.read()
    assert query(tmp_path / "journal.sqlite", "SELECT sum(pending) >= 4 FROM requests") == [(1,)]


def test_on_a_terminal_a_live_line_shows_rows_cost_and_what_is_left(tmp_path):
    ours, theirs = pty.openpty()
    with running(Rehearsal(latency=0.05)) as (address, _):
        started = program(tmp_path, address, stderr=theirs)
        os.close(theirs)
        shown = b""
        with contextlib.suppress(OSError):  # the terminal ends with the process
            while chunk := os.read(ours, 4096):
                shown += chunk
        assert started.wait(60) == 0
    os.close(ours)
    states = shown.decode().split("\r")
    assert any("/80 rows" in state and "$" in state and "left" in state for state in states)
    assert "80 answered" in states[-1] or "80 answered" in states[-2]


def _wait_for(process, true):
    """Until it is true, or the process has ended."""
    end = time.monotonic() + 60
    while not true() and time.monotonic() < end:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.02)
            return
    assert true(), "nothing happened for a minute"
