"""``python -m models journal``: what it shows, sums up, exports, books and forgets."""

import asyncio

import orjson
import pytest
from journal_samples import answered, asked, both, query, write

from models.journal import opened
from models.journal.commands import main


@pytest.fixture
def path(tmp_path):
    return tmp_path / "heart" / "journal.sqlite"


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
    assert (code, orjson.loads(out)["requests"], lines[0]["body"]) == (0, 3, orjson.loads(asked(1).question.body))
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
    assert query(path, "SELECT id FROM requests") == [("a/1",)]


def test_pruning_everything_has_to_be_said(path, capsys):
    write(path, both(1))
    code, _, err = _run(capsys, "prune", "--journal", str(path), "--yes")
    assert (code, "nothing chosen" in err) == (2, True)


def test_a_missing_journal_is_reported_in_one_line(tmp_path, capsys):
    code, out, err = _run(capsys, "cost", "--workspace", str(tmp_path))
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "missing journal" in err


def test_prices_of_users_change_the_sum(path, capsys):
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


async def doubtful(journal):
    await journal.ask([asked(7)])
    await journal.unanswered(asked(7).key, "connection lost", doubt=True, over=True)


@pytest.fixture
def priced(path):
    prices = path.parent / "prices.toml"
    path.parent.mkdir(exist_ok=True)
    prices.write_text("date = 2026-01-01\n[models.m]\ninput = 0\ncache_write = 1e6\ncache_read = 0\noutput = 1e6\n")
    return ["--journal", str(path), "--prices", str(prices), "--json"]


@pytest.mark.parametrize(("book", "cost"), [("--paid", 49.0), ("--not-paid", 0.0)])
def test_what_is_in_doubt_is_shown_and_booked_as_paid_or_not(path, priced, capsys, book, cost):
    write(path, doubtful)
    _, out, _ = _run(capsys, "reconcile", *priced)
    (one,) = orjson.loads(out)["requests"]
    assert (one["id"], one["doubts"], one["worst"], one["answered"]) == ("a/7", 1, 49.0, False)
    assert orjson.loads(_run(capsys, "cost", *priced)[1])["doubt_cost"] == 49.0
    _run(capsys, "reconcile", book, *priced)
    assert query(path, "SELECT doubts FROM requests") == [(1,)]
    _run(capsys, "reconcile", book, "--yes", *priced)
    totals = orjson.loads(_run(capsys, "cost", *priced)[1])
    assert (totals["cost"], totals["doubt_cost"]) == (cost, 0)
    assert orjson.loads(_run(capsys, "reconcile", *priced)[1])["requests"] == []


def test_a_journal_reads_as_a_trace_of_prompts_replies_cost_and_retries(path, priced, capsys):
    write(path, both(1, text="Yes, I did."), doubtful)
    code, _, err = _run(capsys, "show", *priced[:-1])
    assert code == 0
    lines = err.splitlines()
    assert lines[0].startswith("== a/1  memory on m at http://x (messages), run 1, ")
    assert lines[1:3] == ["  system: rules", "  user: Write 1."]
    assert lines[3] == "  -> answered (6 tokens in, 4 out, $6.00): Yes, I did."
    assert "1 without a reply seen" in lines[4] and lines[7] == "  -> open: connection lost"


def test_a_trace_is_filtered_by_id_role_status_and_run_and_printed_as_json(path, priced, capsys):
    write(path, both(1), both(2))
    write(path, doubtful)
    for words, ids in (
        (["--id", "a/2"], ["a/2"]),
        (["--role", "judge"], []),
        (["--status", "open"], ["a/7"]),
        (["--status", "answered"], ["a/1", "a/2"]),
        (["--run", "0"], ["a/7"]),
        (["--run", "1"], ["a/1", "a/2"]),
    ):
        document = orjson.loads(_run(capsys, "show", *words, *priced)[1])
        assert [one["id"] for one in document["requests"]] == ids
    assert document["requests"][0]["body"] == orjson.loads(asked(1).question.body)


def test_an_existing_file_is_not_recovered_over(path, capsys):
    write(path, both(1))
    code, _, err = _run(capsys, "recover", str(path), "--journal", str(path))
    assert (code, "existing file" in err) == (2, True)


def test_without_a_benchmark_the_only_journal_of_the_workspace_is_read_and_of_several_one_has_to_be_named(path, capsys):
    root = path.parents[1]
    code, _, err = _run(capsys, "list", "--workspace", str(root))
    assert (code, err.startswith(f"error: missing journal in {root}")) == (2, True)
    write(path, both(1))
    code, out, _ = _run(capsys, "list", "--workspace", str(root), "--json")
    assert (code, orjson.loads(out)["journal"]) == (0, str(path))
    other = root / "fidelity" / "journal.sqlite"
    write(other, both(2))
    code, _, err = _run(capsys, "list", "--workspace", str(root))
    assert (code, str(path) in err, str(other) in err, err.count("\n")) == (2, True, True, 1)
    code, out, _ = _run(capsys, "list", "--workspace", str(root), "--benchmark", "fidelity", "--json")
    assert (code, orjson.loads(out)["journal"]) == (0, str(other))


def test_journals_of_several_processes_become_one_without_loss_and_what_was_paid_twice_is_named(tmp_path, capsys):
    one, two, three, new = (tmp_path / name / "journal.sqlite" for name in ("one", "two", "three", "new"))

    async def doubt(journal):
        await journal.ask([asked(4)])
        await journal.unanswered(asked(4).key, "timeout", doubt=True, over=True)

    write(one, both(1), both(2), lambda journal: journal.ask([asked(3)]), doubt)
    write(two, both(2, text="no"), both(3), both(5), doubt)
    write(three, both(5))
    with opened(three, 1) as journal:
        journal.change(("UPDATE replies SET received_at = '2026-11-01T00:00:00+00:00'", ()))
    code, out, _ = _run(capsys, "merge", str(new), str(one), str(two), str(three), "--json")
    merged = orjson.loads(out)
    assert (code, merged["requests"], merged["answered"]) == (1, 5, 4)
    assert [(each["id"], each["journal"], each["alike"]) for each in merged["conflicts"]] == [
        ("a/2", str(two), False),
        ("a/5", str(three), True),
    ]
    assert query(new, "SELECT id, sent, pending, doubts, billed FROM requests ORDER BY id") == [
        ("a/1", 1, 0, 0, 0),
        ("a/2", 2, 0, 0, 1),
        ("a/3", 2, 0, 1, 0),  # the first process was killed while it asked
        ("a/4", 2, 0, 2, 0),
        ("a/5", 2, 0, 0, 1),
    ]
    assert query(new, "SELECT message FROM replies JOIN requests USING (key) WHERE id = 'a/2'") == [
        (answered(2).message.decode(),)
    ]
    with opened(new, 1) as journal:
        assert {number: journal.replay(asked(number).key) is not None for number in range(1, 6)} == {
            1: True, 2: True, 3: True, 4: False, 5: True,
        }  # fmt: skip


def test_a_journal_beside_its_copy_adds_nothing_that_was_paid(path, tmp_path, capsys):
    write(path, both(1), both(2))
    copy = tmp_path / "copy.sqlite"
    copy.write_bytes(path.read_bytes())
    code, out, _ = _run(capsys, "merge", str(tmp_path / "new.sqlite"), str(path), str(copy), "--json")
    assert (code, orjson.loads(out)["conflicts"]) == (0, [])
    counts = "SELECT id, sent, doubts, billed FROM requests ORDER BY id"
    assert query(tmp_path / "new.sqlite", counts) == query(path, counts)


def test_what_cannot_be_merged_is_one_line_and_no_file(path, tmp_path, capsys):
    write(path, both(1))
    new, damaged = tmp_path / "new.sqlite", tmp_path / "damaged.sqlite"
    damaged.write_bytes(b"no journal at all")
    for words, code, said in (
        ([str(new), str(path), str(path)], 2, "journal named twice"),
        ([str(new), str(path), str(tmp_path / "none")], 2, "missing journal"),
        ([str(new), str(path), str(damaged)], 2, "no journal"),
        ([str(path), str(path)], 2, "existing file"),
    ):
        found, _, err = _run(capsys, "merge", *words)
        assert (found, err.startswith(f"error: {said} in "), len(err.splitlines())) == (code, True, 1)
    with opened(path, 1):
        assert _run(capsys, "merge", str(new), str(path))[0] == 3  # a run is writing it
    assert sorted(each.name for each in tmp_path.iterdir() if "new" in each.name) == []
