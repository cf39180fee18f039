"""Solvers that learn what a person's answers have in common, from options alone.

A question shows four options and whom it is about. What is said in all questions about one person, and less in
those about others, is that person's way of speaking, so it gives the answers away although no key was read.
Several readers try, from the mild to the hostile; none reads a situation or a memory:

- ``overlap``   n-grams of an option that are commoner in the person's other questions than in everybody's
- ``repeated``  the same, then again from the answers it found (expectation-maximisation)
- ``keyed``     n-grams of the person's right against its wrong options, the keys of its other questions known
- ``ridge``     a linear classifier of the same, on TF-IDF weights

Each is tried as it is and ``matched``: a reader who knows that every decision is the answer of one question assigns
the options of a situation to its questions all at once. Nothing is learnt from questions of the same situation.
HEART-BENCH 3.4; the command is ``python -m audits.shortcuts``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from audits.shortcuts.questions import Question

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

KEYED = ("keyed", "ridge")  # readers that are told the keys of other questions

_NGRAMS = (1, 3)
_ROUNDS = 8
_SHARPNESS = 4.0  # how sure a round is of the one before, in standard deviations of its scores
_DRAWN = 3.0  # options' worth of what both kinds share that a share is drawn to
_PENALTY = 1.0  # of the ridge, beside rows of length 1
_STARTS = 4  # of the clusters

Numbers = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Sheet:
    """All options, a row each: n-gram weights and presence, and which question, person and scenario each is of."""

    weights: csr_matrix
    present: csr_matrix
    question: Places
    person: Places
    scenario: Places

    def held_out(self) -> Iterator[tuple[Places, Places]]:
        """By person and scenario: the rows of its questions, and those of the person's other scenarios."""
        for person in np.unique(self.person):
            own = self.person == person
            for scenario in np.unique(self.scenario[own]):
                here = self.scenario == scenario
                yield np.flatnonzero(own & here), np.flatnonzero(own & ~here)


def by_character(asked: Sequence[Question]) -> dict[str, list[float]]:
    """1 for each question answered rightly, else 0, by reader; whom a question is about is known."""
    sheet = _sheet(asked)
    return {} if sheet is None else _answers(asked, sheet)


def by_cluster(asked: Sequence[Question]) -> dict[str, list[float]]:
    """The same where it is not: questions that share phrases are taken to be about one person."""
    sheet = _sheet(asked)
    if sheet is None:
        return {}
    clusters = _clusters(sheet, len(np.unique(sheet.person)))
    return _answers(
        asked, Sheet(sheet.weights, sheet.present, sheet.question, clusters[sheet.question], sheet.scenario)
    )


def _answers(asked: Sequence[Question], sheet: Sheet) -> dict[str, list[float]]:
    right = np.array([float(place == one.answer) for one in asked for place in range(len(one.texts))])
    overlap = _overlap(sheet)
    tried = {
        "overlap": overlap,
        "repeated": _repeated(sheet, overlap),
        "keyed": _separated(sheet, right),
        "ridge": _ridge(sheet, right),
    }
    alone = {name: _hits(sheet, right, scores) for name, scores in tried.items()}
    texts = [text for one in asked for text in one.texts]
    return alone | {f"{name}, matched": _hits(sheet, right, _matched(sheet, texts, s)) for name, s in tried.items()}


def _sheet(asked: Sequence[Question]) -> Sheet | None:
    """The options as n-grams that stand in two distinct texts at least; None where there are none."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = sorted({text for question in asked for text in question.texts})
    place = {text: number for number, text in enumerate(texts)}
    reader = TfidfVectorizer(ngram_range=_NGRAMS, sublinear_tf=True, token_pattern=r"\w+|[^\w\s]")
    # One text more, so that texts without a word make an empty matrix and not an error.
    matrix = reader.fit_transform([*texts, "a word"])[:-1].tocsc()
    matrix = matrix[:, np.diff(matrix.indptr) > 1].tocsr()
    if not matrix.shape[1]:
        return None
    rows = matrix[[place[text] for one in asked for text in one.texts]]
    present = rows.copy()
    present.data[:] = 1.0
    owner = np.repeat(np.arange(len(asked)), [len(one.texts) for one in asked])
    person, scenario = (
        np.unique(names, return_inverse=True)[1]
        for names in ([q.character for q in asked], [q.scenario for q in asked])
    )
    return Sheet(rows, present, owner, person[owner], scenario[owner])


def _overlap(sheet: Sheet) -> Numbers:
    """Log-odds of the n-grams that are commoner in the person's other questions than in everybody else's."""
    scores, total = np.zeros(len(sheet.question)), sheet.present.sum(axis=0).A1
    for here, own in sheet.held_out():
        near = sheet.present[own].sum(axis=0).A1
        far = total - near - sheet.present[here].sum(axis=0).A1
        odds = _odds(near, len(own), far, len(scores) - len(own) - len(here))
        scores[here] = sheet.weights[here] @ np.maximum(odds, 0)
    return scores


def _repeated(sheet: Sheet, scores: Numbers) -> Numbers:
    for _ in range(_ROUNDS):
        scores = _separated(sheet, _shares(sheet, scores))
    return scores


def _shares(sheet: Sheet, scores: Numbers) -> Numbers:
    """How likely each option is the answer, by the scores of one round."""
    counts = np.bincount(sheet.question)
    centred = scores - (np.bincount(sheet.question, scores) / counts)[sheet.question]
    odds = np.exp(np.clip(_SHARPNESS * centred / (centred.std() or 1.0), -50, 50))
    return np.asarray(odds / np.bincount(sheet.question, odds)[sheet.question])


def _separated(sheet: Sheet, shares: Numbers) -> Numbers:
    """Log-odds of an option's n-grams in the right against the wrong options of the person's other questions."""
    scores = np.zeros(len(shares))
    for here, own in sheet.held_out():
        right = sheet.present[own].T @ shares[own]
        wrong = sheet.present[own].T @ (1 - shares[own])
        odds = _odds(right, shares[own].sum(), wrong, (1 - shares[own]).sum())
        scores[here] = sheet.weights[here] @ odds
    return scores


def _odds(near: Numbers, options: float, far: Numbers, other_options: float) -> Numbers:
    """Log-odds of n-grams that stand in so many of two kinds of options, each share drawn to that of both."""
    shared = (near + far + 0.5) / (options + other_options + 1)
    own, others = (near + _DRAWN * shared) / (options + _DRAWN), (far + _DRAWN * shared) / (other_options + _DRAWN)
    return np.asarray(np.log(own / others))


def _ridge(sheet: Sheet, right: Numbers) -> Numbers:
    """A ridge regression of right against wrong options of the person's other questions."""
    scores, target = np.zeros(len(right)), right - right.mean()
    kernel = np.asarray((sheet.weights @ sheet.weights.T).todense())
    for here, own in sheet.held_out():
        within = kernel[np.ix_(own, own)] + _PENALTY * np.eye(len(own))
        scores[here] = kernel[np.ix_(here, own)] @ np.linalg.solve(within, target[own])
    return scores


def _matched(sheet: Sheet, texts: Sequence[str], scores: Numbers) -> Numbers:
    """Scores under which each option text of a scenario is the answer of one question at most."""
    from scipy.optimize import linear_sum_assignment

    found = scores.copy()
    number = np.unique(texts, return_inverse=True)[1]
    barred = 1e3 * (1 + np.abs(scores).max())
    for scenario in np.unique(sheet.scenario):
        rows = np.flatnonzero(sheet.scenario == scenario)
        questions, texts_here = np.unique(sheet.question[rows]), np.unique(number[rows])
        cost = np.full((len(questions), len(texts_here)), barred)
        places = np.searchsorted(questions, sheet.question[rows]), np.searchsorted(texts_here, number[rows])
        cost[places] = -scores[rows]
        assigned = np.full(len(questions), -1)
        for question, text in zip(*linear_sum_assignment(cost), strict=True):
            assigned[question] = text
        found[rows] += barred * (assigned[places[0]] == places[1])
    return found


def _hits(sheet: Sheet, right: Numbers, scores: Numbers) -> list[float]:
    """For each question how often its best option is the answer; ties share."""
    scores = np.round(scores, 9)
    best = np.full(sheet.question[-1] + 1, -np.inf)
    np.maximum.at(best, sheet.question, scores)
    taken = (scores == best[sheet.question]).astype(np.float64)
    return [float(hit) for hit in np.bincount(sheet.question, taken * right) / np.bincount(sheet.question, taken)]


def _clusters(sheet: Sheet, count: int) -> Places:
    """Questions by the phrases of all their options, as many clusters as there are people."""
    from scipy.sparse import csr_matrix
    from sklearn.cluster import KMeans
    from sklearn.preprocessing import normalize

    rows = len(sheet.question)
    together = csr_matrix((np.ones(rows), (sheet.question, np.arange(rows)))) @ sheet.weights
    found = KMeans(min(count, together.shape[0]), n_init=_STARTS, random_state=0).fit_predict(normalize(together))
    return np.asarray(found, dtype=np.int64)
