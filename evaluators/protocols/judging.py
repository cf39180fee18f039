"""How near an imagined decision comes to the character's own: five parts, judged by a rubric, by a model or by words.

The rubric is data (``evaluators/rubrics``): the judge sees the scenario, the gold and the answer, no traits.
``offline:words`` is the floor: words in common, put on the same scale. What is no value of the scale is unscored, never
0. The published evaluator reports the mean of the four parts of the narrative over the scale's most (CD-HL); the
decision is judged too and reported apart.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from evaluators.protocols.prompting import situation
from evaluators.rubrics.loading import Rubric, rubrics_of
from evaluators.rubrics.offline import offline_answer
from evaluators.scoring.agreement import agree, spearman
from evaluators.scoring.statistics import share
from releases import Release
from schemas.errors import RequestError
from schemas.tables import Row

NARRATIVE = ("summary", "emotional_tone", "core_reasoning", "value_orientation")
FIELDS = (*NARRATIVE, "final_decision")
OFFLINE = ("words",)

_COLUMNS = ("question_id", "field", "rater", "score")

Scores = dict[str, int]
Text = Mapping[str, str]


def gold_of(decision: Row) -> dict[str, str]:
    """The five parts of a character's own decision."""
    return {**decision["inner_consciousness"], "final_decision": decision["final_decision"]}


def answer_schema() -> dict[str, Any]:
    """The JSON Schema of an imagined decision."""
    return _object({field: {"type": "string", "minLength": 1} for field in FIELDS})


def rubric_for(release: Release) -> Rubric:
    """The rubric of a release's decisions: the one that scores all five parts. Raises RequestError without one."""
    for rubric in rubrics_of(release.name.benchmark):
        if {part.name for part in rubric.parts} == set(FIELDS):
            return rubric
    raise RequestError("no rubric for decisions", release.name, expected=f"one with the scores {', '.join(FIELDS)}")


def fields_of(scenario: Row, gold: Text, answer: Text) -> dict[str, str]:
    """An answer and its gold as a rubric may see them: whole, and part by part."""
    parts = {f"{kind}_{name}": one[name] for kind, one in (("gold", gold), ("imagined", answer)) for name in FIELDS}
    return {"situation": situation(scenario), "gold": _told(gold), "imagined": _told(answer), **parts}


def by_words(rubric: Rubric, fields: Mapping[str, str]) -> dict[str, Any]:
    """The offline judge: words in common."""
    return offline_answer("words", rubric, fields, {}, Random(0))


def figures(
    items: Sequence[Mapping[str, Any]], ratings: Sequence[Mapping[str, Any]] | None, most: int
) -> dict[str, Any]:
    """Means of what was scored; ``narrative`` is the mean of four parts over ``most``.

    ``narrative_all`` counts an answer that the model did not give as one with nothing in common, so that declining
    raises no score; what only the judge failed at is left out of both. None where nothing was."""
    states = Counter(item["state"] for item in items)
    scored = [item["scores"] for item in items if item["state"] == "scored"]

    return {
        "questions": len(items),
        "states": {state: states[state] for state in ("scored", "unscored", "failed")},
        "scored": asdict(share(states["scored"], len(items))),
        "fields": {field: _mean(scored, [field]) for field in FIELDS},
        "narrative": _narrative(scored, most),
        "narrative_all": _narrative([_counted(item) for item in items if item["scores"] or not item["answer"]], most),
        "by_character": {
            name: _narrative(
                [item["scores"] for item in items if item["character_id"] == name and item["scores"]], most
            )
            for name in sorted({item["character_id"] for item in items})
        },
        "people": None if ratings is None else agreement_with_people(items, ratings),
    }


def _counted(item: Mapping[str, Any]) -> Scores:
    """An item's scores; the lowest of the scale where the model gave no answer that could be judged."""
    return item["scores"] or dict.fromkeys(FIELDS, 0)


def _mean(scored: Sequence[Scores], fields: Sequence[str]) -> float | None:
    values = [scores[field] for scores in scored for field in fields]
    return round(sum(values) / len(values), 4) if values else None


def _narrative(scored: Sequence[Scores], most: int) -> float | None:
    values = [scores[field] for scores in scored for field in NARRATIVE]
    return round(sum(values) / len(values) / most, 4) if values else None


def agreement_with_people(
    items: Sequence[Mapping[str, Any]], ratings: Sequence[Mapping[str, Any]]
) -> dict[str, dict[str, Any]]:
    """Field -> how the judge agrees with the mean of people's ratings: kappa, Spearman, distance, exact share."""
    judged = {item["question_id"]: item["scores"] for item in items if item["state"] == "scored"}
    said: dict[str, dict[str, list[int]]] = {field: {} for field in FIELDS}
    for rating in ratings:
        if rating["question_id"] in judged:
            said[rating["field"]].setdefault(rating["question_id"], []).append(rating["score"])
    made = {}
    for field, by_question in said.items():
        people = {name: sum(scores) / len(scores) for name, scores in by_question.items()}
        found = agree(
            np.array([round(value) for value in people.values()], np.float64),
            np.array([judged[name][field] for name in people], np.float64),
        )
        apart = [abs(judged[name][field] - value) for name, value in people.items()]
        made[field] = {
            "items": len(people),
            "ratings": sum(map(len, by_question.values())),
            "kappa": found.kappa,
            "spearman": spearman([judged[name][field] for name in people], list(people.values())),
            "distance": round(sum(apart) / len(apart), 4) if apart else None,
            "exact": found.exact,
        }
    return made


def read_ratings(path: Path, rubric: Rubric) -> list[dict[str, Any]]:
    """People's ratings: CSV with ``question_id, field, rater, score``. Raises RequestError naming line and column."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            reader = csv.DictReader(lines)
            missing = [name for name in _COLUMNS if name not in (reader.fieldnames or ())]
            if missing:
                raise RequestError(
                    "ratings without a column", path, field=", ".join(missing), expected=", ".join(_COLUMNS)
                )
            return [_rating(row, f"{path}:{number}", rubric) for number, row in enumerate(reader, 2)]
    except FileNotFoundError:
        raise RequestError("missing ratings", path, fix="Check the path") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise RequestError("malformed ratings", path, expected=f"CSV in UTF-8 ({error})") from None


def _rating(row: Mapping[str, str], where: str, rubric: Rubric) -> dict[str, Any]:
    if row["field"] not in FIELDS:
        raise RequestError(f"unknown field {row['field']!r}", where, expected=", ".join(FIELDS))
    score = (row["score"] or "").strip()
    scale = rubric.scale
    if score not in {f"{value:g}" for value in scale.values}:
        raise RequestError(f"bad score {score!r}", where, field="score", expected=scale.told())
    return {"question_id": row["question_id"], "field": row["field"], "rater": row["rater"], "score": int(score)}


def _told(parts: Text) -> str:
    return "\n\n".join(f"{field}: {parts[field]}" for field in FIELDS)


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(properties),
        "properties": dict(properties),
    }
