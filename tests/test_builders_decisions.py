"""Decisions: two sentences of this person's own, from what came up; eleven people, eleven decisions."""

import functools
import re
from collections import Counter

import orjson
import pytest
from builder_samples import HEART, memories_of, streams, workspace

from audits import audit
from builders import decisions
from builders.decisions import of_character
from builders.offline.choices.decisions import choose, decide
from builders.offline.choices.quotation import leading, noun_phrase, words
from builders.personas import load_characters
from builders.scenarios.blueprints import load_blueprints
from builders.scenarios.step import expand
from models.offline import drive
from models.request import Reply
from schemas.benchmarks import benchmark
from validators.records import failures

TITLE = r"(?<=Mr)\.|(?<=Mrs)\.|(?<=Ms)\.|(?<=Dr)\."
TWO_SENTENCES = re.compile(rf"[A-Z]([^.!?]|{TITLE})+\. I ([^.!?]|{TITLE})+\.")
ID = re.compile(r"(MEM|SCN|CHAR|LED)_\w+")


@functools.cache
def memories(who):
    return tuple(memories_of(next(c for c in load_characters() if c["character_id"] == who), 40))


@functools.cache
def decided(seed=7):
    """All 704 decisions by scenario, then character."""
    found = {}
    for name, blueprint in load_blueprints().items():
        scenario = expand(name, blueprint)
        found[name] = {
            character["character_id"]: decide(
                character, scenario, blueprint, memories(character["character_id"]), streams(seed)
            )
            for character in load_characters()
        }
    return found


def texts():
    return [row["final_decision"] for by_character in decided().values() for row in by_character.values()]


def test_a_decision_is_two_sentences_in_the_first_person():
    assert [text for text in texts() if not TWO_SENTENCES.fullmatch(text)] == []


def test_no_decision_or_trace_names_an_id():
    assert [row for by in decided().values() for row in by.values() if ID.search(" ".join(row.values()))] == []


def test_the_audit_finds_no_error_in_any_of_the_704():
    rows = [
        {"character_id": who, "scenario_id": name, "stage": "settling_down", "final_decision": row["final_decision"],
         "inner_consciousness": {part: row[part] for part in row if part != "final_decision"}}
        for name, by_character in decided().items()
        for who, row in by_character.items()
    ]  # fmt: skip
    assert len(rows) == 704
    assert Counter(found.code for found in audit("decisions", rows) if found.severity == "error") == {}


def test_eleven_characters_give_eleven_decisions_in_every_scenario():
    for name, by_character in decided().items():
        assert len({row["final_decision"] for row in by_character.values()}) == 11, name


def test_characters_often_share_the_course_and_all_courses_of_most_scenarios_are_taken():
    taken = []
    for blueprint in load_blueprints().values():
        found = [choose(c, blueprint, memories(c["character_id"])[0]) for c in load_characters()]
        taken.append(len({tuple(course["choice"]) for course in found}))
    assert max(taken) <= 4
    assert sum(count > 1 for count in taken) >= 58


def test_decisions_do_not_all_begin_alike_and_nobody_has_an_opening_of_its_own():
    openings = Counter(" ".join(text.split()[:3]) for text in texts())
    assert len(openings) > 8 and max(openings.values()) < 0.2 * len(texts())
    for who in {who for by in decided().values() for who in by}:
        own = Counter(" ".join(by[who]["final_decision"].split()[:3]) for by in decided().values())
        assert max(own.values()) < 0.3 * len(decided())


def test_reasoning_and_tone_vary_with_scene_and_memory():
    rows = [row for by_character in decided().values() for row in by_character.values()]
    assert len({row["core_reasoning"] for row in rows}) > 300
    assert not [row for row in rows if row["emotional_tone"].endswith("from before.")]


def test_a_tone_names_another_feeling_than_the_one_that_a_memory_left_behind():
    name, blueprint = next(iter(load_blueprints().items()))
    scenario, memory = expand(name, blueprint), memories("CHAR_01")[0]
    felt = memory["emotion_signature"]
    for feeling in ("guilt", "tenderness", "worry", "relief"):
        own = memory | {"emotion_signature": felt | {"primary": feeling}}
        tones = [
            decide(character, scenario, blueprint, [own], streams(seed), own)["emotional_tone"].lower()
            for character in load_characters()
            for seed in range(5)
        ]
        assert {tone.count(feeling) for tone in tones} == {1}


def test_a_decision_speaks_of_the_memory_that_leads():
    name, blueprint = next(iter(load_blueprints().items()))
    scenario, character = expand(name, blueprint), load_characters()[0]
    for memory in memories("CHAR_01")[:20]:
        said = decide(character, scenario, blueprint, (memory,), HEART)
        assert noun_phrase(memory) in said["final_decision"]


def test_in_one_chain_nobody_speaks_of_one_thing_twice_while_there_are_others():
    scenes = [expand(name, blueprint) for name, blueprint in list(load_blueprints().items())[:4]]
    situations = [decisions.Situation(scenario, memories("CHAR_01")) for scenario in scenes]
    rows, failed = drive(of_character(load_characters()[0], situations, load_blueprints(), HEART, "offline"))
    assert failed == []
    spoken = leading([(each.scenario["id"], each.memories) for each in situations])
    said = Counter(word for memory in spoken.values() for word in words(noun_phrase(memory)))
    assert max(said.values()) == 1
    for row in rows:
        assert noun_phrase(spoken[row["scenario_id"]]) in row["final_decision"]


def test_opposite_poles_decide_otherwise_more_often_than_not_where_their_trait_is_pressed():
    characters = {c["archetype"]: c for c in load_characters()}
    differs = total = 0
    for blueprint in load_blueprints().values():
        trait = blueprint["pressures"][0]["trait"]
        two = [choose(characters[f"{trait}-{pole}"], blueprint, None) for pole in ("High", "Low")]
        total += 1
        differs += two[0] is not two[1]
    assert total == 64 and differs > 32


def test_a_decision_follows_from_the_character_and_what_came_up():
    name, blueprint = next(iter(load_blueprints().items()))
    scenario, character = expand(name, blueprint), load_characters()[0]
    first = decide(character, scenario, blueprint, memories("CHAR_01"), HEART)
    assert decide(character, scenario, blueprint, memories("CHAR_01"), HEART) == first
    assert decide(character, scenario, blueprint, memories("CHAR_02"), HEART) != first
    assert decide(character, scenario, blueprint, (), HEART)["final_decision"]


def situation():
    name, blueprint = next(iter(load_blueprints().items()))
    return decisions.Situation(expand(name, blueprint), memories("CHAR_01")[:10])


def test_rows_fit_their_schema_and_say_that_nobody_has_reviewed_them():
    rows, failed = drive(of_character(load_characters()[0], [situation()], load_blueprints(), HEART, "offline"))
    assert failed == [] and failures(benchmark("heart").table("decisions"), rows) == []
    assert rows[0]["review"] == {"status": "unreviewed", "annotators": 0, "digest": None}


def ask_by_hand(answers):
    """The chain of one decision, answered with ``answers`` in turn; rows, failures, requests."""
    chain = of_character(load_characters()[0], [situation()], load_blueprints(), HEART, "messages")
    asked, reply = [], None
    try:
        while True:
            asked.append(chain.send(reply))
            good = asked[-1].compose()
            reply = Reply("answered", {**good, **answers[min(len(asked), len(answers)) - 1]}, model="m")
    except StopIteration as done:
        return *done.value, asked


@pytest.mark.parametrize(
    "bad",
    ["I go, as in MEM_01_0004. I wait outside.", "He goes home. He waits.", "I act on my high neuroticism. I wait."],
)
def test_a_model_that_breaks_the_form_is_asked_again_with_the_reason(bad):
    rows, failed, asked = ask_by_hand([{"final_decision": bad}, {}])
    assert failed == [] and len(asked) == 2 and len(rows) == 1
    assert asked[1].prompt.startswith(asked[0].prompt) and len(asked[1].prompt) > len(asked[0].prompt)


def test_a_decision_that_never_comes_right_is_a_failure_and_no_row():
    rows, failed, asked = ask_by_hand([{"final_decision": "He goes home."}])
    assert rows == [] and len(asked) == 3 and failed[0].status == "invalid"


def test_the_prompt_holds_persona_and_memories_by_age_and_no_reference_reaction():
    _, _, (request, *_) = ask_by_hand([{}])
    scenario, remembered = situation().scenario, situation().memories
    text = " ".join((*request.fixed, request.prompt))
    places = [text.index(memory["id"]) for memory in sorted(remembered, key=lambda m: (m["age"], m["id"]))]
    assert places == sorted(places)
    assert load_characters()[0]["self_value_logic"] in text and scenario["context_text"] in text
    assert not [a for a in scenario["annotation_reference"]["trait_archetypes"] if a["reaction"] in text]
    assert "CHAR_01" not in text


@pytest.fixture(scope="module")
def space(tmp_path_factory):
    from builders.activations import step as activations

    made = workspace(tmp_path_factory.mktemp("decisions"), load_characters()[:2], 60)
    assert activations.main(["--workspace", str(made.folder.parent), "--quiet", "--workers", "1"]) == 0
    return made


def test_the_command_keeps_what_a_person_changed_until_fresh(space, capsys):
    words = ["--workspace", str(space.folder.parent), "--json"]

    def actions(*more):
        capsys.readouterr()
        assert decisions.main([*words, *more]) == 0
        return {each["file"]: each["action"] for each in orjson.loads(capsys.readouterr().out)["outcomes"]}

    assert actions() == {"CHAR_01": "built", "CHAR_02": "built"}
    first = space.path("decisions", "CHAR_01").read_bytes()
    assert set(actions().values()) == {"up to date"}
    rows = list(space.rows("decisions", "CHAR_01"))
    rows[0]["final_decision"] = "I wait. I see."
    space.write("decisions", rows, "CHAR_01")
    assert actions() == {"CHAR_01": "kept", "CHAR_02": "up to date"}
    assert next(space.rows("decisions", "CHAR_01"))["final_decision"] == "I wait. I see."
    assert actions("--fresh", "--char", "CHAR_01") == {"CHAR_01": "built"}
    assert space.path("decisions", "CHAR_01").read_bytes() == first


def test_a_scenario_without_a_blueprint_is_named_with_what_to_do(space, capsys, tmp_path):
    mine = tmp_path / "mine.toml"
    mine.write_text(
        '[[blueprint]]\nstage = "adolescence"\nnumber = 21\nbased_on = "SCN_ADOLESCENCE_1"\nname = "Later"\n', "utf-8"
    )
    from builders.activations import step as activations
    from builders.scenarios import step as scenarios

    root = ["--workspace", str(space.folder.parent), "--quiet"]
    kept = {path: path.read_bytes() for path in space.folder.rglob("*") if path.is_file()}
    assert scenarios.main([*root, "--blueprints", str(mine)]) == 0
    assert activations.main([*root, "--char", "CHAR_01", "--workers", "1"]) == 0
    assert decisions.main([*root, "--char", "CHAR_01"]) == 2
    assert "scenario without a blueprint" in capsys.readouterr().err
    assert decisions.main([*root, "--char", "CHAR_01", "--blueprints", str(mine)]) == 0
    for path, content in kept.items():
        path.write_bytes(content)
