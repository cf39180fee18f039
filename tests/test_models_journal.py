"""The journal: it survives kills, full disks and newer versions, and says what it holds."""

import asyncio
import contextlib
import os
import pty
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import orjson
import pytest

from models.__main__ import main
from models.journal import Answered, Asked, opened, read_only
from models.rehearsal.api import Rehearsal
from models.rehearsal.server import running
from models.request import Usage
from schemas.errors import MachineError, RequestError

ROOT = Path(__file__).parents[1]
PROGRAM = ROOT / "tests" / "cases" / "stories_on_a_model.py"


def asked(number, **more):
    body = {"model": "m", "max_tokens": 9, "system": [{"type": "text", "text": "rules"}], "messages": [number]}
    key = number.to_bytes(32)
    return Asked(key, orjson.dumps(body), f"a/{number}", "memory", "m", "http://x", 0, "p", "d", 40, 9)


def answered(number, text="yes"):
    message = orjson.dumps({"content": [{"type": "text", "text": text}], "number": number})
    return Answered(number.to_bytes(32), message, Usage(1, 2, 3, 4), True, "req_1")


def write(path, *works, concurrency=4):
    async def everything(journal):
        await asyncio.gather(*(work(journal) for work in works))

    with opened(path, concurrency) as journal:
        asyncio.run(everything(journal))


def both(number, **more):
    async def work(journal):
        await journal.ask([asked(number)])
        await journal.answer(answered(number, **more))

    return work


@pytest.fixture
def path(tmp_path):
    return tmp_path / "heart" / "journal.sqlite"


def test_what_was_answered_is_there_byte_for_byte_in_the_next_run(path):
    write(path, *(both(number) for number in range(50)))
    with opened(path, 4) as journal:
        for number in range(50):
            assert journal.replay(number.to_bytes(32)) == answered(number).message
        assert journal.replay((99).to_bytes(32)) is None


def test_fixed_parts_are_kept_once(path):
    write(path, *(both(number) for number in range(20)))
    assert _query(path, "SELECT count(*) FROM fixed") == [(1,)]


def test_a_request_that_was_under_way_when_the_run_was_killed_counts_as_a_doubt(path):
    write(path, lambda journal: journal.ask([asked(1)]))
    write(path, lambda journal: journal.ask([asked(1)]))
    assert _query(path, "SELECT doubts, in_flight FROM requests") == [(1, 1)]


def test_a_request_that_was_given_up_does_not(path):
    async def gave_up(journal):
        await journal.ask([asked(1)])
        await journal.give_up((1).to_bytes(32), "500")

    write(path, gave_up)
    write(path, lambda journal: journal.ask([asked(1)]))
    assert _query(path, "SELECT doubts FROM requests") == [(0,)]


def test_a_journal_from_a_newer_version_is_left_alone_with_the_mend(path):
    write(path, both(1))
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    before = path.read_bytes()
    with pytest.raises(RequestError, match=r"newer version .* version 1, found 99\. Update") as raised, opened(path, 1):
        pass
    assert raised.value.exit_code == 2
    assert path.read_bytes() == before
    with pytest.raises(RequestError, match="newer version"), read_only(path):
        pass


@pytest.mark.parametrize("content", [b"some text that is no database, long enough to be taken for one" * 9, b"x"])
def test_a_file_that_is_no_journal_is_left_alone(path, content):
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(RequestError, match="no journal"), opened(path, 1):
        pass
    assert path.read_bytes() == content


def test_another_programs_database_is_left_alone(path):
    path.parent.mkdir()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE mine (a)")
    with pytest.raises(RequestError, match="no journal"), opened(path, 1):
        pass


def test_when_the_disk_is_full_nothing_new_is_recorded_and_replies_under_way_are_kept(path):
    done = subprocess.run([sys.executable, "-c", FULL_DISK, str(path)], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout.split() == ["refused", "kept"], done.stderr
    assert path.with_name(".journal.sqlite.reserve").stat().st_size >= 16 * 2**20
    write(path)
    with opened(path, 4) as journal:
        for number in range(60):
            assert journal.replay(number.to_bytes(32)) == answered(number, "y" * 20_000).message
    assert not path.with_name(".journal.sqlite.reserve").exists()


# The limit on a file's size stands for the full disk: SQLite's files may not grow, the reserve has its room.
FULL_DISK = """
import asyncio, resource, sys
from pathlib import Path
sys.path.insert(0, "tests")
from test_models_journal import answered, asked
from models.journal import opened
from schemas.errors import MachineError

async def run(journal):
    await journal.ask([asked(number) for number in range(60)])
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_300_000, most))
    for number in range(30):
        await journal.answer(answered(number, "y" * 20_000))
    try:
        await journal.ask([asked(number) for number in range(100, 9_000)])
    except MachineError:
        print("refused")
    await asyncio.gather(*(journal.answer(answered(number, "y" * 20_000)) for number in range(30, 60)))
    print("kept")

with opened(Path(sys.argv[1]), 60) as journal:
    asyncio.run(run(journal))
"""


def test_without_room_for_replies_nothing_is_sent(path):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2**20, hard))
    try:
        with pytest.raises(MachineError, match=r"no room for replies .* Nothing was sent"), opened(path, 4):
            pass
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_killed_at_any_instant_a_run_goes_on_to_the_same_bytes_and_pays_nothing_twice(tmp_path):
    chance = random.Random(7)
    with running() as (undisturbed, _):
        assert _program(tmp_path / "undisturbed", undisturbed).wait(60) == 0
    with running(Rehearsal(latency=0.01)) as (address, api):
        for most in sorted(chance.sample(range(1, 70), 2)):
            started = _program(tmp_path / "killed", address)
            _wait_for(started, lambda most=most: api.stats()["answered"] >= most)
            started.kill()
            started.wait()
        assert _program(tmp_path / "killed", address).wait(60) == 0
        stats = api.stats()
    assert (tmp_path / "killed" / "said.json").read_bytes() == (tmp_path / "undisturbed" / "said.json").read_bytes()
    ((requests, doubts),) = _query(tmp_path / "killed" / "journal.sqlite", "SELECT count(*), sum(doubts) FROM requests")
    assert stats["distinct"] == requests == 80
    assert stats["answered"] - stats["distinct"] <= doubts


def test_killed_while_batches_are_under_way_a_run_collects_them_and_submits_nothing_twice(tmp_path):
    with running(Rehearsal(batch_seconds=0.3)) as (address, api):
        for batches in (1, 2):
            started = _program(tmp_path, address, "--batch")
            _wait_for(started, lambda most=batches: api.stats()["batches"] >= most)
            started.kill()
            started.wait()
        assert _program(tmp_path, address, "--batch").wait(60) == 0
        stats = api.stats()
    assert (stats["answered"], stats["distinct"], stats["batches"]) == (80, 80, 2)
    assert orjson.loads((tmp_path / "said.json").read_bytes())[39][1]


def test_ctrl_c_finishes_what_is_in_flight_and_the_next_run_goes_on(tmp_path):
    with running(Rehearsal(latency=0.01)) as (address, api):
        started = _program(tmp_path, address)
        _wait_for(started, lambda: api.stats()["answered"] >= 5)
        started.send_signal(signal.SIGINT)
        assert started.wait(60) == 130
        counted = "SELECT count(replies.key), sum(doubts) FROM requests LEFT JOIN replies USING (key)"
        ((kept, doubts),) = _query(tmp_path / "journal.sqlite", counted)
        assert (kept, doubts) == (api.stats()["answered"], 0)
        assert _program(tmp_path, address).wait(60) == 0
        assert api.stats()["answered_twice"] == 0


def test_a_second_ctrl_c_drops_what_is_in_flight(tmp_path):
    with running(Rehearsal(latency=600.0)) as (address, api):
        started = _program(tmp_path, address, stderr=subprocess.PIPE)
        _wait_for(started, lambda: api.stats()["received"] >= 4)
        started.send_signal(signal.SIGINT)
        assert b"finishing 4 requests in flight" in started.stderr.readline()
        started.send_signal(signal.SIGINT)
        assert started.wait(60) == 130
        assert b"Traceback" not in started.stderr.read()
    assert _query(tmp_path / "journal.sqlite", "SELECT sum(in_flight) >= 4 FROM requests") == [(1,)]


def test_on_a_terminal_a_live_line_shows_rows_cost_and_what_is_left(tmp_path):
    ours, theirs = pty.openpty()
    with running(Rehearsal(latency=0.05)) as (address, _):
        started = _program(tmp_path, address, stderr=theirs)
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


def _program(folder, address, *words, stderr=subprocess.DEVNULL):
    folder.mkdir(exist_ok=True)
    environment = {**os.environ, "ANTHROPIC_BASE_URL": address, "ANTHROPIC_API_KEY": "k", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(PROGRAM), str(folder), *words]
    return subprocess.Popen(command, env=environment, cwd=ROOT, stderr=stderr)


def _query(path, sql):
    with read_only(path) as read:
        return [tuple(row) for row in read(sql)]


def _wait_for(process, true):
    """Until it is true, or the process has ended."""
    end = time.monotonic() + 60
    while not true() and time.monotonic() < end:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.02)
            return
    assert true(), "nothing happened for a minute"


def _run(capsys, *words):
    code = main(["journal", *words])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_the_journal_is_listed_totalled_exported_and_pruned(path, capsys):
    write(path, both(1), both(2), lambda journal: journal.ask([asked(3)]))
    where = ["--workspace", str(path.parents[1]), "--json"]
    code, out, _ = _run(capsys, "list", *where, "--state", "answered")
    listed = orjson.loads(out)
    assert (code, [each["id"] for each in listed["requests"]], listed["total"]) == (0, ["a/1", "a/2"], 2)

    code, out, err = _run(capsys, "cost", *where)
    cost = orjson.loads(out)
    assert (code, cost["cost"], err) == (0, None, "")
    assert "price unknown" in _run(capsys, "cost", *where[:-1])[2]
    (account,) = cost["accounts"]
    assert (account["requests"], account["answered"], account["usage"]["output_tokens"]) == (3, 2, 8)

    file = path.parent / "out.jsonl"
    code, out, _ = _run(capsys, "export", str(file), *where)
    lines = [orjson.loads(line) for line in file.read_bytes().splitlines()]
    assert (code, orjson.loads(out)["requests"], lines[0]["body"]) == (0, 3, orjson.loads(asked(1).body))
    assert lines[1]["message"] == orjson.loads(answered(2).message)

    code, out, _ = _run(capsys, "prune", *where, "--id", "a/[12]")
    assert orjson.loads(out) == {"journal": str(path), "requests": 2, "answered": 2, "removed": False}
    _run(capsys, "prune", *where, "--id", "a/[12]", "--yes")
    _, out, _ = _run(capsys, "list", *where)
    assert [each["id"] for each in orjson.loads(out)["requests"]] == ["a/3"]


def test_what_failed_can_be_forgotten_so_that_the_next_run_asks_again(path, capsys):
    write(path, both(1), both(2))
    failed = path.parent / "failed.jsonl"
    failed.write_bytes(orjson.dumps({"item": "MEM_1", "request": "a/2", "status": "refused"}) + b"\n")
    _run(capsys, "prune", "--journal", str(path), "--failed", str(failed), "--yes")
    assert _query(path, "SELECT id FROM requests") == [("a/1",)]


def test_pruning_everything_has_to_be_said(path, capsys):
    write(path, both(1))
    code, _, err = _run(capsys, "prune", "--journal", str(path), "--yes")
    assert (code, "nothing chosen" in err) == (2, True)


def test_a_missing_journal_is_told_in_one_line(tmp_path, capsys):
    code, out, err = _run(capsys, "cost", "--workspace", str(tmp_path))
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "missing journal" in err


def test_prices_of_ones_own_change_the_sum(path, capsys):
    write(path, both(1))
    prices = path.parent / "prices.toml"
    prices.write_text("date = 2026-01-01\n[models.m]\ninput = 1e6\ncache_write = 0\ncache_read = 0\noutput = 0\n")
    _, out, _ = _run(capsys, "cost", "--journal", str(path), "--prices", str(prices), "--json")
    assert orjson.loads(out)["cost"] == 1.0


def test_the_journal_can_be_read_while_a_run_writes_it(path, capsys):
    with opened(path, 4) as journal:
        asyncio.run(both(1)(journal))
        code, out, _ = _run(capsys, "list", "--journal", str(path), "--json")
        assert (code, orjson.loads(out)["total"]) == (0, 1)
