"""Memories hold exact figures of the source turns and nothing of the target task, whoever writes the prose."""

import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from persturn_samples import built_rows

from builders.pipeline.streams import Streams
from builders.user_memories.briefing import memory_request
from builders.user_memories.prose import prose_of
from builders.user_memories.sources import Sources, sources_of
from builders.user_memories.statistics import evidence_of, statistics_of
from builders.user_memories.step import memory_rows, of_rater
from models.offline import drive
from schemas.benchmarks import benchmark
from schemas.errors import RequestError
from schemas.tables import term_ids
from validators.records import failures

TASKS = term_ids("planning_tasks")
STREAMS = Streams(7, "persturn")


def own_rows(rater_id="R001"):
    rows = copy.deepcopy(built_rows())
    return [[row for row in rows[table] if row["rater_id"] == rater_id] for table in ("conversations", "ratings")]


def made(task, conversations, ratings):
    sources = sources_of(task, conversations, ratings)
    request = memory_request(sources, "a profile", STREAMS)
    return memory_rows(sources, prose_of(sources), None), (request.fixed, request.prompt)


@given(st.sampled_from(TASKS), st.integers(1, 5), st.text(min_size=1, max_size=40))
@settings(max_examples=25, deadline=None)
def test_no_target_text_and_no_target_gold_changes_a_memory_or_what_is_asked_for_it(task, score, words):
    conversations, ratings = own_rows()
    before = made(task, conversations, ratings)
    for row in conversations:
        if row["task"] == task:
            row["task_context"] = words
            for message in row["messages"]:
                message["content"] = words
    for row in ratings:
        if row["task"] == task:
            row["score"], row["reason"] = score, "satisfied" if score >= 4 else "other"
    assert made(task, conversations, ratings) == before


def test_sources_refuse_a_row_of_the_target_task_of_another_rater_and_none():
    conversations, ratings = own_rows()
    rated = {row["sample_id"]: row for row in ratings}
    with pytest.raises(RequestError, match="row of the target task"):
        Sources("R001", "gift", conversations, {})
    with pytest.raises(RequestError, match="row of the target task"):
        Sources("R001", "gift", [], rated)
    with pytest.raises(RequestError, match="row of another rater"):
        Sources("R002", "gift", [row for row in conversations if row["task"] != "gift"], {})
    with pytest.raises(RequestError, match="no source turn"):
        Sources("R001", "gift", [], {})
    assert sources_of("gift", [r for r in conversations if r["task"] == "gift"], ratings) is None


def test_figures_are_counted_from_all_source_turns():
    conversations, ratings = own_rows()
    scores = [row["score"] for row in ratings if row["task"] != "travel"]
    found = statistics_of(sources_of("travel", conversations, ratings))
    assert found["n_history_turns"] == len(scores) == sum(found["score_distribution"].values())
    assert found["avg_satisfaction_score"] == pytest.approx(sum(scores) / len(scores), abs=5e-5)
    assert found["n_history_sessions"] == sum(row["task"] != "travel" for row in conversations)
    assert found["source_tasks"] == ["gift", "recipe", "skill"]


@pytest.mark.parametrize(
    ("scores", "style", "level", "three_four", "four_five"),
    [
        ([5, 5, 5, 4], "lenient", "none", False, True),
        ([4, 4, 4, 5, 3], "medium", "sparse", True, True),
        ([5] * 5 + [3, 3, 2, 2], "strict-ish", "moderate", False, False),
        ([4, *[3] * 9], "strict", "rich", True, False),
    ],
)
def test_v3_says_how_much_evidence_there_is(scores, style, level, three_four, four_five):
    conversations, ratings = own_rows()
    kept = [
        {**row, "score": score} for row, score in zip((r for r in ratings if r["task"] != "gift"), scores, strict=False)
    ]
    assert evidence_of(sources_of("gift", conversations, kept)) == {
        "calibration_summary": style, "can_compare_3_vs_4": three_four, "can_compare_4_vs_5": four_five,
        "low_score_evidence_level": level,
    }  # fmt: skip


def test_both_versions_of_every_memory_fit_their_record_and_share_their_figures():
    conversations, ratings = own_rows()
    rater = built_rows()["raters"][0]
    sources = [sources_of(task, conversations, ratings) for task in TASKS]
    rows, failed = drive(of_rater(rater, sources, STREAMS, "offline"))
    assert not failed
    assert failures(benchmark("persturn").table("user_memories"), rows) == []
    for v2, v3 in zip(rows[::2], rows[1::2], strict=True):
        assert (v2["memory_version"], v3["memory_version"]) == ("v2", "v3")
        assert v2["score_distribution"] == v3["score_distribution"]
        assert v2["calibration_summary"] is v2["evidence_notes"] is None
        assert v3["calibration_summary"] and v3["evidence_notes"]
