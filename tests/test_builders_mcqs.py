"""Questions: balanced letters and sources, no fingerprint of the opposite pole, too few distractors named."""

import functools
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import orjson
import pytest
from builder_samples import HEART, memories_of, streams

from audits.shortcuts import command as shortcuts
from audits.shortcuts.questions import poles
from audits.shortcuts.report import measure
from builders.importers.__main__ import main as import_dataset
from builders.mcqs import step as mcqs
from builders.mcqs.distractors import TOO_CLOSE, Pool, apart, balanced, opposites, screened
from builders.mcqs.published import published
from builders.mcqs.step import LETTERS, assemble, filtered
from builders.offline.choices.decisions import decide
from builders.personas import load_characters
from builders.scenarios.blueprints import load_blueprints
from builders.scenarios.step import expand
from evaluators.protocols.bench import Bench, Memory, Question
from evaluators.protocols.reader import Reader
from models.offline import drive
from models.request import Reply
from schemas.benchmarks import benchmark
from schemas.records import vocabulary
from schemas.workspace import Workspace
from validators.records import failures


@functools.cache
def remembered(who):
    """A memory of its own for each scenario: nobody else has the thing that is in it."""
    character = next(each for each in load_characters() if each["character_id"] == who)
    syllables = ("ba", "lo", "ti", "ku", "re", "mi", "so", "da")
    found = []
    for number, memory in enumerate(memories_of(character, len(load_blueprints()))):
        thing = "".join(syllables[int(digit, 8)] for digit in f"{number * 11 + int(who[-2:]):05o}")
        told = f"{memory['content_full']} There was a {thing} on the table."
        found.append({**memory, "triggers": [f"a {thing}", *memory["triggers"][:3]], "content_full": told})
    return found


@functools.cache
def decisions():
    """704 decisions, each composed from the memory that is the character's own in the scenario."""
    rows = []
    for character in load_characters():
        own = remembered(character["character_id"])
        for (name, blueprint), memory in zip(load_blueprints().items(), own, strict=True):
            scenario = expand(name, blueprint)
            said = decide(character, scenario, blueprint, (memory,), HEART)
            rows.append(
                {"character_id": character["character_id"], "scenario_id": name, "stage": scenario["stage"],
                 "inner_consciousness": {part: text for part, text in said.items() if part != "final_decision"},
                 "final_decision": said["final_decision"],
                 "review": {"status": "unreviewed", "annotators": 0, "digest": None},
                 "published": [], "provenance": None}
            )  # fmt: skip
    return rows


@functools.cache
def scenarios():
    return {name: {**expand(name, blueprint), "provenance": None} for name, blueprint in load_blueprints().items()}


@functools.cache
def pools():
    return tuple(
        drive(filtered(scenarios()[name], [row for row in decisions() if row["scenario_id"] == name], "heart"))
        for name in scenarios()
    )


@functools.cache
def assembled(rule="balanced", seed=7):
    stages = {name: row["stage"] for name, row in scenarios().items()}
    return assemble(pools(), stages, load_characters(), rule, streams(seed))


@functools.cache
def report():
    questions, keys, _ = assembled()
    return measure(questions, keys, decisions(), poles(load_characters()))


def wrong_of(key):
    return {s["character_id"] for s in key["sources"] if s["label"] != key["answer"]}


def test_every_decision_is_asked_about_once_and_rows_fit_their_schemas():
    questions, keys, findings = assembled()
    assert (len(questions), len(keys), findings) == (704, 704, [])
    assert failures(benchmark("heart").table("mcqs"), questions) == []
    assert failures(benchmark("heart").table("mcq_keys"), keys) == []
    asked = Counter((q["character_id"], q["scenario_id"]) for q in questions)
    assert set(asked.values()) == {1}


def test_options_are_decisions_and_nothing_of_a_question_says_whose():
    text = {(row["character_id"], row["scenario_id"]): row["final_decision"] for row in decisions()}
    for question, key in zip(*assembled()[:2], strict=True):
        for option, source in zip(question["options"], key["sources"], strict=True):
            assert set(option) == {"label", "content"}
            assert option["content"] == text[source["character_id"], question["scenario_id"]]
        right = next(o for o in question["options"] if o["label"] == key["answer"])
        assert right["content"] == text[question["character_id"], question["scenario_id"]]
        assert len(wrong_of(key)) == 3 and question["character_id"] not in wrong_of(key)


def test_letters_are_balanced_over_the_benchmark_and_within_each_scenario():
    questions, keys, _ = assembled()
    assert report().letters.p > 0.5
    for name in scenarios():
        here = Counter(k["answer"] for q, k in zip(questions, keys, strict=True) if q["scenario_id"] == name)
        assert set(here.values()) <= {2, 3} and set(here) == set(LETTERS)


def test_every_source_stands_wrong_three_times_for_each_time_it_is_right():
    _, keys, _ = assembled()
    used = Counter(source for key in keys for source in wrong_of(key))
    assert set(used) == {c["character_id"] for c in load_characters()}
    # Options of one question do different things, which costs a little of the evenness.
    assert max(used.values()) - min(used.values()) <= 0.08 * max(used.values())


def test_the_opposite_pole_is_beside_the_answer_as_often_as_chance_would_have_it():
    questions, keys, _ = assembled()
    opposite = opposites(load_characters())
    polar = [(q, k) for q, k in zip(questions, keys, strict=True) if q["character_id"] in opposite]
    rate = sum(opposite[q["character_id"]] in wrong_of(k) for q, k in polar) / len(polar)
    assert rate == pytest.approx(0.3, abs=0.05)


def test_neither_the_options_alone_nor_whose_they_are_gives_the_answer_away():
    assert report().text.low < 0.25 < report().text.high
    assert report().design.low < 0.25 < report().design.high
    assert report().lengths.longest.rate == pytest.approx(0.25, abs=0.03)
    assert report().findings == ()


def test_what_is_common_in_the_other_questions_of_a_person_gives_little_away():
    for best in (report().transductive, report().clustered, report().keyed):
        assert best.rate < 0.35


def test_options_of_one_question_do_different_things_where_they_can():
    acts = {
        name: [act for c in blueprint["courses"] for act in c["acts"]] for name, blueprint in load_blueprints().items()
    }
    alike = 0
    for question in assembled()[0]:
        done = [act for o in question["options"] for act in acts[question["scenario_id"]] if act in o["content"]]
        alike += len(set(done)) < len(done)
    assert alike < 0.06 * len(assembled()[0])


def test_the_right_option_is_as_often_the_longest_and_the_most_like_the_others_as_any_option():
    for measured in (report().lengths.longest, report().lengths.shortest, report().middle):
        assert measured.rate == pytest.approx(0.25, abs=0.02)


def question_of(row):
    options, scenario = row["options"], scenarios()[row["scenario_id"]]
    labels, texts = (tuple(option[part] for option in options) for part in ("label", "content"))
    who, name = row["character_id"], row["question_id"]
    return Question(name, who, scenario["id"], row["stage"], scenario["age"], labels, texts)


def test_who_reads_the_memories_finds_the_answer_far_more_often_than_chance():
    found = [question_of(row) for row in assembled()[0]]
    by_person = {
        c["character_id"]: tuple(
            Memory(m["id"], 6, m["timeline"], m["context"], m["content_summary"], m["content_full"])
            for m in remembered(c["character_id"])
        )
        for c in load_characters()
    }
    reader = Reader(Bench(SimpleNamespace(tables={}), tuple(found), scenarios(), {}, by_person))
    keys = {key["question_id"]: key["answer"] for key in assembled()[1]}
    hits = sum(q.labels[int(np.argmax(reader.scores(q)))] == keys[q.id] for q in found)
    assert hits / len(found) > 0.4


def test_the_published_rule_has_the_fingerprint_and_says_so_in_the_key():
    questions, keys, _ = assembled("published")
    opposite = opposites(load_characters())
    polar = [(q, k) for q, k in zip(questions, keys, strict=True) if q["character_id"] in opposite]
    assert sum(opposite[q["character_id"]] in wrong_of(k) for q, k in polar) / len(polar) > 0.5
    assert {key["rule"] for key in keys} == {"published"}


def test_the_same_seed_gives_the_same_questions_and_another_seed_another_order():
    assert (
        assembled()[0]
        == assemble(pools(), {n: s["stage"] for n, s in scenarios().items()}, load_characters(), "balanced", HEART)[0]
    )
    assert assembled()[0] != assembled(seed=8)[0]


def test_the_order_of_a_question_does_not_depend_on_the_other_questions():
    stages = {name: row["stage"] for name, row in scenarios().items()}
    alone = assemble(pools()[:1], stages, load_characters(), "balanced", HEART)[0]
    assert [q["question_id"] for q in alone] == [q["question_id"] for q in assembled()[0][: len(alone)]]


def test_an_edited_decision_changes_no_other_scenario():
    stages = {name: row["stage"] for name, row in scenarios().items()}
    first, *rest = pools()[:6]
    texts = {**first.texts, "CHAR_03": "I choose to wait. I wait until they have gone, and then I go home."}
    edited = [replace(first, texts=texts), *rest]
    before = {q["question_id"]: q for q in assemble([first, *rest], stages, load_characters(), "balanced", HEART)[0]}
    after = {q["question_id"]: q for q in assemble(edited, stages, load_characters(), "balanced", HEART)[0]}
    changed = {before[name]["scenario_id"] for name in before if before[name] != after[name]}
    assert changed == {first.scenario_id}


def test_nearly_equal_decisions_are_never_options_of_one_question():
    whole = pool(7)
    near = "I choose to wait at the door until the rain is over. I hold it open for whoever comes"
    texts = {**whole.texts, "CHAR_02": f"{near}.", "CHAR_05": f"{near}!", "CHAR_06": f"{near} in."}
    (told,) = apart([replace(whole, texts=texts)])
    assert told.twins["CHAR_02"] == {"CHAR_05", "CHAR_06"} and "CHAR_02" not in told.usable["CHAR_05"]
    for (_, target), wrong in balanced([told], {}, HEART).items():
        assert len({target, *wrong} & {"CHAR_02", "CHAR_05", "CHAR_06"}) <= 1


# Filters


def test_a_decision_that_is_the_same_or_out_of_place_is_not_offered():
    target = "I stay with the animals. I fill both bowls to the line."
    others = [
        "I stay with the animals. I fill both bowls to the line!",
        "I run to the field. I fill my pockets with grass.",
        "Zebra quantum.",
    ]
    assert screened(target, others) == ([0], [2])
    assert TOO_CLOSE < 1


def pool(count, usable=None):
    sources = tuple(f"CHAR_{n:02d}" for n in range(1, count + 1))
    texts = {who: f"I choose {n}. I do thing {n * 7}." for n, who in enumerate(sources)}
    found = usable or {who: frozenset(sources) - {who} for who in sources}
    return Pool("SCN_ADOLESCENCE_1", sources, texts, found)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_fewer_than_four_decisions_make_no_question_and_each_is_named(count):
    questions, keys, findings = assemble(
        [pool(count)], {"SCN_ADOLESCENCE_1": "adolescence"}, load_characters(), "balanced", HEART
    )
    assert (questions, keys) == ([], [])
    assert [found.row_id for found in findings] == [f"CHAR_{n:02d}/SCN_ADOLESCENCE_1" for n in range(1, count + 1)]


def test_one_with_too_few_usable_is_named_and_the_others_are_asked():
    whole = pool(5)
    few = {**whole.usable, "CHAR_01": frozenset({"CHAR_02", "CHAR_03"})}
    for rule in mcqs.RULES:
        questions, _, findings = assemble(
            [pool(5, few)], {"SCN_ADOLESCENCE_1": "adolescence"}, load_characters(), rule, HEART
        )
        assert len(questions) == 4 and [found.row_id for found in findings] == ["CHAR_01/SCN_ADOLESCENCE_1"]


def test_no_rule_ever_takes_what_the_filters_left_out():
    whole = pool(7)
    usable = {who: frozenset(sorted(others)[:4]) for who, others in whole.usable.items()}
    for chosen in (balanced([pool(7, usable)], {}, HEART), published([pool(7, usable)], load_characters())):
        assert len(chosen) == 7
        assert all(set(sources) <= usable[target] and len(set(sources)) == 3 for (_, target), sources in chosen.items())


def test_an_unanswered_filter_is_a_failure_and_numbers_out_of_range_change_nothing():
    rows = decisions()[::64][:5]
    chain = filtered(scenarios()[rows[0]["scenario_id"]], rows, "heart")
    next(chain)
    with pytest.raises(StopIteration) as done:
        chain.send(Reply("failed", reason="down"))
    assert done.value.value.reason == "down"
    chain, reply = filtered(scenarios()[rows[0]["scenario_id"]], rows, "heart"), None
    with pytest.raises(StopIteration) as done:
        while True:
            chain.send(reply)
            reply = Reply("answered", {"same": [99, 0, -1, 1], "unrelated": []}, model="m")
    assert {len(usable) for usable in done.value.value.usable.values()} == {3}


# The command


@pytest.fixture
def space(tmp_path):
    made = Workspace(tmp_path, "heart")
    made.write("characters", load_characters())
    made.write("scenarios", list(scenarios().values())[:8])
    for character in load_characters():
        who = character["character_id"]
        names = set(list(scenarios())[:8])
        made.write("decisions", [r for r in decisions() if r["character_id"] == who and r["scenario_id"] in names], who)
    return made


def call(space, capsys, *words):
    capsys.readouterr()
    code = mcqs.main(["--workspace", str(space.folder.parent), "--json", *words])
    return code, orjson.loads(capsys.readouterr().out)


def test_the_command_does_nothing_twice_and_assembles_again_when_a_decision_is_edited(space, capsys):
    assert call(space, capsys)[0] == 0
    assert {each["action"] for each in call(space, capsys)[1]["outcomes"]} == {"up to date"}
    rows = list(space.rows("decisions", "CHAR_05"))
    rows[0]["final_decision"] = "I choose to call the others in. I wave at them, and wait until all are there."
    space.write("decisions", rows, "CHAR_05")
    assert {each["action"] for each in call(space, capsys)[1]["outcomes"]} == {"built"}
    options = [o["content"] for q in space.rows("mcqs") for o in q["options"]]
    assert options.count(rows[0]["final_decision"]) == 4


def test_too_few_decisions_for_a_scenario_are_named_with_exit_code_1_also_the_second_time(space, capsys):
    name = next(iter(scenarios()))
    for who in space.keys("decisions")[3:]:
        space.write("decisions", [r for r in space.rows("decisions", who) if r["scenario_id"] != name], who)
    for _ in range(2):
        code, document = call(space, capsys)
        assert code == 1 and document["left_out"] == [f"CHAR_{n:02d}/{name}" for n in (1, 2, 3)]
    assert not [q for q in space.rows("mcqs") if q["scenario_id"] == name]


@pytest.fixture(scope="module")
def published_and_ours(shared, tmp_path_factory):
    """A workspace with the published questions and ours of the same decisions, and what both measure."""
    root = tmp_path_factory.mktemp("reassembled")
    import_dataset(["heart", "--from", str(shared / "data/heart"), "--workspace", str(root), "--quiet"])
    words = ["--decisions-of", "heart-published", "--benchmark", "heart-reassembled", "--workspace", str(root)]
    assert mcqs.main([*words, "--quiet"]) == 0
    return root, measured(root, "heart-published"), measured(root, "heart-reassembled")


def test_questions_from_the_published_decisions_lose_the_published_shortcuts(published_and_ours):
    _, theirs, ours = published_and_ours
    assert ours.questions == theirs.questions == 673
    assert ours.letters.p > max(0.5, theirs.letters.p)
    assert ours.sources.p > 0.5 > 1e-9 > theirs.sources.p
    for name in ("poles", "design", "middle"):
        assert off(getattr(ours, name)) < off(getattr(theirs, name)) / 5, name
    for name in ("longest", "shortest"):
        assert off(getattr(ours.lengths, name)) < off(getattr(theirs.lengths, name)), name
    assert ours.text.low < 0.25 < ours.text.high
    for name in ("transductive", "clustered", "keyed"):
        assert off(getattr(ours, name)) < off(getattr(theirs, name)), name
    # No choice of distractors takes a way of speaking out of the decisions themselves.
    assert {found.code for found in ours.findings} == {"shortcut.person", "shortcut.transductive", "shortcut.keyed"}


def off(rate):
    return abs(rate.rate - rate.chance)


def test_the_page_on_the_reassembled_questions_shows_what_the_commands_print(published_and_ours, capsys):
    root, theirs, ours = published_and_ours
    shortcuts.main(["--benchmark", "heart-reassembled", "--workspace", str(root)])
    printed = set(map(str.rstrip, capsys.readouterr().err.splitlines()))
    page = Path(__file__).resolve().parents[1].joinpath("docs/reassembled.md").read_text("utf-8")
    (block,) = re.findall(r"```text\n(.*?)```", page, re.DOTALL)
    assert {line.rstrip() for line in block.splitlines()} - printed == set()
    for measures in (ours, theirs):
        for told in rates(measures):
            assert f"| {told.rate:.1%} | {off(told) * 100:.1f} |".replace("%", " %") in page


def rates(report):
    lengths = report.lengths
    return lengths.longest, lengths.shortest, report.poles, report.design, report.middle, report.text, *others(report)


def others(report):
    return report.transductive, report.clustered, report.keyed


def measured(root, name):
    rows = Workspace(root, name).rows
    known = poles(vocabulary("published_characters"), key="id")
    return measure(rows("mcqs"), rows("mcq_keys"), rows("decisions"), known)
