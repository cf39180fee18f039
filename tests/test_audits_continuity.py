"""Memories and the life ledger: what a sentence, a season or a quotation excuses."""

from pathlib import Path

import orjson
import pytest

from audits import audit

SOUND = orjson.loads((Path(__file__).parent / "cases/sound_rows.json").read_bytes())
MAY = {"fact_id": "LED_04_011", "kind": "friend", "role": "friend", "name": "May", "from_age": 41, "to_age": 50}
CALLED_MAY = {"character_id": "CHAR_04", "ends_by": None, "detail": "", "linked_to": [], **MAY}


def found(text, age=24):
    """Codes and words of what is found in a memory of CHAR_04; listing names is not asked for."""
    row = {"id": "MEM_04_0001", "character_id": "CHAR_04", "age": age, "ledger_refs": [], "content_full": text}
    findings = audit("memories", [row], {"ledgers": [*SOUND["ledgers"], CALLED_MAY]}, only=["continuity"])
    return [(each.code.split(".")[1], each.text) for each in findings if each.code != "continuity.unlisted"]


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("Knut gave me the hammer.", [("dead", "Knut")]),
        ("The hammer had been a gift. Knut gave it to me.", [("dead", "Knut")]),
        ("I remembered how Knut gave me the hammer.", []),
        ("It was Knut's grave.", []),
        ("Grandpa said that I could keep it.", [("dead", "Grandpa")]),
        ("My own grandfather poured the tea.", [("dead", "My own grandfather")]),
        ("I took my grandfather's hammer.", []),
        ('"My grandfather said so," she told us.', []),
        ("My mother handed me the hammer.", []),
    ],
)
def test_the_dead_are_remembered_and_do_nothing(text, codes):
    assert found(text) == codes


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("I was going to start at Wolferton Games.", []),
        ("I sat at my desk at Wolferton Games.", [("early", "Wolferton Games")]),
        ("I want to meet Kenji soon.", [("early", "Kenji")]),
    ],
)
def test_a_job_may_be_planned_for_the_next_year_and_a_friend_may_not(text, codes):
    assert found(text) == codes


def test_what_is_two_years_off_is_not_planned():
    assert found("I was going to start at Wolferton Games.", age=23) == [("early", "Wolferton Games")]


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("It was the last week of May, and it rained.", []),
        ("May it rain. May was wet.", []),
        ("Then I saw May with a bucket.", [("early", "May")]),
        ("Then I saw Mayfield Road and Kenjiro.", []),
    ],
)
def test_a_name_that_is_a_word_counts_where_its_capital_is_its_own(text, codes):
    assert found(text) == codes


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("My brother held the ladder. My brother laughed.", [("invented", "My brother")]),
        ("I fed my little dog.", [("invented", "my little dog")]),
        ("My younger sister held the ladder.", []),
        ("Our older brother held the ladder.", [("invented", "Our older brother")]),
        ("My brother-in-law held the ladder, and my son's friend, too.", []),
        ("It was not my dog. He asked if that was my wife.", []),
        ('"My husband is here," she said.', []),
        ("Her brother held the ladder; so did Amy brother.", []),
    ],
)
def test_a_relative_that_the_ledger_lacks_is_invented(text, codes):
    assert found(text) == codes


def test_without_a_ledger_nothing_is_said():
    row = {"id": "MEM_05_0001", "character_id": "CHAR_05", "age": 24, "content_full": "Knut gave it to my brother."}
    assert audit("memories", [row], SOUND, only=["continuity"]) == []


FLAT = {"fact_id": "L1", "character_id": "C", "kind": "home", "role": "rented flat", "name": "Mill Street",
        "from_age": 20, "to_age": 50, "ends_by": None, "detail": "is never warm", "linked_to": []}  # fmt: skip


def invented(text, origin=None, **home):
    """The findings of what a memory at 30 invents, whose ledger has a home and nothing else."""
    row = {"id": "M", "character_id": "C", "age": 30, "ledger_refs": [], "content_full": text}
    row |= {"provenance": {"origin": origin}} if origin else {}
    return audit("memories", [row], {"ledgers": [FLAT | home]}, only=["continuity.invented"])


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("Our cat lay on the newspaper.", "cat"),
        ("I got into my car and drove off.", "car"),
        ("The lift stopped between two floors.", "lift"),
        ("I sat on our stairs until it was dark.", "stairs"),
        ("I slept in my attic.", "attic"),
        ("There was a fox in our garden.", "garden"),
    ],
)
def test_belongings_that_the_ledger_does_not_have_are_found(text, reported):
    assert [reported in finding.message for finding in invented(text)] == [True]


@pytest.mark.parametrize(
    ("text", "home"),
    [
        ("My attic room has a pear tree leaning on the wall.", {"role": "attic room"}),
        ("I sat on our stairs until it was dark.", {"role": "terraced house"}),
        ("I caught sight of my garden fork.", {}),
        ("Amina never takes the lift, and I have never asked why.", {}),
        ("The lift in the hospital stopped between two floors.", {}),
        ("We used to have a fox in our garden.", {}),
    ],
)
def test_what_the_ledger_has_or_belongs_to_somebody_else_is_not_invented(text, home):
    assert invented(text, **home) == []


@pytest.mark.parametrize(("origin", "severity"), [("built", "error"), ("imported", "warning"), (None, "warning")])
def test_invention_is_an_error_of_a_builder_which_had_the_ledger(origin, severity):
    assert [finding.severity for finding in invented("Our cat lay on the newspaper.", origin)] == [severity]
