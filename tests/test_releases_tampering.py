"""What is said of a release cannot be changed unnoticed, not even by somebody who seals the manifest again.

Every tampering here adapts the manifest: sizes, checksums, digests. What is left unnoticed is listed below, and is what
nothing in a release follows from. More of them with ANAMNESIS_TAMPERINGS=500.
"""

import hashlib
import os
import random
import re
import subprocess
import sys

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from release_samples import ROOT, copy_of, release_of
from test_releases_card import tables_made_by

from releases.checking import derived
from releases.manifest import encode, sealed
from releases.verify import verify

WITH_ROOT = {**os.environ, "PYTHONPATH": str(ROOT)}
TAMPERINGS = int(os.environ.get("ANAMNESIS_TAMPERINGS", "100"))

# Places of the manifest that no row and no text of a release bears out, as docs/releases.md says.
NOT_DERIVED = (
    r"built/recipe/(code_digest|settings|command|version|seed).*",
    r"card/(mixed|written|composed|rai|figure|order|recipe_without_keys).*",
    r"form",
    r"tables/\w+/roles/.*",
    r"checks/.*/ran/.*",
    r"checks/unaudited.*",
    r"(content_)?digest",
)


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    root = tmp_path_factory.mktemp("tampering")
    first = tables_made_by("offline")
    release_of(root, "heart@0.1.0", first)
    first["memories"][0]["content_full"] += " It rained."
    return release_of(root, "heart@1.0.0", first, doi="10.5281/zenodo.1")


@pytest.fixture
def folder(release, tmp_path):
    return copy_of(release, tmp_path / "copy")


def reseal(folder, change=lambda manifest: None):
    """Put sizes, checksums and digests of the manifest right again, after a change of it."""
    manifest = orjson.loads((folder / "manifest.json").read_bytes())
    for name in list(manifest["files"]):
        data = (folder / name).read_bytes() if (folder / name).is_file() else None
        if data is None:
            del manifest["files"][name]
        else:
            manifest["files"][name] = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    change(manifest)
    (folder / "manifest.json").write_bytes(encode(sealed(manifest)))


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("README.md", "| `memories` | 12 |", "| `memories` | 12,000 |"),
        ("README.md", "No person has reviewed", "Three people have reviewed"),
        ("README.md", "| `decisions` | unreviewed | 4 |", "| `decisions` | reviewed | 4 |"),
        ("README.md", "num_examples: 12", "num_examples: 11"),
        ("README.md", "cc-by-4.0", "cc0-1.0"),
        ("README.md", 'return "A"', 'return "B"'),
        ("croissant.json", "unreviewed 4", "reviewed 4"),
        ("croissant.json", "One autobiographical memory", "One true memory"),
        ("zenodo.json", '"dataset"', '"software"'),
        ("figures/memories-by-stage.svg", "</title>", " (all true)</title>"),
        ("schemas/memories.schema.json", "autobiographical", "true"),
        ("schemas/mcqs.schema.json", '"string"', '"integer"'),
    ],
)
def test_a_word_changed_under_a_manifest_that_was_adapted_is_found(folder, name, old, new):
    text = (folder / name).read_text("utf-8")
    assert old in text
    (folder / name).write_text(text.replace(old, new), "utf-8")
    reseal(folder)
    problems = verify(folder).problems
    assert problems and any(problem.code.startswith("derived.") for problem in problems)


@pytest.mark.parametrize("name", ["schemas/memories.schema.json", "README.md", "croissant.json", "zenodo.json"])
def test_a_file_that_is_gone_from_the_manifest_too_is_missed(folder, name):
    (folder / name).unlink()
    reseal(folder)
    assert (name, "file.missing") in {(problem.place, problem.code) for problem in verify(folder).problems}


def test_a_file_that_no_release_has_is_found_though_the_manifest_lists_it(folder):
    (folder / "run-me.sh").write_text("x")
    reseal(folder, lambda manifest: manifest["files"].update({"run-me.sh": {"bytes": 1, "sha256": "a" * 64}}))
    assert "file.unexpected" in {problem.code for problem in verify(folder).problems}


@pytest.mark.parametrize("table", ["mcqs", "mcq_keys", "decisions", "heart_eval"])
def test_a_canary_that_was_taken_out_or_changed_is_found(folder, table):
    (path,) = (folder / table).glob("*.parquet")
    rows = pq.read_table(path)
    assert rows["canary"].unique().to_pylist() == ["e19137b7-fae6-4d26-8b5b-392988074f27"]
    other = rows.set_column(rows.num_columns - 1, "canary", pa.array(["x"] * rows.num_rows))
    for changed in (rows.drop(["canary"]), other.cast(rows.schema)):
        pq.write_table(changed, path)
        reseal(folder)
        assert verify(folder).problems


def test_a_canary_that_was_taken_out_everywhere_is_missed(folder):
    manifest = orjson.loads((folder / "manifest.json").read_bytes())
    for name in [*manifest["canary"]["tables"], *manifest["configs"]]:
        (path,) = (folder / name).glob("*.parquet")
        pq.write_table(pq.read_table(path).drop(["canary"]), path)
    for canary in (None, {"text": "x", "tables": ["nothing"]}):
        reseal(folder, lambda manifest, canary=canary: manifest.update(canary=canary))
        assert "derived.canary" in {problem.code for problem in verify(folder).problems}


def test_a_prompt_that_the_tables_do_not_give_is_found(folder):
    (path,) = (folder / "heart_eval").glob("*.parquet")
    rows = pq.read_table(path).to_pylist()
    rows[0]["prompt"] = rows[0]["prompt"].replace("decision", "choice")
    pq.write_table(pa.Table.from_pylist(rows, pq.read_schema(path)), path)
    plain = [{name: value for name, value in row.items() if name != "canary"} for row in rows]
    lines = "".join(orjson.dumps(row).decode() + "\n" for row in plain)
    fresh = hashlib.sha256(lines.encode()).hexdigest()
    reseal(folder, lambda manifest: manifest["configs"]["heart_eval"].update(content_digest=fresh))
    assert "derived.config" in {problem.code for problem in verify(folder).problems}


MANY = "range(1000000) AS a, range(1000000) AS b"
ENDLESS = f"SELECT 'x' AS label, count(*) AS value FROM {MANY} WHERE a.range * b.range % 7 = 3"
ROWS = "FROM range(900000000)"


@pytest.mark.parametrize(
    ("part", "name", "sql", "said"),
    [
        ("card", "figure", ENDLESS, "SQL took longer than 0.5 s"),
        ("configs", "heart_eval", ENDLESS, "SQL took longer than 0.5 s"),
        ("card", "figure", f"SELECT range::VARCHAR AS label, 1 AS value {ROWS}", "more than 1,000 rows"),
        ("card", "floor", f"SELECT 1 AS is_right, 1 AS chance {ROWS}", "rows in floor"),
        ("configs", "heart_eval", f"SELECT range {ROWS}", "more than 4 rows in config heart_eval"),
    ],
)
def test_what_a_forged_manifest_asks_is_bounded_in_time_and_rows(folder, part, name, sql, said):
    reseal(folder, lambda manifest: forge(manifest[part][name], sql))
    # Only what never ends runs into a short limit; rows are counted long before a minute is over.
    (problem,) = verify(folder, timeout=0.5 if sql == ENDLESS else 60.0).problems
    assert said in str(problem) and problem.code in ("derived.card", "derived.config")


def test_what_the_engine_cannot_stop_or_does_not_survive_ends_verify_in_a_line(release, tmp_path):
    asked = {
        "SELECT levenshtein(repeat('a', 200000), repeat('b', 200000)) AS is_right": (
            "1",
            "more time than --timeout|took longer",
        ),
        "SELECT repeat('x', 3000000000) AS is_right, 1 AS chance, 1 AS grouped_by": ("20", "more memory than"),
    }
    started = []
    for number, (sql, (timeout, said)) in enumerate(asked.items()):
        forged = copy_of(release, tmp_path / str(number))
        reseal(forged, lambda manifest, sql=sql: forge(manifest["card"]["floor"], sql))
        words = [sys.executable, "-m", "releases", "verify", str(forged), "--quiet", "--timeout", timeout]
        started.append((said, subprocess.Popen(words, cwd=ROOT, env=WITH_ROOT, stderr=subprocess.PIPE, text=True)))
    for said, process in started:
        _, reported = process.communicate()
        assert re.search(said, reported.splitlines()[0]) and process.returncode in (1, 2), reported
        assert "Traceback" not in reported and reported.count("\n") == process.returncode % 2 + 1


def forge(entry, sql):
    (entry if isinstance(entry, dict) else entry[0])["sql"] = sql


def test_a_number_that_is_none_is_a_problem_and_no_traceback(folder):
    (path,) = (folder / "memories").glob("*.parquet")
    rows = pq.read_table(path).to_pylist()
    rows[0]["emotion_signature"]["intensity"] = float("nan")
    pq.write_table(pa.Table.from_pylist(rows, pq.read_schema(path)), path)
    reseal(folder)
    assert {problem.code for problem in verify(folder).problems} == {"table.content"}


def test_a_release_of_other_code_is_compared_in_what_is_counted(folder, monkeypatch):
    monkeypatch.setattr(derived, "form", lambda: "0" * 64)
    assert verify(folder).problems == ()
    for old, new in (("| `memories` | 12 |", "| `memories` | 12,000 |"), ("| unreviewed | 4 |", "| reviewed | 4 |")):
        text = (folder / "README.md").read_text("utf-8")
        (folder / "README.md").write_text(text.replace(old, new), "utf-8")
        reseal(folder)
        assert {problem.place for problem in verify(folder).problems} == {"README.md"}
        (folder / "README.md").write_text(text, "utf-8")


def test_the_first_release_of_the_repository_verifies_and_its_card_cannot_be_changed(tmp_path):
    from releases import open_release

    folder = copy_of(open_release(ROOT / "releases/frozen/heart/1.0.0"), tmp_path / "copy")
    text = (folder / "README.md").read_text("utf-8")
    (folder / "README.md").write_text(text.replace("| `memories` | 11,000 |", "| `memories` | 12,000 |"), "utf-8")
    reseal(folder)
    (problem,) = verify(folder).problems
    assert problem.place == "README.md" and "12000" in problem.message


def test_random_tamperings_are_found_or_are_where_nothing_follows_from_anything(folder):
    chance = random.Random(7)
    original = {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    missed = []
    for _ in range(TAMPERINGS):
        what = tampered(folder, original, chance)
        if not verify(folder).problems:
            missed.append(what)
        for name, data in original.items():
            (folder / name).write_bytes(data)
    unexpected = [what for what in missed if not any(re.fullmatch(place, what) for place in NOT_DERIVED)]
    assert unexpected == [], (len(missed), unexpected)


def tampered(folder, original, chance):
    """Change one thing and adapt the manifest to it; the place."""
    kind = chance.choice(["text", "row", "manifest", "manifest"])
    if kind == "manifest":
        return tampered_manifest(folder, chance)
    endings = (".parquet",) if kind == "row" else (".md", ".json", ".svg")
    names = [name for name in sorted(original) if name.name.endswith(endings) and name.name != "manifest.json"]
    name = chance.choice([name for name in names if kind == "text" or pq.read_metadata(folder / name).num_rows])
    path = folder / name
    if kind == "row":
        rows = pq.read_table(path)
        gone = chance.randrange(rows.num_rows)
        pq.write_table(pa.concat_tables([rows.slice(0, gone), rows.slice(gone + 1)]), path)
    else:
        text = original[name].decode("utf-8")
        words = list(re.finditer(r"[A-Za-z]{3,}|[0-9]+", text))
        word = chance.choice(words)
        path.write_text(text[: word.start()] + word[0][::-1] + "1" + text[word.end() :], "utf-8")
    reseal(folder)
    return str(name)


def tampered_manifest(folder, chance):
    place = []

    def change(manifest):
        node = manifest
        while True:
            key = chance.choice(list(node) if isinstance(node, dict) else range(len(node)))
            place.append(str(key))
            if not isinstance(node[key], dict | list) or not node[key]:
                break
            node = node[key]
        value = node[key]
        other = value[:-1] + ("0" if value[-1:] != "0" else "1") if isinstance(value, str) else "x"
        node[key] = value + 1 if isinstance(value, int) and not isinstance(value, bool) else other

    reseal(folder, change)
    return "/".join(place)
