"""Judgements of the released code: read as it reads them, and strictly."""

import json
from pathlib import Path

import pytest

import evaluators
from evaluators.rubrics.loading import read_rubric
from evaluators.rubrics.released_judgements import (
    asked_of_judges,
    released_score,
    released_verdict,
    strict_score,
    strict_verdict,
)
from evaluators.task_dialogues.released_parsing import figures, main
from models.request import Reply
from schemas.errors import RequestError


@pytest.mark.parametrize(
    ("text", "released", "strict"),
    [
        ("VERDICT: True", True, True),
        ("verdict: false because it was not booked", False, False),
        ("True\n\nThe table was booked.", None, True),
        ("False. Nothing was sent.", None, False),
        ("**VERDICT:** True", None, True),
        ("It is true that the user asked.", None, None),
        ("The verdict is clear.", None, None),
        ("VERDICT: False at first.\nFinal VERDICT: True", False, True),
        ("", None, None),
    ],
)
def test_verdicts(text, released, strict):
    assert (released_verdict(text), strict_verdict(text)) == (released, strict)


@pytest.mark.parametrize(
    ("text", "released", "strict"),
    [
        ("Personalization Score: 3\nIt used the taste.", 3, 3),
        ("**Personalization Score:** 3", None, 3),
        ("Personalization Score: [2]", None, 2),
        ("Personalization Score: 7", 7, None),
        ("Personalization Score: 2.5", 2, None),
        ("Personalization Score: 2\nPersonalization Score: 3", 2, None),
        ("I would say 3 of 4.", None, None),
    ],
)
def test_scores(text, released, strict):
    assert (released_score(text, "personalization"), strict_score(text, "personalization")) == (released, strict)


def test_what_cannot_be_read_counts_as_a_failure_as_released_and_by_itself_strictly():
    found = figures(["VERDICT: True", "True", "Who knows", "VERDICT: False"], "task_completion")
    assert (found["released"], found["released_unread"]) == (1 / 4, 2)
    assert (found["strict"], found["strict_unread"]) == (2 / 3, 1)
    assert found["differ"] == 1


def test_a_folder_of_replies_is_read_by_the_command(tmp_path, capsys):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "one.txt").write_text("Coherence Score: 5")
    (tmp_path / "two.txt").write_text("**Coherence Score:** 4")
    assert main([str(tmp_path), "--dimension", "coherence", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["released"], document["strict"]) == (5, 4.5)


def test_a_folder_without_replies_is_refused(tmp_path, capsys):
    assert main([str(tmp_path), "--dimension", "coherence"]) == 2
    assert "no replies" in capsys.readouterr().err


RUBRICS = Path(evaluators.__file__).parent / "rubrics" / "personalens"
FIELDS = {
    name: f"the {name}"
    for name in ("demographics", "affinities", "interactions", "situation", "intent", "goal", "transcript")
}


def judged_as(name, said):
    """The verdicts on an item whose judge answers ``said``, and what the judge was asked."""
    chain = asked_of_judges(read_rubric(RUBRICS / f"{name}.toml"), True)(
        read_rubric(RUBRICS / f"{name}.toml"), "item", FIELDS, lambda rubric, fields: {}
    )
    asked, reply = [], None
    while True:
        try:
            asked.append(chain.send(reply))
        except StopIteration as end:
            return end.value[0], asked
        reply = Reply("answered", answer=said)


@pytest.mark.parametrize(
    ("rubric", "said", "state", "value", "reason"),
    [
        ("task_completion", "All was booked.\nVERDICT: True", "scored", 1.0, None),
        ("task_completion", "True", "scored", 0.0, "no verdict, so a failure; strictly read: true"),
        ("task_completion", "是", "scored", 0.0, "no verdict, so a failure; strictly read: nothing"),
        ("personalization", "Personalization Score: 3", "scored", 3.0, None),
        (
            "personalization",
            "**Personalization Score:** 3",
            "unscored",
            None,
            "no score, so left out; strictly read: 3",
        ),
        ("personalization", "个性化得分：3", "unscored", None, "no score, so left out"),
        ("personalization", "Personalization Score: 7", "unscored", None, "7 is off the scale; strictly read: nothing"),
        ("personalization", "Personalization Score: 2.5", "scored", 2.0, "strictly read: nothing"),
    ],
)
def test_a_judge_is_read_as_the_released_code_reads_it_and_the_row_says_where_strict_reading_differs(
    rubric, said, state, value, reason
):
    ((verdict,), (request,)) = (list(one) for one in (judged_as(rubric, said)[0].values(), judged_as(rubric, said)[1]))
    assert (verdict.state, verdict.value, verdict.reason) == (state, value, reason)
    assert request.schema is None and "NA" not in "".join(request.fixed)


def test_each_side_is_judged_in_a_call_of_its_own_as_in_the_released_code():
    found, asked = judged_as("naturalness", "Naturalness Score: 4")
    assert {name: one.value for name, one in found.items()} == {"assistant_naturalness": 4.0, "user_naturalness": 4.0}
    assert [request.id.rpartition("/")[2] for request in asked] == ["assistant_naturalness", "user_naturalness"]


def test_a_rubric_that_names_nothing_the_released_judge_scores_is_refused(tmp_path):
    text = (RUBRICS / "personalization.toml").read_text("utf-8").replace('released = "pers', 'released = "prs')
    (tmp_path / "mine.toml").write_text(text, "utf-8")
    with pytest.raises(RequestError, match="unknown dimension 'prsonalization'"):
        asked_of_judges(read_rubric(tmp_path / "mine.toml"), True)
