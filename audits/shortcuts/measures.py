"""What can be counted of questions: letters, lengths, distractors, opposites, who speaks, how often a guess is right.

Rates stand beside their level by chance and a 95 % interval that allows for questions sharing a scenario
(``audits.shortcuts.rates``). HEART-BENCH 3.4 and appendix D.3; the command is ``python -m audits.shortcuts``.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from audits.shortcuts import leaks
from audits.shortcuts.questions import Opposites, Question, texts_of
from audits.shortcuts.rates import Rate, rate
from schemas.evenness import evenness

_SINGULAR = 1e-9
"""Counts add up to a constant: one eigenvalue of their covariance, below this share, is rounding."""


@dataclass(frozen=True)
class Letters:
    """How often each letter is the answer, and the p-value of all being equally likely."""

    counts: dict[str, int]
    chi2: float
    p: float


@dataclass(frozen=True)
class Lengths:
    """How often the longest and the shortest option is right; mean characters of right and wrong options."""

    longest: Rate
    shortest: Rate
    mean_right: float
    mean_wrong: float


@dataclass(frozen=True)
class Sources:
    """How often each character is a distractor, and how often it would be if all candidates were equally likely."""

    counts: dict[str, int]
    expected: dict[str, float]
    evenness: float | None
    chi2: float
    p: float

    def excess(self, name: str) -> float:
        """How much more often a character is a distractor than in a fair draw."""
        return self.counts[name] - self.expected[name]


@dataclass(frozen=True)
class Persons:
    """Distinct option texts: how many open with He, She or They, how many have no word for their speaker."""

    texts: int
    third: int
    speechless: int


def letters(asked: Sequence[Question]) -> Letters:
    """Counts of answers against equally likely letters."""
    from scipy.stats import chi2

    labels = sorted({label for question in asked for label in question.labels})
    seen = Counter(question.labels[question.answer] for question in asked)
    expected = {label: sum(1 / len(q.labels) for q in asked if label in q.labels) for label in labels}
    statistic = math.fsum((seen[label] - expected[label]) ** 2 / expected[label] for label in labels)
    return Letters({label: seen[label] for label in labels}, statistic, float(chi2.sf(statistic, len(labels) - 1)))


def lengths(asked: Sequence[Question]) -> Lengths:
    """How often length alone gives the answer; ties share."""

    def cue(sign: int) -> Rate:
        hits = []
        for question in asked:
            sizes = [sign * len(text) for text in question.texts]
            best = [place for place, size in enumerate(sizes) if size == max(sizes)]
            hits.append((question.answer in best) / len(best))
        return answered(asked, hits)

    right = [len(question.texts[question.answer]) for question in asked]
    both = [len(text) for question in asked for text in question.texts]
    wrong = (sum(both) - sum(right)) / max(len(both) - len(right), 1)
    return Lengths(cue(1), cue(-1), sum(right) / len(right), wrong)


def sources(asked: Sequence[Question]) -> Sources:
    """Counts of distractors against a draw without replacement from each question's candidates."""
    import numpy as np
    from scipy.stats import chi2

    names = sorted({name for question in asked for name in question.offered})
    seen = Counter(name for question in asked for name in question.distractors)
    expected, covariance = np.zeros(len(names)), np.zeros((len(names), len(names)))
    for question in asked:
        places, drawn = [names.index(name) for name in sorted(question.offered)], len(question.distractors)
        share = drawn / len(places)
        expected[places] += share
        if len(places) > drawn:
            spread = share * (1 - share) * len(places) / (len(places) - 1)
            covariance[np.ix_(places, places)] += spread * (np.eye(len(places)) - 1 / len(places))
    excess = np.array([seen[name] for name in names]) - expected
    statistic = float(excess @ np.linalg.pinv(covariance, rcond=_SINGULAR, hermitian=True) @ excess)
    free = int(np.linalg.matrix_rank(covariance, tol=_SINGULAR * covariance.max(), hermitian=True))
    return Sources(
        {name: seen[name] for name in names},
        {name: round(float(value), 3) for name, value in zip(names, expected, strict=True)},
        evenness(seen.values()),
        statistic,
        float(chi2.sf(statistic, free)) if free else 1.0,
    )


def poles(asked: Sequence[Question], against: Opposites) -> Rate | None:
    """How often an opposite is among the distractors; None where no character has one."""
    polar = [question for question in asked if against.get(question.character)]
    if not polar:
        return None
    hits, chances = [], []
    for question in polar:
        present, drawn = against[question.character] & question.offered, len(question.distractors)
        hits.append(float(not present.isdisjoint(question.distractors)))
        chances.append(
            1 - math.comb(len(question.offered) - len(present), drawn) / math.comb(len(question.offered), drawn)
        )
    return rate(hits, chances, [question.scenario for question in polar])


def persons(asked: Sequence[Question]) -> Persons:
    """Who speaks in the option texts, each counted once."""
    person, texts = leaks.codes()["shortcut.person"], list(texts_of(asked))
    assert person.expression is not None and person.required is not None
    return Persons(
        len(texts),
        sum(person.expression.search(text) is not None for text in texts),
        sum(person.required.search(text) is None for text in texts),
    )


def answered(asked: Sequence[Question], hits: Sequence[float]) -> Rate:
    """How often a way to answer is right, beside a blind guess."""
    return rate(hits, [1 / len(question.texts) for question in asked], [question.scenario for question in asked])
