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

from collections.abc import Mapping, Sequence
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

    def parts(self) -> list[Part]:
        """The rows by person and scenario."""
        found = []
        for person in np.unique(self.person):
            own = self.person == person
            for scenario in np.unique(self.scenario[own]):
                here = self.scenario == scenario
                rows = np.flatnonzero(own & here)
                weights = self.weights[rows]
                columns = np.unique(weights.indices).astype(np.int64)
                dense = weights[:, columns].toarray()
                found.append(Part(int(person), rows, np.flatnonzero(own & ~here), columns, dense, dense > 0))
        return found

    def totals(self, shares: Numbers) -> dict[int, Numbers]:
        """How often each n-gram stands in a person's options, an option counted by its share."""
        return {
            int(person): self.present[self.person == person].T @ shares[self.person == person]
            for person in np.unique(self.person)
        }


@dataclass(frozen=True)
class Part:
    """The rows of one person's questions about one scenario, with the n-grams in them, and the person's other rows."""

    person: int
    rows: Places
    others: Places
    columns: Places
    weights: Numbers
    present: npt.NDArray[np.bool_]

    def without(self, totals: Mapping[int, Numbers], shares: Numbers) -> Numbers:
        """How often these n-grams stand in the person's other options."""
        return np.maximum(totals[self.person][self.columns] - shares[self.rows] @ self.present, 0.0)


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
    parts = sheet.parts()
    overlap = _overlap(sheet, parts)
    tried = {
        "overlap": overlap,
        "repeated": _repeated(sheet, parts, overlap),
        "keyed": _separated(sheet, parts, right),
        "ridge": _ridge(sheet, parts, right),
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


def _overlap(sheet: Sheet, parts: Sequence[Part]) -> Numbers:
    """Log-odds of the n-grams that are commoner in the person's other questions than in everybody else's."""
    scores, once = np.zeros(len(sheet.question)), np.ones(len(sheet.question))
    everybody, totals = sheet.present.T @ once, sheet.totals(once)
    for part in parts:
        near = part.without(totals, once)
        far = everybody[part.columns] - totals[part.person][part.columns]
        odds = _odds(near, len(part.others), far, len(once) - len(part.others) - len(part.rows))
        scores[part.rows] = part.weights @ np.maximum(odds, 0)
    return scores


def _repeated(sheet: Sheet, parts: Sequence[Part], scores: Numbers) -> Numbers:
    for _ in range(_ROUNDS):
        scores = _separated(sheet, parts, _shares(sheet, scores))
    return scores


def _shares(sheet: Sheet, scores: Numbers) -> Numbers:
    """How likely each option is the answer, by the scores of one round."""
    counts = np.bincount(sheet.question)
    centred = scores - (np.bincount(sheet.question, scores) / counts)[sheet.question]
    odds = np.exp(np.clip(_SHARPNESS * centred / (centred.std() or 1.0), -50, 50))
    return np.asarray(odds / np.bincount(sheet.question, odds)[sheet.question])


def _separated(sheet: Sheet, parts: Sequence[Part], shares: Numbers) -> Numbers:
    """Log-odds of an option's n-grams in the right against the wrong options of the person's other questions."""
    scores, wrongs = np.zeros(len(shares)), 1 - shares
    right, wrong = sheet.totals(shares), sheet.totals(wrongs)
    for part in parts:
        near, far = part.without(right, shares), part.without(wrong, wrongs)
        odds = _odds(near, shares[part.others].sum(), far, wrongs[part.others].sum())
        scores[part.rows] = part.weights @ odds
    return scores


def _odds(near: Numbers, options: float, far: Numbers, other_options: float) -> Numbers:
    """Log-odds of n-grams that stand in so many of two kinds of options, each share drawn to that of both."""
    shared = (near + far + 0.5) / (options + other_options + 1)
    own, others = (near + _DRAWN * shared) / (options + _DRAWN), (far + _DRAWN * shared) / (other_options + _DRAWN)
    return np.asarray(np.log(own / others))


def _ridge(sheet: Sheet, parts: Sequence[Part], right: Numbers) -> Numbers:
    """A ridge regression of right against wrong options of the person's other questions."""
    scores, target = np.zeros(len(right)), right - right.mean()
    kernel = np.asarray((sheet.weights @ sheet.weights.T).todense())
    for part in parts:
        within = kernel[np.ix_(part.others, part.others)] + _PENALTY * np.eye(len(part.others))
        scores[part.rows] = kernel[np.ix_(part.rows, part.others)] @ np.linalg.solve(within, target[part.others])
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
