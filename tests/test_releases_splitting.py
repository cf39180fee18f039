"""Variants of a release: without keys, open and held out; answers are scored where the keys are."""

import copy
import json
import os
import re
import subprocess
import sys

import pytest
from release_samples import frozen_once, small_tables

from releases.__main__ import main
from releases.opening import open_release
from releases.splitting.split import families, split
from releases.verify import verify
from schemas.errors import RequestError


def tables():
    """The small workspace five times: five scenarios, of four questions that share their options."""
    first, made = small_tables(), small_tables()
    for number in range(2, 6):
        for row in copy.deepcopy(first["scenarios"]):
            made["scenarios"].append({**row, "id": f"SCN_{number}"})
        for row in copy.deepcopy(first["decisions"]):
            decided = f"{row['final_decision']} ({number})"
            made["decisions"].append({**row, "scenario_id": f"SCN_{number}", "final_decision": decided})
        for row in copy.deepcopy(first["mcqs"]):
            options = [{**option, "content": f"{option['content']} ({number})"} for option in row["options"]]
            named = {"question_id": f"{row['question_id']}_{number}", "scenario_id": f"SCN_{number}"}
            made["mcqs"].append({**row, **named, "options": options})
        for row in copy.deepcopy(first["mcq_keys"]):
            made["mcq_keys"].append({**row, "question_id": f"{row['question_id']}_{number}"})
    return made


@pytest.fixture
def release(tmp_path):
    return frozen_once(tmp_path, "heart@0.1.0", tables())


def ask(*words):
    return main([str(word) for word in words])


def parts(release, tmp_path, *more):
    frozen, private = tmp_path / "frozen", tmp_path / "private"
    assert ask("split", "heart@0.1.0", "--frozen", frozen, "--private", private, "--held-out", "40", *more) == 0
    return open_release("heart-open@0.1.0", frozen), open_release(private / "heart-held-out/0.1.0")


def ids(release, table, column="question_id"):
    return {row[column] for row in release.rows(table)}


def test_a_split_parts_the_questions_and_neither_part_tells_the_others_answers(release, tmp_path):
    opened, held = parts(release, tmp_path)
    assert len(ids(held, "mcqs")) == 8 and len(ids(opened, "mcqs")) == 12
    assert ids(held, "mcqs") | ids(opened, "mcqs") == ids(release, "mcqs")
    assert ids(held, "mcqs") & ids(opened, "mcqs") == set()
    for part in (opened, held):
        assert verify(part.folder).problems == ()
        assert ids(part, "mcq_keys") == ids(part, "mcqs")
        asked = {(row["character_id"], row["scenario_id"]) for row in part.rows("mcqs")}
        assert {(row["character_id"], row["scenario_id"]) for row in part.rows("decisions")} == asked
        assert part.tables["memories"] == release.tables["memories"]
    texts = {option["content"] for row in held.rows("mcqs") for option in row["options"]}
    reported = {row["final_decision"] for row in opened.rows("decisions")}
    reported |= {option["content"] for row in opened.rows("mcqs") for option in row["options"]}
    assert not texts & reported
    assert ids(opened, "mcqs") == {row["question_id"] for row in _config(opened)}


def _config(release):
    import pyarrow.parquet as pq

    (path,) = (release.folder / "heart_eval").glob("*.parquet")
    return pq.read_table(path).to_pylist()


def test_the_same_seed_holds_the_same_questions_out(release, tmp_path):
    first, _ = split(release, 40, 7, tmp_path / "a", tmp_path / "b")
    second, _ = split(release, 40, 7, tmp_path / "c", tmp_path / "d")
    other, _ = split(release, 40, 8, tmp_path / "e", tmp_path / "f")
    assert first.digest == second.digest != other.digest


def test_questions_that_share_an_option_are_a_family():
    rows = [{"id": n, "options": [{"content": c} for c in texts]} for n, texts in enumerate(["ab", "bc", "de", "f"])]
    assert families(rows, ("id",)) == {(0,): 0, (1,): 0, (2,): 1, (3,): 2}


@pytest.mark.parametrize("share", ["1", "100"])
def test_a_share_that_leaves_a_side_empty_is_refused(release, tmp_path, capsys, share):
    where = ("--frozen", tmp_path / "frozen", "--private", tmp_path / "private")
    with pytest.raises(RequestError, match="questions out"):
        split(release, float(share), 7, tmp_path / "a", tmp_path / "b")
    assert share == "100" or ask("split", "heart@0.1.0", *where, "--held-out", share) == 2
    assert not (tmp_path / "private").exists()


def test_a_held_out_part_is_never_published(release, tmp_path, capsys):
    _, held = parts(release, tmp_path)
    for more in ((), ("--without-keys",), ("--yes",)):
        assert ask("publish", held.folder, "--to", f"file://{tmp_path / 'out'}", *more) == 2
        assert "is held out" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_the_variant_without_keys_holds_no_answer_and_is_what_is_published(release, tmp_path, capsys):
    words = ("publish", "heart@0.1.0", "--frozen", tmp_path / "frozen", "--to", f"file://{tmp_path / 'out'}")
    assert ask(*words, "--without-keys", "--yes") == 0
    sent = open_release(tmp_path / "out/heart-without-keys/0.1.0")
    assert verify(sent.folder).problems == ()
    assert {*sent.tables} == {*release.tables} - {"mcq_keys", "decisions"}
    assert sent.manifest["variant"]["digest"] == release.digest
    card = (sent.folder / "README.md").read_text("utf-8")
    assert "The keys are not in this release" in card and "heart_eval" in card and "keys = {" not in card
    assert not (tmp_path / "out/heart").exists()
    place = tmp_path / "releases/frozen/heart-without-keys/0.1.0"
    place.parent.mkdir(parents=True)
    place.symlink_to(sent.folder)
    *_, recipe = re.findall(r"```python\n(.*?)```", card, re.S)
    offline = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "hf")}
    subprocess.run([sys.executable, "-c", recipe], cwd=tmp_path, env=offline, check=True)
    assert ask("score", release.folder, tmp_path / "answers.jsonl") == 0
    scored = capsys.readouterr().err
    assert (
        f"of {release.tables['mcqs']} right" in scored
        and "not answered 0, answered with no option's letter 0" in scored
    )
    assert ask(*words, "--without-keys", "--yes") == 0
    assert "already there" in capsys.readouterr().err


def test_a_release_of_other_rows_does_not_take_over_a_variant(release, tmp_path, capsys):
    parted, _ = parts(release, tmp_path)
    assert parted.manifest["variant"]["of"] == "heart@0.1.0"
    assert ask("split", "heart@0.1.0", "--frozen", tmp_path / "frozen", "--private", tmp_path / "private") == 2
    assert "exists" in capsys.readouterr().err


def answered(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def test_answers_are_scored_by_id_and_what_cannot_be_is_counted_apart(release, tmp_path, capsys):
    keys = {row["question_id"]: row["answer"] for row in release.rows("mcq_keys")}
    names = sorted(keys)
    rows = [{"question_id": name, "answer": f" {keys[name]}\n"} for name in names[:12]]
    rows += [{"question_id": names[12], "answer": "E"}, {"question_id": names[13], "answer": ""}]
    path = answered(tmp_path / "answers.jsonl", rows[::-1])
    assert ask("score", release.folder, path, "--json") == 1
    figures = json.loads(capsys.readouterr().out)
    assert (figures["questions"], figures["right"], figures["missing"], figures["unreadable"]) == (20, 12, 6, 2)
    assert figures["rate"] == 0.6 and figures["low"] < 0.6 < figures["high"] and figures["chance"] == 0.25
    whole = answered(tmp_path / "all.jsonl", [{"question_id": name, "answer": keys[name]} for name in names])
    assert ask("score", release.folder, whole) == 0
    assert "20 of 20 right" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([{"question_id": "Q_NONE", "answer": "A"}], "answers to no question"),
        ([{"question_id": "Q", "answer": 1}], "no answer"),
        ([{"answer": "A"}], "no answer"),
        ([{"question_id": "Q", "answer": "A"}] * 2, "a question twice"),
    ],
)
def test_answers_to_other_questions_are_refused_with_their_line(release, tmp_path, capsys, rows, expected):
    assert ask("score", release.folder, answered(tmp_path / "a.jsonl", rows)) == 2
    reported = capsys.readouterr().err
    assert expected in reported and "a.jsonl" in reported and reported.count("\n") == 1


def test_a_release_without_keys_cannot_score(release, tmp_path, capsys):
    assert ask("publish", "heart@0.1.0", "--frozen", tmp_path / "frozen", "--to", "file:///x", "--without-keys") == 0
    path = answered(tmp_path / "a.jsonl", [{"question_id": next(iter(ids(release, "mcqs"))), "answer": "A"}])
    assert ask("score", tmp_path / "frozen/heart-without-keys/0.1.0", path) == 2
    assert "no keys" in capsys.readouterr().err
