"""The audit of user memories finds target gold and target text, and nothing in memories that the builder makes."""

import copy
import functools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from persturn_samples import built_rows

from audits.checks.user_memories import audit
from builders.user_memories.prose import prose_of
from builders.user_memories.sources import sources_of
from builders.user_memories.step import memory_rows
from schemas.tables import term_ids

TASKS = term_ids("planning_tasks")


@functools.cache
def memories():
    rows, found = built_rows(), []
    for rater in rows["raters"]:
        own = [[row for row in rows[t] if row["rater_id"] == rater["rater_id"]] for t in ("conversations", "ratings")]
        for task in TASKS:
            sources = sources_of(task, *own)
            found += memory_rows(sources, prose_of(sources), None)
    return found


def findings(rows):
    return [(finding.code, finding.row_id, finding.field) for finding in audit(rows, built_rows())]


def test_memories_of_the_builder_have_no_finding():
    assert len(memories()) == 2 * 4 * 6
    assert findings(memories()) == []


@given(st.integers(0, 47), st.integers(0, 10_000), st.sampled_from(["scoring_style", "user_specific_requirements"]))
@settings(max_examples=25, deadline=None)
def test_eight_words_of_a_target_conversation_are_found_wherever_they_stand(place, start, field):
    row = copy.deepcopy(memories()[place])
    own = [c for c in built_rows()["conversations"] if c["rater_id"] == row["rater_id"]]
    target = next(c for c in own if c["task"] == row["target_task"])
    # No source conversation has this sentence, so it can only come from the target task.
    words = f"{target['task_context']} {target['messages'][1]['content']}".split()
    quoted = " ".join(words[start % max(1, len(words) - 30) :][:30])
    row[field] = f"{row[field]} {quoted}" if field == "scoring_style" else [quoted]
    assert ("memory.target_text", f"{row['rater_id']}/{row['target_task']}/{row['memory_version']}", field) in findings(
        [row]
    )


def test_figures_of_all_tasks_are_target_gold_and_other_wrong_figures_are_named():
    row = copy.deepcopy(memories()[0])
    scores = [r["score"] for r in built_rows()["ratings"] if r["rater_id"] == row["rater_id"]]
    row["n_history_turns"], row["avg_satisfaction_score"] = len(scores), round(sum(scores) / len(scores), 4)
    row["score_distribution"] = {f"score_{score}": scores.count(score) for score in range(1, 6)}
    assert [code for code, *_ in findings([row])] == ["memory.target_gold"]
    row["avg_satisfaction_score"] = 4.9
    assert [code for code, *_ in findings([row])] == ["memory.statistics"]


@pytest.mark.parametrize("field", ["source_tasks", "task_specific_observations"])
def test_the_target_task_may_not_be_named_as_a_source(field):
    row = copy.deepcopy(memories()[0])
    task = row["target_task"]
    row[field] = [*row[field][1:], task if field == "source_tasks" else {"task_name": task, "observation": "Likes it."}]
    assert [code for code, *_ in findings([row])] == ["memory.target_task"]
