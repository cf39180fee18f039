"""The journal: replies are there in the next run, doubts are counted, damage is told and survived."""

import asyncio
import resource
import sqlite3
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from journal_samples import ROOT, answered, asked, both, query, write

from models.dialogue import Speaker, StopRule, dialogue
from models.journal import opened, read_only, recovery
from models.journal.commands import main
from models.request import Reply
from models.roles import model_named
from models.wire.questions import question
from schemas.errors import MachineError, RequestError


@pytest.fixture
def path(tmp_path):
    return tmp_path / "heart" / "journal.sqlite"


def replayed(path, number):
    with opened(path, 1) as journal:
        return journal.replay(asked(number).key)


def test_what_was_answered_is_there_byte_for_byte_in_the_next_run(path):
    write(path, *(both(number) for number in range(50)))
    with opened(path, 4) as journal:
        for number in range(50):
            assert journal.replay(asked(number).key) == answered(number).message
        assert journal.replay(asked(99).key) is None


def test_parts_of_prompts_are_stored_once(path):
    write(path, *(both(number) for number in range(20)))
    assert query(path, "SELECT role, count(*) FROM parts GROUP BY role") == [("system", 1), ("user", 20)]


def test_a_dialogue_of_n_turns_takes_n_parts_for_each_side_not_n_squared(path):
    write(path, *(asking(number) for number in requests_of_a_dialogue(40)))
    ((parts, size),) = query(path, "SELECT count(*), sum(length(text)) FROM parts")
    assert parts <= 2 * 80
    ((requests, shown),) = query(path, "SELECT count(*), max(most_tokens) FROM requests")
    assert requests == 80 and size < 8 * shown


def requests_of_a_dialogue(turns):
    user = Speaker("user", "user", lambda _: "", fixed=("You are Ann.",), opening="Begin.")
    chain = dialogue("d", (user, Speaker("assistant", "subject", lambda _: "")), StopRule(turns))
    asked_so_far = [next(chain)]
    try:
        while True:
            asked_so_far.append(chain.send(Reply("answered", f"Words of turn {len(asked_so_far)}. " * 9)))
    except StopIteration:
        return asked_so_far


def asking(request):
    from models.asking import asked_of

    model = model_named("m")

    async def work(journal):
        await journal.ask([asked_of(request, model, question(request, model, "x"), "x")])

    return work


async def killed(journal):
    """A run that has recorded two requests and is sending one of them."""
    await journal.ask([asked(1), asked(2)])
    journal.sending.enter(asked(1).key)


def test_only_a_request_that_was_being_sent_when_the_run_was_killed_counts_as_a_doubt(path):
    write(path, killed)
    write(path)
    counts = {number: (doubts, pending) for number, doubts, pending in query(path, DOUBTS)}
    assert counts == {"a/1": (1, 0), "a/2": (0, 0)}


DOUBTS = "SELECT id, doubts, pending FROM requests"


@pytest.mark.parametrize("what", ["lost", "of another start of the machine"])
def test_where_it_is_not_known_what_was_being_sent_every_recorded_request_counts(path, what):
    write(path, killed)
    beside = path.with_name(f".{path.name}.sending")
    if what == "lost":
        beside.unlink()
    else:
        beside.write_bytes(b"another-start".ljust(64, b"\0"))
    write(path)
    assert [doubts for _, doubts, _ in query(path, DOUBTS)] == [1, 1]


def test_a_request_that_was_given_up_does_not(path):
    async def gave_up(journal):
        await journal.ask([asked(1)])
        await journal.unanswered(asked(1).key, "500", doubt=False, over=True)

    write(path, gave_up)
    write(path, lambda journal: journal.ask([asked(1)]))
    assert query(path, "SELECT doubts, sent FROM requests") == [(0, 1)]


@pytest.mark.parametrize(("version", "words"), [(99, "a newer"), (1, "an older")])
def test_a_journal_from_another_version_is_left_alone_and_what_to_do_is_said(path, version, words):
    write(path, both(1))
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {version}")
    before = path.read_bytes()
    with (
        pytest.raises(RequestError, match=rf"{words} version .* version 2, found {version}\. .*ame") as raised,
        opened(path, 1),
    ):
        pass
    assert raised.value.exit_code == 2
    assert path.read_bytes() == before
    with pytest.raises(RequestError, match=f"{words} version"), read_only(path):
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


def damaged(path, how):
    """A journal of 60 replies, damaged."""
    write(path, *(both(number, text="words " * 400) for number in range(60)))
    raw = bytearray(path.read_bytes())
    if how == "cut":
        raw = raw[: len(raw) * 2 // 3]
    elif how == "emptied":
        raw = bytearray()
    elif how == "page lost":
        raw[8 * 4096 : 9 * 4096] = bytes(4096)
    elif how == "header lost":
        raw[:4096] = bytes(4096)
    elif how == "tree lost":
        with sqlite3.connect(path) as connection:
            ((root,),) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'replies'")
        raw[(root - 1) * 4096 : root * 4096] = bytes(4096)
    path.write_bytes(raw)


@pytest.mark.parametrize("how", ["cut", "emptied", "page lost", "header lost", "tree lost"])
def test_a_damaged_journal_is_reported_in_one_line_and_nothing_is_asked_on_it(path, how, capsys):
    damaged(path, how)
    readable = len(recovery.readable(path).replies)
    with pytest.raises(MachineError, match=f"damaged journal .* {readable} replies can be read.*recover"):
        replayed(path, 1)
    assert main(["journal", "export", str(path.parent / "out.jsonl"), "--journal", str(path)]) == 3
    reported = capsys.readouterr().err
    assert reported.count("\n") == 1 and "damaged journal" in reported


@pytest.mark.parametrize(("how", "least"), [("cut", 30), ("page lost", 55), ("header lost", 60), ("tree lost", 60)])
def test_what_can_be_read_of_a_damaged_journal_is_saved_into_a_new_one(path, how, least):
    damaged(path, how)
    saved = path.with_name("saved.sqlite")
    assert main(["journal", "recover", str(saved), "--journal", str(path), "--quiet"]) == 0
    with opened(saved, 1) as journal:
        kept = [number for number in range(60) if journal.replay(asked(number).key) is not None]
        assert all(journal.replay(asked(n).key) == answered(n, "words " * 400).message for n in kept)
    assert len(kept) >= least
    assert query(saved, "SELECT count(*) FROM requests JOIN settings ON digest = settings")[0][0] >= least


def test_what_is_only_in_the_log_of_a_killed_run_is_saved_too(path):
    with opened(path, 1) as journal:
        asyncio.run(both(1)(journal))
        assert len(recovery.readable(path).replies) == 1


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("flipped") / "journal.sqlite"
    write(path, *(both(number, text="words " * 200) for number in range(12)))
    return path


@given(place=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
@settings(max_examples=150)
def test_a_flipped_bit_never_makes_another_reply_nor_a_traceback(whole, place, bit):
    raw = bytearray(whole.read_bytes())
    raw[int(place * len(raw))] ^= 1 << bit
    path = whole.with_name("copy.sqlite")
    for old in path.parent.glob("*copy*"):
        old.unlink()
    path.write_bytes(raw)
    try:
        with opened(path, 0) as journal:
            replies = [journal.replay(asked(number).key) for number in range(12)]
    except MachineError as error:
        assert "damaged journal" in str(error)
    except RequestError as error:
        assert int(place * len(raw)) < 100 and ("version" in str(error) or "no journal" in str(error))
    else:
        for number, reply in enumerate(replies):
            assert reply == answered(number, "words " * 200).message


def test_when_the_disk_is_full_nothing_new_is_recorded_and_replies_under_way_are_stored(path):
    done = subprocess.run([sys.executable, "-c", FULL_DISK, str(path)], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout.split() == ["refused", "kept"], done.stderr
    assert path.with_name(".journal.sqlite.reserve").stat().st_size >= 16 * 2**20
    write(path)
    with opened(path, 4) as journal:
        for number in range(60):
            assert journal.replay(asked(number).key) == answered(number, "y" * 20_000).message
    assert not path.with_name(".journal.sqlite.reserve").exists()


# The limit on a file's size stands for the full disk: SQLite's files may not grow, the reserve has its room.
FULL_DISK = """
import asyncio, resource, sys
from pathlib import Path
sys.path.insert(0, "tests")
from journal_samples import answered, asked
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
