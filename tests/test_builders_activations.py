"""Activation: nothing of the future, the budget of the paper, fifty or all, and what a ranker says is checked."""

import functools

import numpy as np
import orjson
import pytest
from builder_samples import memories_of, run_in, workspace
from hypothesis import given
from hypothesis import strategies as st

from builders.activations import step as activations
from builders.activations.recall import TARGET, Pair, activate, batch_budget, budget_ratio
from builders.activations.recollection import Recollection
from builders.offline.choices.association import Associations, rank
from builders.personas import load_characters
from builders.scenarios.blueprints import load_blueprints
from builders.scenarios.step import expand
from models.offline import drive
from models.request import Reply
from schemas.benchmarks import benchmark
from schemas.tables import term_ids
from validators import check
from validators.records import failures

CHARACTER = load_characters()[3]


@functools.cache
def memories(count=400):
    return tuple(memories_of(CHARACTER, count))


@functools.cache
def scenarios():
    return {name: expand(name, blueprint) for name, blueprint in load_blueprints().items()}


def pair(scenario="SCN_AGE_30_TRANSITION_1", rows=None):
    return Pair(CHARACTER, scenarios()[scenario], tuple(memories() if rows is None else rows))


def activated(one):
    found, failed = drive(activate(one, Recollection(CHARACTER, one.memories, "heart"), 7, "offline"))
    assert failed == []
    return found


def answering(one, answer):
    """Drive a pair's chain; ``answer`` changes what the offline scorer would say. Returns rows, failures, requests."""
    chain = activate(one, Recollection(CHARACTER, one.memories, "heart"), 7, "messages")
    asked, reply = [], None
    try:
        while True:
            request = chain.send(reply)
            asked.append(request)
            reply = answer(request)
    except StopIteration as done:
        return *done.value, asked


def ids(row):
    return [item["memory_id"] for item in row["memories"]]


# The budget


@pytest.mark.parametrize(("eligible", "offered", "budget"), [(100, 21, 10), (244, 27, 8), (298, 27, 7), (895, 15, 1)])
def test_the_budget_of_a_year_is_that_of_the_released_runs(eligible, offered, budget):
    assert batch_budget(offered, budget_ratio(eligible)) == budget


@pytest.mark.parametrize(("eligible", "ratio"), [(0, 0.5), (1, 0.5), (150, 0.5), (151, 75 / 151), (1000, 0.075)])
def test_the_ratio_is_half_or_75_of_the_eligible(eligible, ratio):
    assert budget_ratio(eligible) == ratio


@given(st.integers(1, 1000), st.integers(1, 1000))
def test_every_year_may_offer_at_least_one_and_never_more_than_it_has(offered, eligible):
    assert 1 <= batch_budget(offered, budget_ratio(eligible)) <= offered


# What comes up


@pytest.mark.parametrize("name", ["SCN_SCHOOL_AGE_1", "SCN_ADOLESCENCE_3", "SCN_MIDLIFE_TRANSITION_2"])
def test_nothing_from_after_the_scenario_comes_up_whatever_its_label_says(name):
    age = scenarios()[name]["age"]
    mislabelled = [{**row, "stage": "school_age", "timeline": "School age (6)"} for row in memories()]
    for row in activated(pair(name, mislabelled)):
        by_id = {memory["id"]: memory for memory in mislabelled}
        assert row["memories"]
        assert all(by_id[memory]["age"] <= age for memory in ids(row))


@pytest.mark.parametrize("count", [0, 1, 20, 49])
def test_fewer_than_fifty_all_come_up_and_nobody_is_asked(count):
    few = [row for row in memories() if row["age"] <= 30][:count]
    (coarse, fine), failed, asked = answering(pair(rows=few), lambda request: pytest.fail("asked"))
    assert (failed, asked) == ([], [])
    assert ids(coarse) == ids(fine) == [row["id"] for row in few]
    assert (fine["skipped"], coarse["batches"], fine["topped_up"]) == (True, [], 0)


@pytest.mark.parametrize("name", sorted(scenarios())[::9])
def test_exactly_fifty_come_up_or_all_that_the_coarse_step_kept(name):
    coarse, fine = activated(pair(name))
    assert len(ids(fine)) == min(TARGET, len(ids(coarse)))
    assert set(ids(fine)) <= set(ids(coarse)) and len(set(ids(fine))) == len(ids(fine))
    if not fine["skipped"]:
        assert {item["type"] for item in fine["memories"]} <= set(term_ids("activation_types"))


def test_batches_are_years_and_together_offer_all_that_is_eligible():
    coarse, _ = activated(pair())
    ages = [batch["age"] for batch in coarse["batches"]]
    assert ages == sorted(set(ages))
    assert sum(batch["offered"] for batch in coarse["batches"]) == coarse["eligible"]
    assert all(batch["activated"] <= batch["suggested"] for batch in coarse["batches"])


def test_all_six_mechanisms_and_all_six_types_occur():
    found = [activated(pair(name)) for name in sorted(scenarios())[::12]]
    cues = {item["cue"] for coarse, _ in found for item in coarse["memories"]} - {None}  # None: nobody was asked
    assert cues == set(term_ids("cue_mechanisms"))
    assert {item["type"] for _, fine in found for item in fine["memories"] if item["type"]} == set(
        term_ids("activation_types")
    )


def test_rows_fit_their_schema_and_keep_every_rule(small_heart):
    rows = activated(pair())
    assert failures(benchmark("heart").table("activations"), rows) == []
    tables = {
        "activations": rows,
        "memories": list(memories()),
        "scenarios": [{**s, "provenance": None} for s in scenarios().values()],
    }
    report = check(
        benchmark("heart"),
        {**{name: [] for name in small_heart}, **tables, "characters": [CHARACTER]},
        partial=True,
        only={"activations"},
    )
    assert [found for found in report.findings if found.severity == "error"] == []


# What a ranker says is checked


def composed(request):
    return Reply("answered", request.compose(), model="m")


def test_ids_that_were_not_offered_or_come_twice_are_dropped_and_kept_by_name():
    def answer(request):
        reply = composed(request)
        first = reply.answer["activated"][0]
        return Reply(
            "answered", {"activated": [*reply.answer["activated"], {**first, "memory_id": "MEM_99_0001"}, first]}
        )

    (coarse, fine), _, asked = answering(pair(), answer)
    batches = len(asked) - 1
    assert coarse["dropped_ids"].count("MEM_99_0001") == batches
    assert len(coarse["dropped_ids"]) == 2 * batches
    assert len(set(ids(coarse))) == len(ids(coarse)) and "MEM_99_0001" not in ids(coarse)
    assert fine["dropped_ids"][0] == "MEM_99_0001" and len(ids(fine)) == TARGET


def test_a_memory_of_another_year_is_not_taken_from_a_batch():
    future = next(row["id"] for row in memories() if row["age"] == 49)

    def answer(request):
        reply = composed(request)
        kind = "type" if request.id.endswith("fine") else "cue"
        item = {"memory_id": future, kind: "DL" if kind == "type" else "somatic"}
        return Reply("answered", {"activated": [item, *reply.answer["activated"]]})

    (coarse, fine), _, _ = answering(pair(), answer)
    assert future not in ids(coarse) + ids(fine)
    assert future in coarse["dropped_ids"] and future in fine["dropped_ids"]


@pytest.mark.parametrize("named", [0, 7, 49])
def test_a_shortfall_is_topped_up_from_the_coarse_list_and_counted(named):
    def answer(request):
        reply = composed(request)
        if request.id.endswith("fine"):
            return Reply("answered", {"activated": reply.answer["activated"][:named]})
        return reply

    (coarse, fine), _, _ = answering(pair(), answer)
    assert (len(ids(fine)), fine["topped_up"]) == (TARGET, TARGET - named)
    added = fine["memories"][named:]
    assert {item["memory_id"] for item in added} <= set(ids(coarse)) and {item["type"] for item in added} == {None}
    by_id = {memory["id"]: memory["emotion_signature"]["intensity"] for memory in memories()}
    strengths = [by_id[item["memory_id"]] for item in added]
    assert strengths == sorted(strengths, reverse=True)


def test_more_than_fifty_are_cut_to_the_first_fifty():
    coarse, _ = activated(pair())

    def all_of_them(request):
        if request.id.endswith("fine"):
            return Reply("answered", {"activated": [{"memory_id": memory, "type": "CB"} for memory in ids(coarse)]})
        return composed(request)

    (_, fine), _, _ = answering(pair(), all_of_them)
    assert ids(fine) == ids(coarse)[:TARGET] and fine["topped_up"] == 0


@pytest.mark.parametrize("step", ["year", "fine"])
def test_a_pair_with_an_unanswered_request_gives_no_row_and_says_what_failed(step):
    def answer(request):
        if request.id.endswith("fine") == (step == "fine"):
            return Reply("failed", reason="down")
        return composed(request)

    rows, failed, asked = answering(pair(), answer)
    assert rows == [] and [each.request for each in failed] == [asked[-1].id]


def test_a_prompt_holds_no_memory_of_the_future_no_trait_and_no_reference():
    def answer(request):
        text = " ".join((*request.fixed, request.prompt))
        assert not [m["id"] for m in memories() if m["age"] > 31 and m["id"] in text]
        assert "High_" not in text and "trait" not in text.lower().split()
        return composed(request)

    answering(pair(), answer)


# The offline ranker


def test_of_two_memories_that_carry_the_same_thing_the_earlier_is_kept():
    rows = [dict(row) for row in memories()[:80]]
    for field in (
        "content_full",
        "content_summary",
        "psych_conclusion",
        "behavior_policy",
        "triggers",
        "relevance_tags",
    ):
        rows[60][field] = rows[5][field]
    rows[60]["emotion_signature"] = rows[5]["emotion_signature"]
    rows[60]["context"] = rows[5]["context"]
    known = Associations(rows)
    scores = np.ones((len(rows), 6)) * 0.1
    scores[[5, 60]] = 3.0
    chosen = [place for place, _ in rank(known, scores, range(len(rows)), 10)]
    assert chosen[0] == 5 and 60 not in chosen
    assert 60 in [place for place, _ in rank(known, scores, range(len(rows)), len(rows))][-1:]


def test_memories_that_are_all_alike_still_fill_the_fifty():
    alike = [{**memories()[0], "id": f"MEM_04_{n:04d}", "age": 6 + n % 20} for n in range(1, 200)]
    _, fine = activated(pair(rows=alike))
    assert len(ids(fine)) == TARGET


# The command


@pytest.fixture(scope="module")
def space(tmp_path_factory):
    return workspace(tmp_path_factory.mktemp("activations"), load_characters()[:3], 120)


def test_one_worker_and_two_write_the_same_bytes(space):
    written = []
    for workers in (1, 2):
        done = activations.build(run_in(space, fresh=True, workers=workers))
        assert not done.failures and {outcome.action for outcome in done.outcomes} == {"built"}
        written.append([space.path("activations", who).read_bytes() for who in space.keys("activations")])
    assert written[0] == written[1]
    pairs = {(row["character_id"], row["scenario_id"]) for row in space.rows("activations")}
    excluded = {(row["character_id"], row["scenario_id"]) for row in space.rows("exclusions")}
    assert not pairs & excluded and len(pairs) + len(excluded) == 3 * 64


def test_the_command_does_nothing_twice_and_builds_one_character_when_its_memories_change(space, capsys):
    words = ["--workspace", str(space.folder.parent), "--json", "--workers", "1"]

    def actions():
        capsys.readouterr()
        assert activations.main(words) == 0
        return {each["file"]: each["action"] for each in orjson.loads(capsys.readouterr().out)["outcomes"]}

    actions()
    assert set(actions().values()) == {"up to date"}
    space.write("memories", memories_of(load_characters()[1], 121), "CHAR_02")
    assert actions() == {"CHAR_01": "up to date", "CHAR_02": "built", "CHAR_03": "up to date"}


@pytest.mark.parametrize(
    ("words", "said"),
    [(["--char", "CHAR_77"], "unknown character 'CHAR_77'"), (["--workers", "0"], "not a whole number")],
)
def test_a_wrong_argument_is_reported_in_one_line(space, capsys, words, said):
    code = activations.main(["--workspace", str(space.folder.parent), *words])
    err = capsys.readouterr().err
    assert code == 2 and said in err and err.count("\n") == 1


def test_missing_tables_are_named_with_the_command_to_run(tmp_path, capsys):
    assert activations.main(["--workspace", str(tmp_path)]) == 2
    assert "python -m builders.scenarios" in capsys.readouterr().err
