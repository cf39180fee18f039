"""Judgements of the released code: read as it reads them, and strictly."""

import json

import pytest

from evaluators.task_dialogues.released_parsing import (
    figures,
    main,
    released_score,
    released_verdict,
    strict_score,
    strict_verdict,
)


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
