"""Audits of what simulated users say: leaving the part, stage directions, length, openings, reading out."""

import tomllib
from pathlib import Path

import pytest
from likability_samples import profiles

import audits
from audits.checks import dialogues as checks
from audits.subjects import subjects

CODES = tomllib.loads((Path(audits.__file__).parent / "checks" / "dialogues.toml").read_text("utf-8"))["codes"]
PERSONA = profiles()[0]["persona_id"]


def said(*texts, speaker="user"):
    """Each text as the opening of a session."""
    return [
        {
            "item": f"{PERSONA}/{number:03}/001/1.{speaker}",
            "persona": PERSONA,
            "session": f"{number:03}",
            "turn": "001",
            "speaker": speaker,
            "text": text,
        }
        for number, text in enumerate(texts, 1)
    ]


def findings_of(rows):
    read = subjects("dialogues", ("item",), rows, 0)
    return [*checks.audit(read, read, {"profiles": profiles()}, frozenset()), *checks.coverage(read, {})]


def found(rows):
    return [finding.code for finding in findings_of(rows)]


def examples(kind):
    return [pytest.param(each["code"], text, id=f"{each['code']}-{text}") for each in CODES for text in each[kind]]


@pytest.mark.parametrize(("code", "text"), examples("hits"))
def test_a_hit_is_found_once_under_its_code_and_no_other(code, text):
    assert found(said(text)) == [code]


@pytest.mark.parametrize(("code", "text"), examples("misses"))
def test_a_miss_is_no_finding(code, text):
    assert found(said(text)) == []


def test_what_the_assistant_says_is_its_own_affair_unless_it_says_nothing():
    assert found(said("As an AI I cannot taste coffee.", speaker="assistant")) == []
    assert found(said("", speaker="assistant")) == ["dialogue.empty"]


def test_fifty_words_are_allowed_and_fifty_one_are_not():
    assert found(said(" ".join(["so"] * 50))) == []
    assert found(said(" ".join(["so"] * 51))) == ["dialogue.long"]


def test_the_second_session_that_opens_like_another_is_found():
    rows = said("Hello there, how do I prune a rose?", "Hi!", "hello there how do I sharpen a saw?")
    findings = findings_of(rows)
    assert [(finding.code, finding.row_id) for finding in findings] == [
        ("dialogue.opening_repeated", f"{PERSONA}/003/001/1.user")
    ]


def test_the_same_opening_of_two_users_is_no_repetition():
    rows = said("Hello there, how do I prune a rose?")
    assert found([*rows, {**rows[0], "item": "other", "persona": "CSP_STRAT_00000000"}]) == []


def test_a_descriptor_said_word_for_word_is_read_out():
    descriptor = max((each["descriptor"] for each in profiles()[0]["facets"]), key=len)
    assert found(said(f"You know, it {descriptor.lower()}")) == ["dialogue.profile_read_out"]


def test_two_details_in_a_message_pass_and_three_do_not():
    words = [each["name"] for each in profiles()[0]["relations"]] + [
        each["keyword"] for each in profiles()[0]["details"]
    ]
    assert found(said(f"First {words[0]}, and then {words[1]}.")) == []
    assert found(said(f"First {words[0]}, and then {words[1]} and {words[2]}.")) == ["dialogue.profile_read_out"]


def test_the_finding_points_at_the_words():
    (finding,) = findings_of(said("Well (laughs) that was quick."))
    assert finding.span == (5, 13) and finding.text == "(laughs)"
