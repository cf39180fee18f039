"""Findings that are taken from the cache are those of an audit, whatever was edited in between."""

import copy
import json
from pathlib import Path

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from release_samples import small_tables, write_workspace

from audits import audit, audit_cache
from audits.audit_cache import AuditCache
from audits.command import main
from schemas.benchmarks import benchmark
from schemas.workspace import Workspace

SOUND = orjson.loads((Path(__file__).parent / "cases/sound_rows.json").read_bytes())["memories"]
MEMORIES = benchmark("heart").table("memories")
SHORT = "Today I met {}. I did not know then that she would leave. My teacher Mr. Hill said nothing."
FACT = small_tables()["ledgers"][0]


def rows(count=6):
    """Short memories of two characters, with something to find in each."""
    made = []
    for number in range(count):
        who = f"CHAR_0{number % 2 + 1}"
        text = SHORT.format(("Ada", "Bea", "Cleo")[number % 3])
        made.append({**copy.deepcopy(SOUND), "id": f"MEM_0{number % 2 + 1}_{number:04}", "character_id": who})
        made[-1]["content_full"] = text
    return made


def facts():
    named = [("LED_01_01", "CHAR_01", "Ada"), ("LED_02_01", "CHAR_02", "Bea")]
    return [
        {**FACT, "fact_id": fact, "character_id": who, "name": name, "from_age": 1, "to_age": 40}
        for fact, who, name in named
    ]


EDITS = {
    "text": lambda row, word: row.update(content_full=f"{row['content_full']} I met {word} again."),
    "age": lambda row, word: row.update(age=len(word)),
    "refs": lambda row, word: row.update(ledger_refs=["LED_01_01", word]),
    "type": lambda row, word: row.update(triggers=word),
    "gone": lambda row, word: row.pop("context", None),
    "no id": lambda row, word: row.pop("id", None),
    "same id": lambda row, word: row.update(id="MEM_01_0000"),
    "other character": lambda row, word: row.update(character_id="CHAR_02"),
    "made by": lambda row, word: row.update(provenance={"model": f"\x07{word}"}),
    "surrogate": lambda row, word: row.update(content_summary="\ud83d"),
}
WORDS = st.sampled_from(["Ada", "Bea", "LED_02_01", "you", "x" * 50])
OF_ROW = st.tuples(st.sampled_from(sorted(EDITS)), st.integers(0, 5), WORDS)
OF_FACT = st.tuples(st.sampled_from(["name", "to_age", "character_id"]), st.integers(0, 1), WORDS)


@settings(max_examples=60, deadline=None)
@given(st.lists(OF_ROW, max_size=4), st.lists(OF_FACT, max_size=2), st.booleans())
def test_a_cached_audit_is_an_audit_after_any_edits(of_rows, of_facts, swapped):
    cache = AuditCache()
    assert audit(MEMORIES, rows(), {"ledgers": facts()}, cache=cache) == audit(MEMORIES, rows(), {"ledgers": facts()})
    edited, known = rows(), facts()
    for name, place, word in of_rows:
        EDITS[name](edited[place], word)
    for field, place, word in of_facts:
        known[place][field] = len(word) if field == "to_age" else word
    edited = edited[::-1] if swapped else edited
    related = {"ledgers": known, "memories": edited}
    assert audit(MEMORIES, edited, related, cache=cache) == audit(MEMORIES, edited, related)


def misses(cache, made, related, only=None):
    before = cache.misses
    audit(MEMORIES, made, related, only=only, cache=cache)
    return cache.misses - before


def test_only_rows_that_changed_are_audited_again():
    cache = AuditCache()
    assert misses(cache, rows(), {"ledgers": facts()}) == 6
    assert misses(cache, rows(), {"ledgers": facts()}) == 0
    edited = rows()
    edited[2]["content_full"] += " It rained."
    assert misses(cache, edited, {"ledgers": facts()}) == 1


def test_what_is_looked_up_of_a_character_counts_for_its_rows_alone():
    cache, known = AuditCache(), facts()
    misses(cache, rows(), {"ledgers": known})
    known[0]["to_age"] = 3
    assert misses(cache, rows(), {"ledgers": known}) == 3


@pytest.mark.parametrize("changed", ["codes", "code", "declaration"])
def test_all_rows_are_audited_again_when_the_audits_changed(changed, monkeypatch):
    cache, related = AuditCache(), {"ledgers": facts()}
    misses(cache, rows(), related)
    if changed == "codes":
        assert misses(cache, rows(), related, only=["length"]) == 6
    elif changed == "code":
        monkeypatch.setattr(audit_cache, "code_digest", lambda packages: "another")
        assert misses(cache, rows(), related) == 6
    else:
        table = benchmark("heart").table("memories")
        other = type(table)(**{**vars(table), "audits": ("format", "language", "memories")})
        before = cache.misses
        assert audit(other, rows(), related, cache=cache) == audit(other, rows(), related)
        assert cache.misses - before == 6


def command(workspace, *more):
    words = ["--benchmark", "heart", "--table", "memories", "--workspace", str(workspace.folder.parent)]
    return main([*words, "--processes", "1", *more])


@pytest.fixture
def workspace(tmp_path):
    return write_workspace(tmp_path, {**small_tables(), "memories": rows()})


def test_the_command_stores_what_it_found_and_finds_the_same_again(workspace, capsys):
    command(workspace, "--json")
    first = json.loads(capsys.readouterr().out)
    stored = sorted(path.name for path in (workspace.folder / ".audits/memories").iterdir())
    assert stored == ["CHAR_01.json", "CHAR_02.json"]
    cache = AuditCache.of(workspace, "memories", ["CHAR_01", "CHAR_02"])
    assert len(cache.entries) == 6
    command(workspace, "--json")
    assert json.loads(capsys.readouterr().out) == first


def test_an_entry_of_the_store_is_what_the_command_reports(workspace, capsys):
    """Proof that the store is read: an entry that was replaced, seal and all, shows."""
    command(workspace)
    cache = AuditCache.of(workspace, "memories", ["CHAR_01"])
    empty = {name: [] for name in cache.entries}
    audit_cache.write_entries(workspace, "memories", "CHAR_01", empty)
    capsys.readouterr()
    command(workspace, "--json", "--only", "length")
    assert {f["row_id"][:6] for f in json.loads(capsys.readouterr().out)["findings"]} == {"MEM_01", "MEM_02"}
    command(workspace, "--json")
    found = json.loads(capsys.readouterr().out)["findings"]
    assert {f["row_id"][:6] for f in found if f["code"] != "duplicate.semantic"} == {"MEM_02"}


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "not sealed"])
def test_a_damaged_store_is_audited_again_and_said_in_one_line(workspace, capsys, damage):
    command(workspace, "--json")
    first = json.loads(capsys.readouterr().out)
    path = workspace.folder / ".audits/memories/CHAR_01.json"
    content = path.read_bytes()
    flipped = content.replace(b'"error"', b'"note"', 1)
    path.write_bytes({"cut": content[:-9], "flipped": flipped, "empty": b"", "not sealed": b"{}"}[damage])
    command(workspace)
    assert capsys.readouterr().err.count("is damaged") == 1
    command(workspace, "--json")
    out = capsys.readouterr()
    assert json.loads(out.out) == first and "damaged" not in out.err
    assert path.read_bytes() == content


def test_a_workspace_that_cannot_be_written_is_audited_all_the_same(workspace, capsys):
    (workspace.folder / ".audits").write_text("in the way")
    command(workspace)
    assert "findings are not stored" in capsys.readouterr().err


def test_rows_that_were_just_built_are_not_audited_again_when_they_are_frozen(tmp_path, monkeypatch):
    from audits import table_audit
    from builders.memories.step import main as build
    from releases import gate

    assert build(["--char", "CHAR_01", "--count", "12", "--workspace", str(tmp_path), "--quiet"]) in (0, 1)
    workspace = Workspace(tmp_path, "heart")
    (path,) = (workspace.folder / ".audits/memories").iterdir()
    assert len(AuditCache.of(workspace, "memories", ["CHAR_01"]).entries) == 12
    stored = gate.check(workspace, processes=1).checks["audits"]["memories"]
    monkeypatch.setattr(table_audit, "judge", lambda *given: pytest.fail("audited again") if given[4] else [])
    assert gate.check(workspace, processes=1).checks["audits"]["memories"] == stored
    monkeypatch.undo()
    path.unlink()
    assert gate.check(workspace, processes=1).checks["audits"]["memories"] == stored
