"""What a card gives to somebody who knows only load_dataset: recipes, ready-made configurations, and floors to beat."""

import os
import re
import subprocess
import sys
from collections import Counter

import orjson
import pyarrow.parquet as pq
import pytest
from benchmark_samples import CARD, ROWS, write_benchmark
from release_samples import ROOT, release_of, small_tables

from releases.__main__ import main
from releases.opening import open_release
from schemas.rows import write_jsonl


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    return release_of(tmp_path_factory.mktemp("recipes"), "heart@0.1.0", small_tables())


@pytest.fixture(scope="module")
def readme(release):
    return (release.folder / "README.md").read_text("utf-8")


def recipe_of(readme):
    """The last piece of Python on a card."""
    *_, recipe = re.findall(r"```python\n(.*?)```", readme, re.S)
    return recipe


def test_the_recipe_of_the_card_evaluates_a_model_with_load_dataset_alone(release, readme, tmp_path):
    """As printed, with another answer in the place of the model's: right once a question whose key is B."""
    recipe = recipe_of(readme)
    lines = [line for line in recipe.splitlines() if line.strip()]
    assert len(lines) <= 15
    place = tmp_path / "releases/frozen/heart/0.1.0"
    place.parent.mkdir(parents=True)
    place.symlink_to(release.folder)
    keys = [row["answer"] for row in release.rows("mcq_keys")]
    for letter in "AB":
        done = subprocess.run(
            [sys.executable, "-c", recipe.replace('return "A"', f'return "{letter}"')],
            cwd=tmp_path,
            env={**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "hf")},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.stdout == f"{keys.count(letter)} of 4 right; 1 by chance\n", done.stderr


def test_the_canary_stands_in_every_row_with_a_question_or_key_and_in_no_prompt(release):
    canary = "e19137b7-fae6-4d26-8b5b-392988074f27"
    for table in ("mcqs", "mcq_keys", "decisions", "heart_eval"):
        (path,) = (release.folder / table).glob("*.parquet")
        rows = pq.read_table(path).to_pylist()
        assert {row.pop("canary") for row in rows} == {canary}
        assert canary not in orjson.dumps(rows).decode()
    assert "canary" not in release.schema("mcqs").names and "canary" not in next(release.rows("mcqs"))


def test_what_may_be_remembered_stands_beside_the_prompt_by_age_and_never_past_it(release):
    from releases.query import query

    ages = {row["id"]: (row["age"], row["character_id"]) for row in release.rows("memories")}
    scenarios = {row["id"]: row for row in release.rows("scenarios")}
    (path,) = (release.folder / "heart_eval").glob("*.parquet")
    for row in pq.read_table(path).to_pylist():
        age = scenarios[row["scenario_id"]]["age"]
        allowed = sorted((a, name) for name, (a, who) in ages.items() if who == row["character_id"] and a <= age)
        assert row["memory_ids"] == [name for _, name in allowed]
        assert all(
            f"{label}. {text}" in row["prompt"] for label, text in zip(row["labels"], row["options"], strict=True)
        )
    entry = release.manifest["configs"]["heart_eval"]
    assert query(release, entry["sql"]).num_rows == entry["rows"]


def test_the_card_tells_doi_homepage_and_every_earlier_version(tmp_path):
    release_of(tmp_path, "heart@0.1.0", small_tables(), released="2026-01-02")
    changed = small_tables()
    changed["mcqs"][0]["options"][0]["content"] = "I leave."
    release_of(tmp_path, "heart@1.0.0", changed)
    changed["mcqs"][0]["options"][0]["content"] = "I stay."
    last = release_of(tmp_path, "heart@2.0.0", changed, doi="10.5281/zenodo.42")
    text = (last.folder / "README.md").read_text("utf-8")
    assert "doi     = {10.5281/zenodo.42}" in text and "https://doi.org/10.5281/zenodo.42" in text
    assert [entry["version"] for entry in last.manifest["history"]] == ["1.0.0", "0.1.0"]
    assert "- 0.1.0 of 2026-01-02 (content" in text and "- 1.0.0 (content" in text
    deposit = orjson.loads((last.folder / "zenodo.json").read_bytes())["metadata"]
    assert deposit["doi"] == "10.5281/zenodo.42" and deposit["upload_type"] == "dataset"
    assert {"title", "creators", "description", "license", "version"} <= deposit.keys()


RUN = """
import contextlib, io, sys
for recipe in sys.argv[1:]:
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(recipe, {})
    lines = said.getvalue().splitlines()
    print(len(lines), lines[-1])
"""


def test_the_recipes_of_the_other_cards_in_the_repository_run_as_printed(tmp_path):
    names = ("likebench/1.0.0", "personalens/1.0.0", "persturn/1.0.1")
    folders = [ROOT / "releases/frozen" / name for name in names]
    recipes = [recipe_of((folder / "README.md").read_text("utf-8")) for folder in folders]
    assert all(len([line for line in recipe.splitlines() if line.strip()]) <= 15 for recipe in recipes)
    done = subprocess.run(
        [sys.executable, "-c", RUN, *recipes],
        cwd=ROOT,
        env={**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "hf")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    likebench, personalens, persturn = done.stdout.splitlines()
    assert likebench.startswith("500 ") and likebench.endswith("characters for the model that plays the user")
    assert personalens.startswith(f"{open_release('personalens@1.0.0').tables['situations']} ")
    scores = {row["sample_id"]: row["score"] for row in open_release("persturn@1.0.1").rows("ratings")}
    asked = [row["sample_id"] for row in pq.read_table(folders[2] / "persturn_eval").to_pylist()]
    off = [abs(scores[name] - 4) for name in asked]
    assert persturn == f"1 mean absolute error {sum(off) / len(off):.3f}, {off.count(0)} of {len(off)} right"


def test_the_recipe_of_fidelity_asks_every_probe_under_every_instruction(tmp_path):
    release = release_of(tmp_path, "fidelity@0.1.0", {})
    recipe = recipe_of((release.folder / "README.md").read_text("utf-8"))
    asked = []
    rows = {"target_personas": [{"target_id": "A", "instruction": "Be kind."}], "probes": PROBES}
    recipe = recipe.replace("from datasets import load_dataset", "").replace(
        'return ""', "return say(instruction, question)"
    )
    exec(
        recipe, {"load_dataset": lambda place, name, split: rows[name], "say": lambda *words: asked.append(words) or ""}
    )
    assert asked == [("Be kind.", "Who are you?"), ("Be kind.", "And now?")]


PROBES = [{"probe_id": "one", "question": "Who are you?"}, {"probe_id": "two", "question": "And now?"}]


def test_a_reply_to_score_ends_its_prompt_and_only_raters_who_test_are_asked():
    release = open_release("persturn@1.0.1")
    conversations = {row["conversation_id"]: row for row in release.rows("conversations")}
    ratings = {row["sample_id"]: row for row in release.rows("ratings")}
    tests = {row["rater_id"] for row in release.rows("splits") if row["split"] == "test"}
    rows = pq.read_table(release.folder / "persturn_eval").to_pylist()
    assert {row["sample_id"] for row in rows} == {name for name, row in ratings.items() if row["rater_id"] in tests}
    for row in rows[::50]:
        messages = conversations[ratings[row["sample_id"]]["conversation_id"]]["messages"]
        reply = [each["content"] for each in messages if each["role"] == "assistant"][row["turn"]]
        assert f"Assistant: {reply}\n\nHow satisfied was this user with the last reply?" in row["prompt"]
        assert "score" not in row and "What is known of this user from scores in other tasks:" in row["memory"]


def words_of(text):
    return re.findall("[a-z]{4,}", text.lower())


def test_the_floor_that_reads_memories_is_what_a_reader_by_words_gets_right(release, readme):
    tables, right = small_tables(), 0
    ages = {row["id"]: row["age"] for row in tables["scenarios"]}
    keys = {row["question_id"]: row["answer"] for row in tables["mcq_keys"]}
    everybody = Counter(word for row in tables["memories"] for word in words_of(row["content_summary"]))
    for question in tables["mcqs"]:
        own = Counter(
            word
            for row in tables["memories"]
            if row["character_id"] == question["character_id"] and row["age"] <= ages[question["scenario_id"]]
            for word in words_of(row["content_summary"])
        )
        scores = {}
        for option in question["options"]:
            asked = {*words_of(option["content"])}
            scores[option["label"]] = round(
                sum(own[word] / everybody[word] for word in asked if own[word]) / len(asked), 9
            )
        right += max(sorted(scores), key=scores.get) == keys[question["question_id"]]
    (line,) = [line for line in readme.splitlines() if line.startswith("| right by words that the summaries")]
    assert f"| {len(keys)} | {right / len(keys):.1%} |" in line


def benchmark_with_floor(tmp_path, monkeypatch, sql):
    home = write_benchmark(tmp_path / "pets")
    floor = f'[[floor]]\nname = "by luck"\nneeds = ["pets"]\nsql = "{sql}"\n'
    (home / "card.toml").write_text(f"{CARD}\n{floor}", "utf-8")
    monkeypatch.chdir(tmp_path)
    for name, listed in ROWS.items():
        write_jsonl(tmp_path / "build/pets" / name / "all.jsonl", listed)
    return home


@pytest.mark.parametrize(
    ("sql", "said"),
    [("SELECT 1 AS is_right", "chance and grouped_by"), ("SELECT 1 FROM nothing", "nothing does not exist")],
)
def test_a_floor_that_gives_no_rate_is_refused_in_one_line(tmp_path, monkeypatch, capsys, sql, said):
    home = benchmark_with_floor(tmp_path, monkeypatch, sql)
    assert main(["freeze", "pets@0.1.0", "--benchmark", str(home), "--quiet"]) == 2
    reported = capsys.readouterr().err
    assert said in reported and reported.count("\n") == 1 and not (tmp_path / "releases/frozen/pets/0.1.0").exists()


def test_a_floor_that_no_row_can_be_asked_is_named_on_the_card_and_stops_no_freeze(tmp_path, monkeypatch):
    sql = "SELECT 1 AS is_right, 0.5 AS chance, 'a' AS grouped_by WHERE false"
    home = benchmark_with_floor(tmp_path, monkeypatch, sql)
    assert main(["freeze", "pets@0.1.0", "--benchmark", str(home), "--quiet"]) == 0
    card = (tmp_path / "releases/frozen/pets/0.1.0/README.md").read_text("utf-8")
    assert "as no row of this release can be asked it: by luck." in card
