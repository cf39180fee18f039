"""The command that writes memories: whole, resumable, audited, and nothing of the user's lost."""

import contextlib
import os
import random
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import orjson
import pytest
from builder_samples import HEART
from release_samples import keeper

from audits import audit
from builders import personas
from builders.life.ledgers import ledger
from builders.memories import step as memories
from builders.memories.plan import plan
from builders.memories.quotas import apportion
from builders.personas import load_characters
from schemas.benchmarks import benchmark
from schemas.tables import vocabulary
from schemas.workspace import Workspace
from validators.records import failures

ROOT = Path(__file__).resolve().parents[1]
COUNT = 40
WRITTEN = (0, 1)  # 1: written, and findings remain; that none remain is a promise of its own
LIMITED = """
import resource, runpy, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
sys.argv = ["builders.memories", *sys.argv[1:]]
runpy.run_module("builders.memories", run_name="__main__")
"""


def command(folder, *arguments):
    return [sys.executable, "-m", "builders.memories", "--workspace", str(folder), "--quiet", *arguments]


def tree(folder):
    """Path and bytes of every file a person reads, and the paths of those that are kept for resuming."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != ".lock"]
    read = {str(path.relative_to(folder)): path.read_bytes() for path in files if ".parts" not in path.parts}
    return read, [path.relative_to(folder) for path in files]


def rows_of(folder, who="CHAR_04"):
    return list(Workspace(folder, "heart").rows("memories", who))


def write_rows(folder, rows, who="CHAR_04"):
    path = folder / "heart/memories" / f"{who}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    return path


@pytest.fixture
def run(capsys):
    """Run the command; gives exit code, document of ``--json`` and stderr."""

    def call(folder, *arguments):
        capsys.readouterr()
        code = memories.main(["--workspace", str(folder), "--json", *arguments])
        said = capsys.readouterr()
        return code, orjson.loads(said.out) if said.out else None, said.err.strip()

    return call


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A finished workspace of two characters, written by one process without being disturbed."""
    folder = tmp_path_factory.mktemp("built")
    arguments = ["--char", "CHAR_04", "--char", "CHAR_01", "--count", str(COUNT), "--workers", "1"]
    assert memories.main(["--workspace", str(folder), "--quiet", *arguments]) in WRITTEN
    return folder


def test_rows_fit_the_schema_and_follow_the_plan(built):
    for character in load_characters():
        if character["character_id"] not in ("CHAR_01", "CHAR_04"):
            continue
        rows = rows_of(built, character["character_id"])
        assert failures(benchmark("heart").table("memories"), rows) == []
        planned = plan(character, HEART, COUNT)
        assert [(row["id"], row["age"], row["tier"], row["domain"]) for row in rows] == [
            (one.id, one.age, one.tier, one.domain) for one in planned
        ]
        assert [row["emotion_signature"]["intensity"] for row in rows] == [one.intensity for one in planned]


def test_rows_are_sorted_by_age_and_numbered_from_one(built):
    rows = rows_of(built)
    assert [row["id"] for row in rows] == [f"MEM_04_{number:04d}" for number in range(1, COUNT + 1)]
    assert [row["age"] for row in rows] == sorted(row["age"] for row in rows)


def test_rows_say_where_they_come_from(built):
    for row in rows_of(built):
        origin = row["provenance"]
        assert (origin["origin"], origin["backend"], origin["seed"]) == ("built", "offline", 7)
        assert origin["revision"] == len(origin["repairs"]) or origin["repairs"]


def test_no_error_is_left_in_what_was_written(built):
    space = Workspace(built, "heart")
    related = {"ledgers": list(space.rows("ledgers")), "characters": list(space.rows("characters"))}
    found = audit("memories", [*rows_of(built, "CHAR_01"), *rows_of(built)], related=related)
    assert [(finding.code, finding.row_id) for finding in found if finding.severity == "error"] == []


def test_two_workers_write_the_same_bytes(built, tmp_path):
    arguments = ["--char", "CHAR_01", "--char", "CHAR_04", "--count", str(COUNT), "--workers", "2"]
    assert memories.main(["--workspace", str(tmp_path), "--quiet", *arguments]) in WRITTEN
    assert tree(tmp_path) == tree(built)


WRITE = """
from builders.memories import step as memories

def work(folder):
    memories.main(["--workspace", folder, "--quiet", "--char", "CHAR_04", "--count", "{count}", "--workers", "1"])

work({undisturbed!r})
"""


def test_a_run_killed_ten_times_ends_with_the_same_bytes(tmp_path):
    """Twice with two workers, once windows of theirs are there; eight times at any instant."""
    undisturbed, killed = tmp_path / "undisturbed", tmp_path / "killed"
    for windows in (1, 3):
        arguments = ["--char", "CHAR_04", "--count", str(COUNT), "--workers", "2"]
        process = subprocess.Popen(command(killed, *arguments), cwd=ROOT, stderr=subprocess.DEVNULL)
        while len(list(killed.glob("heart/.parts/memories/CHAR_04/*.json"))) < windows:
            with contextlib.suppress(subprocess.TimeoutExpired):
                assert process.wait(timeout=0.02) is None, "it ended before it could be killed"
        process.kill()
        process.wait()
        assert_whole(killed)
    rng, kills = random.Random(20), 0
    with keeper(WRITE.format(count=COUNT, undisturbed=str(undisturbed))) as process:
        began = time.monotonic()
        assert process.run(str(tmp_path / "calm"))
        took = time.monotonic() - began
        while kills < 8:
            if process.run(str(killed), seconds=rng.uniform(0.1, 0.8) * took):
                took *= 0.8  # it was quicker than the kill: start anew, and kill sooner
                shutil.rmtree(killed)
            else:
                kills += 1
                assert_whole(killed)
        assert process.run(str(killed))
    assert tree(killed) == tree(undisturbed)


def assert_whole(folder):
    for path in folder.glob("heart/memories/CHAR_*.jsonl"):
        assert len(path.read_bytes().splitlines()) == COUNT


def test_windows_that_are_there_are_not_written_again(built, tmp_path, run):
    arguments = ["--char", "CHAR_04", "--count", str(COUNT), "--workers", "1"]
    run(tmp_path, *arguments)
    parts = sorted((tmp_path / "heart/.parts/memories/CHAR_04").glob("*.json"))
    before = {path.name: path.stat().st_ino for path in parts}
    (parts[0]).unlink()
    run(tmp_path, *arguments)
    after = {path.name: path.stat().st_ino for path in parts}
    assert [name for name in before if before[name] != after[name]] in ([], [parts[0].name])
    assert rows_of(tmp_path) == rows_of(built)


def test_windows_of_another_seed_are_not_used(built, tmp_path, run):
    arguments = ["--char", "CHAR_04", "--count", str(COUNT), "--workers", "1"]
    run(tmp_path, *arguments, "--seed", "8")
    assert rows_of(tmp_path) != rows_of(built)
    run(tmp_path, *arguments)
    assert rows_of(tmp_path) == rows_of(built)


def test_a_part_that_was_damaged_is_written_again(tmp_path, built, run):
    arguments = ["--char", "CHAR_04", "--count", str(COUNT), "--workers", "1"]
    run(tmp_path, *arguments)
    path = tmp_path / "heart/.parts/memories/CHAR_04/adolescence.json"
    path.write_bytes(path.read_bytes()[:500])
    run(tmp_path, *arguments)
    assert rows_of(tmp_path) == rows_of(built)


def test_one_stage_is_written_alone_and_the_others_join_it(built, tmp_path, run):
    arguments = ["--char", "CHAR_04", "--count", str(COUNT)]
    code, document, _ = run(tmp_path, *arguments, "--stage", "adolescence")
    assert code in WRITTEN
    assert {row["stage"] for row in rows_of(tmp_path)} == {"adolescence"}
    assert sum(stage["rows"] for stage in document["stages"]) == len(rows_of(tmp_path))
    run(tmp_path, *arguments)
    assert rows_of(tmp_path) == rows_of(built)


def test_document_counts_what_was_written(built, run):
    code, document, said = run(built, "--char", "CHAR_04", "--count", str(COUNT))
    rows = rows_of(built)
    assert code == 0 and document["open"] == {}, "findings remain"
    assert said == ""
    assert {one["stage"]: one["rows"] for one in document["stages"]} == {
        term["id"]: Counter(row["stage"] for row in rows)[term["id"]] for term in vocabulary("memory_stages")
    }
    assert [one["rows"] for one in document["tiers"]] == apportion(COUNT, [0.25, 0.35, 0.25, 0.15])
    (one,) = document["characters"]
    assert one["mean_length"] == round(sum(len(row["content_full"]) for row in rows) / COUNT, 1)
    assert (one["target_length"], one["target_intensity"]) == (2927.0, 0.652)
    assert Path(one["file"]).read_bytes().count(b"\n") == COUNT
    assert document["duplicates"]["open"] == 0 and document["missing"] == 0


def test_summary_is_a_table_for_people(built, capsys):
    assert memories.main(["--workspace", str(built), "--char", "CHAR_04", "--count", str(COUNT)]) in WRITTEN
    said = capsys.readouterr()
    assert said.out == ""
    for words in ("School age (6-12)", "Table 8", "Table 7", "C-Low", "near-duplicates: ", "CHAR_04.jsonl"):
        assert any(words in line for line in said.err.splitlines()), words


def test_dry_run_counts_and_prices_and_writes_nothing(tmp_path, run):
    code, document, _ = run(tmp_path, "--dry-run")
    assert code == 0
    assert (document["memories"], document["windows"]) == (11_000, 88)
    assert sum(cell["memories"] for cell in document["plan"]) == 11_000
    assert document["requests"] == 11 * sum(-(-count // 3) for count in (162, 162, 116, 135, 125, 164, 75, 61))
    (role,) = document["roles"]
    assert role["role"] == "memory" and role["requests"] == document["requests"]
    assert document["dollars"] == role["cost"] > 0 and role["usage"]["output_tokens"] > 11_000 * 700
    assert list(tmp_path.iterdir()) == []


def test_dry_run_counts_only_what_is_not_written_yet(built, run):
    arguments = ["--char", "CHAR_04", "--char", "CHAR_02", "--count", str(COUNT), "--dry-run"]
    planned = run(built, *arguments)[1]
    assert planned["memories"] == COUNT
    assert run(built, *arguments, "--fresh")[1]["memories"] == 2 * COUNT
    by_tier = Counter()
    for cell in planned["plan"]:
        by_tier[cell["tier"]] += cell["memories"]
    assert by_tier == {"A": COUNT / 2, "B": COUNT * 0.7, "C": COUNT / 2, "D": COUNT * 0.3}


def test_dry_run_shows_the_plan_by_stage_and_tier_after_a_build(built, capsys):
    arguments = ["--workspace", str(built), "--char", "CHAR_04", "--count", str(COUNT), "--dry-run"]
    assert memories.main(arguments) == 0
    said = [line.split() for line in capsys.readouterr().err.splitlines()]
    assert ["planned", "A", "B", "C", "D", "all"] in said
    assert ["all", "10", "14", "10", "6", "40"] in said
    assert any(line[:2] == ["School", "age"] for line in said)


def test_dry_run_without_a_price_says_unknown(tmp_path, capsys):
    assert memories.main(["--workspace", str(tmp_path), "--dry-run", "--count", "3", "--model", "my-own-model"]) == 0
    assert "unknown" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "reported"),
    [
        (["--char", "CHAR_4"], "Did you mean: CHAR_04"),
        (["--stage", "adolesence"], "Did you mean: adolescence"),
        (["--count", "0"], "is not a whole number from 1"),
        (["--fresh", "--resume"], "not allowed with"),
        (["--intensities", "strong"], "invalid choice"),
    ],
)
def test_wrong_request_is_reported_in_one_line_and_writes_nothing(tmp_path, run, arguments, reported):
    code, _, said = run(tmp_path, *arguments)
    assert code == 2
    assert said.startswith("error: ") and reported in said and "\n" not in said
    assert not (tmp_path / "heart/memories").exists()


def test_memories_of_the_users_own_are_kept_and_counted(built, tmp_path, run):
    own = [{**row, "provenance": None} for row in rows_of(built)[:5]]
    write_rows(tmp_path, own)
    code, document, _ = run(tmp_path, "--char", "CHAR_04", "--count", "20")
    rows = rows_of(tmp_path)
    assert code in WRITTEN and len(rows) == 20
    assert [row for row in rows if row["provenance"] is None] == own
    assert len({row["id"] for row in rows}) == 20
    assert document["characters"][0]["rows"] == 20


def test_fewer_than_the_users_own_are_refused(built, tmp_path, run):
    write_rows(tmp_path, [{**row, "provenance": None} for row in rows_of(built)[:5]])
    code, _, said = run(tmp_path, "--char", "CHAR_04", "--count", "4")
    assert code == 2 and "at least the 5 it already has" in said
    assert len(rows_of(tmp_path)) == 5


def test_own_memory_that_breaks_the_schema_is_named(built, tmp_path, run):
    write_rows(tmp_path, [{**rows_of(built)[0], "provenance": None, "age": 5}])
    code, _, said = run(tmp_path, "--char", "CHAR_04", "--count", "20")
    assert code == 2 and "row MEM_04_0001, field age" in said


def test_built_memories_that_a_person_changed_are_not_overwritten(tmp_path, run):
    arguments = ["--char", "CHAR_04", "--count", "10"]
    run(tmp_path, *arguments)
    rows = rows_of(tmp_path)
    path = write_rows(tmp_path, [{**rows[0], "context": "By hand"}, *rows[1:]])
    changed = path.read_bytes()
    code, _, said = run(tmp_path, *arguments)
    assert code == 2 and "were changed since they were built" in said and "--fresh" in said
    assert path.read_bytes() == changed
    assert run(tmp_path, *arguments, "--fresh")[0] in WRITTEN
    assert rows_of(tmp_path) == rows


def test_own_character_goes_through_the_whole_pipeline(tmp_path, run, capsys):
    spec = {**load_characters()[8], "character_id": "CHAR_12", "label": "Role L", "occupation": "Lighthouse keeper"}
    del spec["provenance"]
    lines = [f"{key} = {orjson.dumps(value).decode()}" for key, value in spec.items() if not isinstance(value, dict)]
    for name in ("big_five", "values"):
        lines += [f"[{name}]", *(f"{key} = {value}" for key, value in spec[name].items())]
    (tmp_path / "mine.toml").write_text("\n".join(lines), "utf-8")
    assert personas.main(["--workspace", str(tmp_path), "--spec", str(tmp_path / "mine.toml"), "--quiet"]) == 0
    code, document, _ = run(tmp_path, "--char", "CHAR_12", "--count", "12")
    assert code in WRITTEN and document["characters"][0]["rows"] == 12
    assert {row["character_id"] for row in rows_of(tmp_path, "CHAR_12")} == {"CHAR_12"}


def test_ledger_and_characters_are_written_beside_the_memories(built):
    space = Workspace(built, "heart")
    assert list(space.rows("characters")) == load_characters()
    assert list(space.rows("ledgers", "CHAR_04")) == ledger(load_characters()[3], HEART)


def test_workspace_that_another_process_holds_is_left_alone(tmp_path, run):
    with Workspace(tmp_path, "heart").lock():
        code, _, said = run(tmp_path, "--char", "CHAR_04", "--count", "10")
    assert code == 3 and "workspace is held" in said and f"process {os.getpid()}" in said
    assert not (tmp_path / "heart/memories").exists()


def test_workspace_of_another_version_is_refused(tmp_path, run):
    (tmp_path / "heart").mkdir()
    (tmp_path / "heart/workspace.json").write_bytes(b'{"layout": 99}')
    code, _, said = run(tmp_path, "--char", "CHAR_04")
    assert code == 2 and "workspace of another version" in said


def test_full_disk_ends_in_one_line_and_the_run_goes_on_later(built, tmp_path):
    arguments = ["--char", "CHAR_04", "--char", "CHAR_01", "--count", str(COUNT), "--workers", "1"]
    limited = [sys.executable, "-c", LIMITED, "--workspace", str(tmp_path), "--quiet", *arguments]
    full = subprocess.run(limited, cwd=ROOT, capture_output=True, text=True)
    assert full.returncode == 3
    assert full.stderr.startswith("error: ") and full.stderr.count("\n") == 1 and "Free some room" in full.stderr
    assert not list((tmp_path / "heart/memories").glob("*.jsonl")) and not list(tmp_path.rglob(".*.part"))
    assert memories.main(["--workspace", str(tmp_path), "--quiet", *arguments]) in WRITTEN
    assert tree(tmp_path) == tree(built)
