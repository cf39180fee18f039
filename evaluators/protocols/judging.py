"""How near an imagined decision comes to the character's own: five parts, 0 to 5 each, by a model or by words.

The judge sees the scenario, the gold and the answer, no traits. ``offline:words`` is the floor: the share of
words in common (F1 over stems of what carries meaning), put on the same scale. A score that is no whole
number from 0 to 5 is unscored, never 0. The published evaluator reports the mean of the four parts of the
narrative over 5 (CD-HL); the decision is judged too and reported apart.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from evaluators.protocols.prompting import PROMPTS, situation
from evaluators.scoring.agreement import agree, spearman
from evaluators.scoring.statistics import share
from models.prompts import load
from models.request import Request
from schemas.errors import RequestError
from schemas.tables import Row

NARRATIVE = ("summary", "emotional_tone", "core_reasoning", "value_orientation")
FIELDS = (*NARRATIVE, "final_decision")
MOST = 5
OFFLINE = ("words",)

_COLUMNS = ("question_id", "field", "rater", "score")
_SMALL = 4  # letters of a word that carries little
_WORD = re.compile(r"[a-z']+")

Scores = dict[str, int]
Text = Mapping[str, str]


def gold_of(decision: Row) -> dict[str, str]:
    """The five parts of a character's own decision."""
    return {**decision["inner_consciousness"], "final_decision": decision["final_decision"]}


def answer_schema() -> dict[str, Any]:
    """The JSON Schema of an imagined decision."""
    return _object({field: {"type": "string", "minLength": 1} for field in FIELDS})


def judge_request(name: str, scenario: Row, gold: Text, answer: Text) -> Request:
    """The request that has an answer judged."""
    prompt = load(PROMPTS / "judge.md")
    told = prompt.render(situation=situation(scenario), gold=_told(gold), imagined=_told(answer))
    return Request(
        id=f"{name}/judge",
        role="judge",
        fixed=told.fixed,
        prompt=told.prompt,
        prompt_id=f"{prompt.id}@{prompt.version}",
        prompt_digest=prompt.digest,
        compose=lambda: by_words(gold, answer),
        schema=_object({field: {"type": "integer", "minimum": 0, "maximum": MOST} for field in FIELDS}),
        max_tokens=256,
        temperature=0.0,
    )


def by_words(gold: Text, answer: Text) -> Scores:
    """The offline judge: words in common, 0 none, 5 all."""
    return {field: round(MOST * _overlap(gold[field], answer[field])) for field in FIELDS}


def _overlap(one: str, two: str) -> float:
    first, second = _stems(one), _stems(two)
    common = sum((first & second).values())
    return 2 * common / (sum(first.values()) + sum(second.values())) if common else 0.0


def _stems(text: str) -> Counter[str]:
    return Counter(word[:6] for word in _WORD.findall(text.casefold()) if len(word) >= _SMALL)


def figures(items: Sequence[Mapping[str, Any]], ratings: Sequence[Mapping[str, Any]] | None) -> dict[str, Any]:
    """Means of what was scored; ``narrative`` is the mean of four parts over 5. None where nothing was."""
    states = Counter(item["state"] for item in items)
    scored = [item["scores"] for item in items if item["state"] == "scored"]

    return {
        "questions": len(items),
        "states": {state: states[state] for state in ("scored", "unscored", "failed")},
        "scored": asdict(share(states["scored"], len(items))),
        "fields": {field: _mean(scored, [field]) for field in FIELDS},
        "narrative": _narrative(scored),
        "by_character": {
            name: _narrative([item["scores"] for item in items if item["character_id"] == name and item["scores"]])
            for name in sorted({item["character_id"] for item in items})
        },
        "people": None if ratings is None else agreement_with_people(items, ratings),
    }


def _mean(scored: Sequence[Scores], fields: Sequence[str]) -> float | None:
    values = [scores[field] for scores in scored for field in fields]
    return round(sum(values) / len(values), 4) if values else None


def _narrative(scored: Sequence[Scores]) -> float | None:
    values = [scores[field] for scores in scored for field in NARRATIVE]
    return round(sum(values) / len(values) / MOST, 4) if values else None


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


def read_ratings(path: Path) -> list[dict[str, Any]]:
    """People's ratings: CSV with ``question_id, field, rater, score``. Raises RequestError naming line and column."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            reader = csv.DictReader(lines)
            missing = [name for name in _COLUMNS if name not in (reader.fieldnames or ())]
            if missing:
                raise RequestError(
                    "ratings without a column", path, field=", ".join(missing), expected=", ".join(_COLUMNS)
                )
            return [_rating(row, f"{path}:{number}") for number, row in enumerate(reader, 2)]
    except FileNotFoundError:
        raise RequestError("missing ratings", path, mend="Check the path") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise RequestError("malformed ratings", path, expected=f"CSV in UTF-8 ({error})") from None


def _rating(row: Mapping[str, str], where: str) -> dict[str, Any]:
    if row["field"] not in FIELDS:
        raise RequestError(f"unknown field {row['field']!r}", where, expected=", ".join(FIELDS))
    score = (row["score"] or "").strip()
    if score not in {str(number) for number in range(MOST + 1)}:
        raise RequestError(f"bad score {score!r}", where, field="score", expected=f"a whole number from 0 to {MOST}")
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
