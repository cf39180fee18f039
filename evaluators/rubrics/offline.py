"""Judges without a model: a ceiling, a known error, and floors. Each answers in the form a rubric asks for.

    exact      what was planted
    noisy      what was planted, moved one level with probability 0.15, "not applicable" mistaken with 0.05
    constant   the middle of the scale, whatever the text says
    random     a value drawn by the seed
    stated     the score that an answer by choice states itself; for rubrics that name the field
    words      words that two texts have in common (F1 over stems), put on the scale; for rubrics that name the texts
    harsh, lenient, flat, fair   what ``satisfaction.planted`` says of a rated turn: planted bias, slope and noise

``exact`` and ``noisy`` need answers whose quality was planted, and so do the judges of the last line, which see quality
but not the rater, unless the rubric shows them a memory. The rest are floors that a model's judging has to clear.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np

from evaluators.rubrics.loading import Part, Rubric
from evaluators.rubrics.verdicts import NA, say_value
from evaluators.scoring.said_rows import planted_in
from schemas.errors import RequestError
from schemas.satisfaction.planted import JUDGES as BIASED_JUDGES
from schemas.satisfaction.planted import PlantedJudge
from schemas.satisfaction.turns import SATISFIED, SCORES

BIASED = {judge.name: judge for judge in BIASED_JUDGES}
JUDGES = ("exact", "noisy", "constant", "random", "stated", "words", *BIASED)
KEYED = ("exact", "noisy", *BIASED)
MOVED, MISTAKEN = 0.15, 0.05

_SMALL = 4  # letters of a word that carries little
_WORD = re.compile(r"[a-z']+")
_QUOTED = 8  # words that an offline judge quotes


@dataclass(frozen=True)
class Planted:
    """What a judge should say of an item: a value of the scale, or None where the rubric does not apply.

    Of a rated turn also its quality as a share of the best, and the mean score in the rater's memory, None without.
    """

    value: float | None
    quality: float | None = None
    memory_mean: float | None = None


def offline_answer(
    judge: str, rubric: Rubric, fields: Mapping[str, str], planted: Mapping[str, Planted], chance: Random
) -> dict[str, Any]:
    """The answer of an offline judge. Raises RequestError where it lacks what it goes by."""
    answer: dict[str, Any] = {}
    for part in rubric.parts:
        value = _value(judge, rubric, part, fields, planted.get(part.name), chance)
        answer[part.name] = NA if value is None else say_value(rubric, value)
        if rubric.evidence:
            answer[f"{part.name}_evidence"] = " ".join(fields[rubric.evidence].split()[:_QUOTED])
    return answer


def noisy_row(rubric: Rubric, value: float) -> dict[float, float]:
    """Probability of each value that the judge ``noisy`` gives where it gives one, for an item planted at ``value``."""
    values = rubric.scale.values
    place = values.index(value)
    near = [values[to] for to in (place - 1, place + 1) if 0 <= to < len(values)]
    return {value: 1 - MOVED, **{to: MOVED / len(near) for to in near}}


def common_words(one: str, two: str) -> float:
    """F1 over stems of the words that carry meaning, 0 to 1."""
    first, second = _stems(one), _stems(two)
    common = sum((first & second).values())
    return 2 * common / (sum(first.values()) + sum(second.values())) if common else 0.0


def planted_of(rubric: Rubric, row: Mapping[str, Any], metric: str) -> tuple[str | None, float | None]:
    """State and value that a judge should give a row, as ``planted_in`` has them, on the rubric's scale.

    A state of None also where a rated turn is judged on another scale than 1 to 5 or two values.
    """
    state, value = planted_in(row, metric)
    if value is None or row.get("quality") is None:
        return state, value
    if rubric.scale.values != SCORES and len(rubric.scale.values) != 2:
        return None, None
    return state, _on_scale(rubric, value)


def middle(rubric: Rubric) -> float:
    """The middle value of a scale."""
    return rubric.scale.values[len(rubric.scale.values) // 2]


def _value(
    judge: str, rubric: Rubric, part: Part, fields: Mapping[str, str], planted: Planted | None, chance: Random
) -> float | None:
    if judge == "constant":
        return middle(rubric)
    if judge == "random":
        return chance.choice(rubric.scale.values)
    if judge == "words":
        return _by_words(rubric, part, fields)
    if judge == "stated":
        return _stated(rubric, fields)
    if planted is None or (judge in BIASED and planted.quality is None):
        raise RequestError(
            f"offline:{judge} without planted quality", rubric.path, expected="answers of an offline subject",
            fix="Judge with a model, or with offline:constant, offline:random",
        )  # fmt: skip
    if judge in BIASED:
        return _biased(BIASED[judge], rubric, planted, chance)
    due = planted.value if planted.quality is None or planted.value is None else _on_scale(rubric, planted.value)
    return due if judge == "exact" else _noisy(rubric, part, due, chance)


def _biased(judge: PlantedJudge, rubric: Rubric, planted: Planted, chance: Random) -> float:
    """The score of a rated turn by a judge with planted bias; one that is shown a memory leans towards the rater."""
    quality = planted.quality if planted.quality is not None else judge.middle
    seen = judge.perceived(np.array([quality]), np.array([chance.gauss(0.0, 1.0)]))
    if planted.memory_mean is not None and any(field.startswith("memory") for field in rubric.fields):
        seen = seen + judge.trust * (planted.memory_mean - SATISFIED)
    return _on_scale(rubric, float(judge.scores(seen)[0]))


def _on_scale(rubric: Rubric, score: float) -> float:
    """A score of a rated turn on the rubric's scale: of two values the upper one where the turn satisfies.

    Raises RequestError for a scale that is neither 1 to 5 nor of two values.
    """
    values = rubric.scale.values
    if values == SCORES:
        return score
    if len(values) == 2:
        return values[score >= SATISFIED]
    raise RequestError(
        "offline judge of rated turns", rubric.path, field="scale", expected="1 to 5, or two labels",
        fix="Judge with a model, or with offline:constant, offline:random",
    )  # fmt: skip


def _noisy(rubric: Rubric, part: Part, value: float | None, chance: Random) -> float | None:
    mistaken = bool(part.not_applicable) and chance.random() < MISTAKEN
    if value is None:
        return middle(rubric) if mistaken else None
    if mistaken:
        return None
    row = noisy_row(rubric, value)
    return chance.choices(list(row), list(row.values()))[0]


def _stated(rubric: Rubric, fields: Mapping[str, str]) -> float:
    if rubric.stated is None or rubric.stated not in fields:
        raise RequestError(
            "offline:stated for answers that state no score", rubric.path,
            expected="answers by choice, and a rubric whose key `stated` names the field",
            fix="Judge with a model",
        )  # fmt: skip
    return float(fields[rubric.stated])


def _by_words(rubric: Rubric, part: Part, fields: Mapping[str, str]) -> float:
    if rubric.words is None:
        raise RequestError(
            "offline:words for a rubric without [words]", rubric.path, expected="the fields that are compared",
            fix="Take another judge",
        )  # fmt: skip
    gold, answer = (fields[rubric.words[name].replace("{score}", part.name)] for name in ("gold", "answer"))
    values = rubric.scale.values
    return values[round((len(values) - 1) * common_words(gold, answer))]


def _stems(text: str) -> Counter[str]:
    return Counter(word[:6] for word in _WORD.findall(text.casefold()) if len(word) >= _SMALL)
