"""Memories over the wire: the rehearsal server answers with the offline writer, and the same rows come back."""

import orjson
from builder_samples import HEART

from builders import rehearsal
from builders.life.ledgers import ledger
from builders.memories import step as memories
from builders.memories.plan import plan
from builders.offline.memories import Writer
from builders.personas import load_characters
from models.rehearsal.faults import Fault, Faults
from schemas.workspace import Workspace

ARGUMENTS = ["--char", "CHAR_04", "--count", "30", "--quiet"]
MESSAGES = ["--backend", "messages"]


def rows_of(folder):
    return list(Workspace(folder, "heart").rows("memories", "CHAR_04"))


def test_rows_are_those_of_the_offline_writer_and_say_what_wrote_them(rehearse, tmp_path):
    rehearse(compose=rehearsal.memories)
    assert memories.main(["--workspace", str(tmp_path), *ARGUMENTS, *MESSAGES]) in (0, 1)
    rows = {row["id"]: row for row in rows_of(tmp_path)}
    character = load_characters()[3]
    writer = Writer(character, ledger(character, HEART), HEART, plan(character, HEART))
    first = {name: row["content_full"] for name, row in rows.items() if row["provenance"]["revision"] == 0}
    assert len(rows) == 30 and len(first) >= 25
    assert {
        one.id: writer.compose(one)["content_full"] for one in plan(character, HEART, 30) if one.id in first
    } == first
    assert {row["provenance"]["backend"] for row in rows.values()} == {"messages"}
    assert all(row["provenance"]["prompt_digest"] and row["provenance"]["model"] for row in rows.values())


def test_a_second_run_asks_nothing(rehearse, tmp_path):
    api = rehearse(compose=rehearsal.memories)
    for _ in range(2):
        memories.main(["--workspace", str(tmp_path), *ARGUMENTS, *MESSAGES])
    assert api.stats()["answered_twice"] == 0
    answered = api.stats()["answered"]
    (tmp_path / "heart/.parts/memories/CHAR_04/adolescence.json").unlink()
    memories.main(["--workspace", str(tmp_path), *ARGUMENTS, *MESSAGES])
    assert api.stats()["answered"] == answered


def test_what_faults_leave_missing_is_listed_and_the_rest_is_written(rehearse, tmp_path, capsys):
    faults = Faults((Fault("refusal", 0.2), Fault("truncated", 0.2)))
    rehearse(compose=rehearsal.memories, faults=faults)
    code = memories.main(["--workspace", str(tmp_path), *ARGUMENTS, *MESSAGES, "--json"])
    document = orjson.loads(capsys.readouterr().out)
    failed = tmp_path / "heart/failed.jsonl"
    listed = [orjson.loads(line)["item"] for line in failed.read_bytes().splitlines()] if failed.is_file() else []
    present = [row["id"] for row in rows_of(tmp_path)]
    assert sorted(present + listed) == [f"MEM_04_{number:04d}" for number in range(1, 31)]
    assert document["missing"] == len(listed) and (code == 3) == bool(listed)


def test_question_about_nobody_it_knows_is_answered_in_prose():
    body = {"messages": [{"role": "user", "content": "Write these memories:\n"}], "system": []}
    assert "===" not in rehearsal.memories(body)
