"""Memories as noun phrases: definite, nameless, in the narrative's own words, and fit for the middle of a sentence."""

import functools

import pytest
from builder_samples import memories_of

from builders.offline.choices.quotation import age_phrase, leading, noun_phrase, number, things
from builders.personas import load_characters


@functools.cache
def remembered():
    return [memory for character in load_characters() for memory in memories_of(character, 40)]


def memory(*triggers, narrative="", age=9, name="MEM_01_0001"):
    text = narrative or " ".join(triggers)
    who = f"CHAR_{name.split('_')[1]}"
    return {"id": name, "character_id": who, "triggers": list(triggers), "content_full": text, "age": age}


@pytest.mark.parametrize(
    ("trigger", "phrase"),
    [
        ("a dustpan", "the dustpan"),
        ("an old boat", "the old boat"),
        ("blue jug", "the blue jug"),
        ("my carrier bag", "my carrier bag"),
        ("the top shelf", "the top shelf"),
        ("wasps", "the wasps"),
    ],
)
def test_a_trigger_becomes_a_definite_noun_phrase(trigger, phrase):
    assert things(memory(trigger)) == [phrase]


@pytest.mark.parametrize(
    "trigger",
    [
        "Karim's birthday",
        "room in Wales",
        "someone who won't wake",
        "calling out",
        "on the school bus",
        "\u201ctelegraph\u201d",
        "milk, eggs",
        "the black ones",
        "my hip",
        "the play from his childhood",
        "the map from before the motorway",
        "the simplicity of it",
        "glasses of wine in a week",
    ],
)
def test_what_needs_its_context_to_be_understood_is_no_thing(trigger):
    assert things(memory(trigger)) == []


def test_only_things_that_the_narrative_speaks_of_are_named():
    assert things(memory("a dustpan", "a crowd", narrative="There was a dustpan under the stove.")) == ["the dustpan"]


def test_two_things_of_a_memory_share_no_word():
    assert noun_phrase(memory("a prompter", "a blue jug", "my blue jug", "a stove")) == "the prompter and the blue jug"
    assert noun_phrase(memory("a blue jug", "my blue jug")) == "the blue jug"


def test_every_memory_has_a_phrase_and_hardly_any_only_its_age():
    phrases = [noun_phrase(each) for each in remembered()]
    assert all(phrases) and sum(phrase.startswith("a day when") for phrase in phrases) < 0.05 * len(phrases)


def test_ages_are_said_in_words():
    assert [number(n) for n in (0, 9, 13, 20, 21, 50, 99)] == [
        "zero", "nine", "thirteen", "twenty", "twenty-one", "fifty", "ninety-nine",
    ]  # fmt: skip
    assert age_phrase(memory(age=9), 30) == "from when I was nine"
    assert age_phrase(memory(age=30), 30) == "from earlier this year"


def test_characters_in_one_situation_speak_of_different_things():
    things_there = ("a trombone", "a lamp", "a ladder", "a stove", "a kettle", "a rowing boat", "a jug", "a drum")
    spoken = [
        noun_phrase(leading([("one", [memory(each, name=f"MEM_{who:02d}_0001") for each in things_there])])["one"])
        for who in range(1, 12)
    ]
    assert len(set(spoken)) >= 4


def test_the_rarest_leads_and_what_was_spoken_of_makes_room_for_others():
    common = [memory("a lamp", name=f"MEM_01_000{n}") for n in range(2, 5)]
    rare = memory("a trombone", name="MEM_01_0001")
    found = leading([("one", [*common, rare]), ("two", [*common, rare]), ("three", [rare])])
    assert [found[scenario]["id"] for scenario in ("one", "two", "three")] == [
        "MEM_01_0001",
        "MEM_01_0002",
        "MEM_01_0001",
    ]


def test_without_memories_nothing_leads():
    assert leading([("one", [])]) == {}
