"""A run shared out to several processes: the same results, one journal and one budget, whoever of them is killed."""

import asyncio
import contextlib
import functools
import os
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest
from journal_samples import program, query
from test_models_running import PRICES, question, roles, single

from models.backends import BackendSettings, run
from models.budget import Budget, Sums
from models.journal import joined, opened
from models.journal.accounts import spent
from models.rehearsal.server import running
from models.rehearsal.writing import Rehearsal
from models.remedies import ask
from schemas.errors import MachineError, RequestError


@pytest.fixture
def settings(tmp_path):
    journal = tmp_path / "journal.sqlite"
    return BackendSettings("messages", roles("messages"), PRICES, journal, 8, quiet=True, timeout=20.0)


def test_killed_in_a_process_or_whole_a_run_goes_on_in_any_number_to_the_same_bytes(tmp_path):
    with running() as (undisturbed, _):
        assert program(tmp_path / "undisturbed", undisturbed).wait(60) == 0
    killed = tmp_path / "killed"
    with running(Rehearsal(latency=0.03)) as (address, api):
        started = program(killed, address, "--processes", "2", stderr=subprocess.PIPE)
        _wait_for(started, lambda: api.stats()["answered"] >= 8)
        os.kill(_children(started)[-1], signal.SIGKILL)
        assert started.wait(60) == 3
        (line,) = [line for line in started.stderr.read().decode().splitlines() if line.startswith("error")]
        assert "a process of the run ended (signal 9)" in line and "run the same command again" in line
        before = api.stats()["answered"]
        started = program(killed, address, "--processes", "3")
        _wait_for(started, lambda: api.stats()["answered"] >= before + 8)
        children = _children(started)
        started.kill()
        started.wait()
        _wait_for(started, lambda: not any(Path(f"/proc/{child}").exists() for child in children))
        assert program(killed, address).wait(60) == 0
        stats = api.stats()
    assert (killed / "said.json").read_bytes() == (tmp_path / "undisturbed" / "said.json").read_bytes()
    ((requests, doubts),) = query(killed / "journal.sqlite", "SELECT count(*), sum(doubts) FROM requests")
    assert stats["distinct"] == requests == 80
    assert stats["answered"] - stats["distinct"] <= doubts <= 4, "of the four chains of the process that was killed"
    left = {path.name for path in killed.iterdir()} - {".journal.sqlite.lock", ".journal.sqlite.turns"}
    assert left == {"journal.sqlite", "said.json"}


def test_an_interruption_of_all_processes_finishes_what_is_in_flight_and_is_one_line(tmp_path):
    with running(Rehearsal(latency=0.05)) as (address, api):
        started = program(tmp_path, address, "--processes", "2", stderr=subprocess.PIPE)
        _wait_for(started, lambda: api.stats()["answered"] >= 5)
        for one in (*_children(started), started.pid):  # as a terminal does
            os.kill(one, signal.SIGINT)
        assert started.wait(60) == 130
        said = started.stderr.read().decode()
        assert said.count("error") == 1 and "Traceback" not in said
        counted = "SELECT count(replies.key), sum(doubts) FROM requests LEFT JOIN replies USING (key)"
        ((kept, doubts),) = query(tmp_path / "journal.sqlite", counted)
        assert (kept, doubts) == (api.stats()["answered"], 0)
        assert kept < 80


def test_a_question_that_two_processes_come_to_is_paid_once(rehearse, settings):
    api = rehearse(latency=0.3)
    same = [functools.partial(ask, question(1)) for _ in range(6)]
    replies = list(run(same, replace(settings, processes=2)))
    assert api.stats()["received"] == 1
    assert len({reply.text for reply in replies}) == 1 and len(replies) == 6


def test_processes_stay_within_one_sum_and_spend_it_to_the_end(rehearse, settings, tmp_path):
    api = rehearse()
    asked = [question(number)._replace(fixed=("Rules.",), max_tokens=60) for number in range(24)]
    starts = [functools.partial(ask, one) for one in asked]
    alone = replace(settings, journal=tmp_path / "alone.sqlite")
    expected = list(run(starts, alone))
    with opened(alone.journal, 1) as journal:
        cost = spent(journal.read, PRICES)
    enough, tight = cost * 2, cost * 0.6
    with pytest.raises(MachineError, match="budget of"):
        list(run(starts, replace(settings, processes=2, max_cost=tight)))
    with opened(settings.journal, 1) as journal:
        assert 0 < spent(journal.read, PRICES) <= tight
    assert list(run(starts, replace(settings, processes=2, max_cost=enough))) == expected
    assert api.stats()["distinct"] == 24


def test_a_process_waits_for_what_another_one_may_give_back(tmp_path):
    values = [0.0] * 4
    one, other = (Budget(PRICES, 1.0, 0.0, tmp_path, sums=Sums(values, common=True)) for _ in range(2))

    async def both():
        await one.reserve(0.9)
        waiting = asyncio.create_task(other.reserve(0.8))
        await asyncio.sleep(0)
        assert not waiting.done()
        one.release(0.9, 0.1)
        await asyncio.wait_for(waiting, 5)
        other.release(0.8, 0.8)

    asyncio.run(both())
    assert one.spent == other.spent == pytest.approx(0.9)


def test_a_refused_key_is_one_error_of_the_whole_run(rehearse, settings):
    rehearse(key="another")
    with pytest.raises(RequestError, match="key"):
        list(run(single(8), replace(settings, processes=2)))


def test_several_processes_and_batches_exclude_each_other(rehearse, settings):
    rehearse()
    with pytest.raises(RequestError, match="--processes with --batch"):
        list(run(single(8), replace(settings, processes=2, batch=True)))


def test_the_next_run_waits_for_a_process_that_outlived_its_run(settings):
    with opened(settings.journal, 1) as journal:
        number = journal.run
    with (
        joined(settings.journal, 1, 1, number, contextlib.nullcontext),
        pytest.raises(MachineError, match="still in flight"),
        opened(settings.journal, 1),
    ):
        pass
    with opened(settings.journal, 1):
        pass


def _children(process):
    """The processes that drive chains, without the one that multiprocessing starts for itself."""
    listed = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return [int(one) for one in listed if b"spawn_main" in Path(f"/proc/{one}/cmdline").read_bytes()]


def _wait_for(process, true):
    end = time.monotonic() + 60
    while not true() and time.monotonic() < end:
        time.sleep(0.02)
    assert true(), "nothing happened for a minute"
