"""Every question as data for the page's script: scenario, options, what was retrieved, what was answered.

They are one compressed block that the page unpacks when somebody comes near it, so that five runs of 687 questions fit
a page of 1.5 MB. The page puts texts in as text, never as markup. Of a memory only the beginning is shown; the release
has the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evaluators.protocols.bench import Bench
from evaluators.protocols.prompting import situation
from evaluators.reporting.choice.runs import Report
from evaluators.reporting.parts import Section, data_block
from evaluators.scoring.results import Result
from schemas.tables import term_ids, vocabulary

_SHOWN = 60  # characters of a memory's beginning
_FORM = Path(__file__).with_name("questions.html")


def browser(report: Report) -> Section:
    """The section in which questions are searched and opened."""
    block = data_block("questions", data(report.bench, report.results, report.names))
    return Section("questions", "Question by question", _FORM.read_text("utf-8") + block)


def data(bench: Bench, results: Sequence[Result], names: Sequence[str]) -> dict[str, Any]:
    """What the script needs; memories once each, by id."""
    labels = {term["id"]: term["label"] for term in vocabulary("scenario_stages")}
    answered = [{item["question_id"]: item for item in result["items"]} for result in results]
    used = {one["id"] for run in answered for item in run.values() for one in item["memories"] if one["text"] is None}
    remembered = [memory for own in bench.memories.values() for memory in own if memory.id in used]
    places = {memory.id: place for place, memory in enumerate(remembered)}
    return {
        "runs": list(names),
        "stages": {stage: labels.get(stage, stage) for stage in term_ids("scenario_stages")},
        "scenarios": {name: {"name": row["name"], "text": situation(row)} for name, row in bench.scenarios.items()},
        "memories": [
            [
                memory.id,
                memory.timeline,
                f"{memory.context}: {memory.summary}",
                memory.text[:_SHOWN] + ("…" if len(memory.text) > _SHOWN else ""),
            ]
            for memory in remembered
        ],
        "questions": [
            {
                "id": question.id,
                "who": question.character_id,
                "scenario": question.scenario_id,
                "stage": question.stage,
                "age": question.age,
                "options": [list(pair) for pair in zip(question.labels, question.texts, strict=True)],
                "gold": next(run[question.id]["gold"] for run in answered if question.id in run),
                "runs": [_answer(run.get(question.id), places) for run in answered],
            }
            for question in bench.questions
            if any(question.id in run for run in answered)
        ],
    }


def _answer(item: Mapping[str, Any] | None, places: Mapping[str, int]) -> dict[str, Any] | None:
    if item is None:
        return None
    return {
        "state": item["state"],
        "choice": item["choice"],
        "right": item["correct"],
        "why": item["reason"],
        "reply": item["reply"],
        "eligible": item["eligible"],
        "memories": [_memory(one, places) for one in item["memories"]],
        "scores": [None if one["score"] is None else round(one["score"], 2) for one in item["memories"]],
    }


def _memory(one: Mapping[str, Any], places: Mapping[str, int]) -> Any:
    """A memory that was retrieved: its place in the list, or its id with the text that was shown instead."""
    return places[one["id"]] if one["text"] is None else [one["id"], one["text"]]
