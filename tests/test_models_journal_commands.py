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
