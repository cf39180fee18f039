"""The audit of user memories finds target gold and target text, and nothing in memories that the builder makes."""

import copy
import functools
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from persturn_samples import built_rows

from audits import audit, not_checked
from audits.__main__ import main
from audits.codes import select
from builders.user_memories.prose import prose_of
from builders.user_memories.sources import sources_of
from builders.user_memories.step import memory_rows
from schemas.tables import term_ids
from schemas.workspace import Workspace

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
    return [(finding.code, finding.row_id, finding.field) for finding in audit("user_memories", rows, built_rows())]


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


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    root = tmp_path_factory.mktemp("memories")
    space = Workspace(root, "persturn")
    for table, rows in {**built_rows(), "user_memories": memories()}.items():
        filed = space.benchmark.table(table).file is not None
        for key in sorted({row["rater_id"] for row in rows}) if filed else ["all"]:
            own = [row for row in rows if key in (row["rater_id"], "all")]
            space.write(table, own, key)
    return root


def command(workspace, capsys, *words):
    code = main(["--benchmark", "persturn", "--table", "user_memories", "--json", *map(str, words)])
    return code, json.loads(capsys.readouterr().out)


def test_the_command_finds_a_planted_leak_and_nothing_else(workspace, tmp_path, capsys):
    code, said = command(workspace, capsys, "--workspace", workspace)
    assert (code, said["findings"], said["rows"]) == (0, [], 48)
    rows = copy.deepcopy(memories())
    target = next(
        c
        for c in built_rows()["conversations"]
        if (c["rater_id"], c["task"]) == (rows[5]["rater_id"], rows[5]["target_task"])
    )
    rows[5]["scoring_style"] += f" {target['messages'][0]['content']} {target['messages'][1]['content']}"
    leaked = tmp_path / "leaked.jsonl"
    leaked.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    code, said = command(workspace, capsys, "--rows", leaked, "--workspace", workspace)
    assert code == 1 and [f["code"] for f in said["findings"]] == ["memory.target_text"]
    assert (
        said["findings"][0]["row_id"] == f"{rows[5]['rater_id']}/{rows[5]['target_task']}/{rows[5]['memory_version']}"
    )


def test_memories_without_their_raters_rows_are_counted_as_not_checked():
    wanted = select("user_memories", None)
    assert not_checked("user_memories", memories(), {}, wanted) == [
        "figures not checked: 48 of 48 memories have no ratings of their rater here",
        "words not checked: 48 of 48 memories have no conversations of their rater here",
    ]
    assert audit("user_memories", memories(), {}) == []


@pytest.mark.parametrize("field", ["score_distribution", "n_history_turns", "task_specific_observations", "rater_id"])
@pytest.mark.parametrize("value", [None, 7, "text", [3], {"task_name": []}])
def test_a_malformed_memory_is_a_finding_and_never_an_error(field, value):
    row = {**memories()[0], field: value}
    codes = {finding.code.partition(".")[0] for finding in audit("user_memories", [row], built_rows())}
    assert codes <= {"format", "memory"}
