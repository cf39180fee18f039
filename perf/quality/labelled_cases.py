"""Labelled cases as the linear model sees them, a regression fitted to some of them, and what it says of the others.

``perf.quality.sentence_model`` fits every code with this and stores the weights.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from audits.text.linear_model import BITS, features
from audits.text.passage import Passage
from audits.text.tokens import Sentence
from perf.quality.agreement import FOLDER, UNSEEN, labelled

PLAN: Mapping[str, Mapping[str, Any]] = tomllib.loads(
    Path(__file__).with_name("sentence_model.toml").read_text("utf-8")
)
"""How each code is fitted; ``sentence_model.toml`` says what the settings mean."""

PLAIN = "plain"
"""The set of sentences of released memories in which the expressions of version 1.0.0 found no sign."""

OURS = ("patterns", "scenes", PLAIN)
"""Sets that no single hand wrote apart from the rules of a code: fitted to, and not measured on."""

_LEAST_OFTEN = 3
_STRENGTH = 1.0

Floats = npt.NDArray[np.float64]
Matrix = Any  # scipy has no types


@dataclass(frozen=True)
class Cases:
    """Labelled cases of a code: the matrix of their features, labels, and the set of each.

    ``windows`` are what the audit weighs: sentences, and pairs of them where two are read at a time; ``owners`` says
    whose each is. The score of a case is that of its highest window.
    """

    table: Matrix
    windows: Matrix
    owners: npt.NDArray[np.int64]
    faults: npt.NDArray[np.bool_]
    sets: npt.NDArray[np.str_]
    texts: Sequence[str]

    def fit(self, plain: Plain | None, chosen: npt.NDArray[np.bool_] | None = None) -> Fit:
        """A fit to all or some cases; of innocent ones every window is innocent, too."""
        chosen = np.ones(len(self.faults), dtype=bool) if chosen is None else chosen
        innocent = (chosen & ~self.faults)[self.owners]
        table = sparse.vstack([self.table[chosen], self.windows[innocent]])
        return fit(table, np.concatenate((self.faults[chosen], np.zeros(innocent.sum(), dtype=bool))), plain)

    def scores(self, fitted: Fit, chosen: npt.NDArray[np.bool_]) -> Floats:
        """The log-odds of some cases."""
        scores = np.full(len(self.faults), -np.inf)
        here = chosen[self.owners]
        np.maximum.at(scores, self.owners[here], fitted.scores(self.windows[here]))
        return scores[chosen]


def cases_of(code: str, left_out: Sequence[str] = (UNSEEN,)) -> Cases:
    """The labelled cases of a code, of all its sets but some."""
    every = [
        (name, fault, text)
        for stem in PLAN[code]["cases"]
        for name, cases in labelled(FOLDER / f"{stem}.txt").items()
        if name not in left_out
        for fault, text in cases
    ]
    texts = [text for _, _, text in every]
    read = [Passage(text).read for text in texts]
    windows = [window for sentences in read for window in _windows(sentences, PLAN[code].get("sentences", 1))]
    counts = [len(list(_windows(sentences, PLAN[code].get("sentences", 1)))) for sentences in read]
    return Cases(
        matrix([features(sentences) for sentences in read]),
        matrix([features(window) for window in windows]),
        np.repeat(np.arange(len(texts)), counts),
        np.array([fault for _, fault, _ in every]),
        np.array([name for name, _, _ in every]),
        texts,
    )


def _windows(sentences: Sequence[Sentence], most: int) -> Iterator[Sequence[Sentence]]:
    for size in range(1, most + 1):
        yield from (sentences[start : start + size] for start in range(len(sentences) - size + 1))


def matrix(found: Sequence[tuple[npt.NDArray[np.uint32], int]]) -> Matrix:
    """How often each feature occurs in a sentence, over the root of their number; a row a sentence."""
    rows, columns, values = [], [], []
    for number, (buckets, size) in enumerate(found):
        column, count = np.unique(buckets, return_counts=True)
        rows.append(np.full(len(column), number))
        columns.append(column)
        values.append(count / np.sqrt(size))
    shape = (len(found), 1 << BITS)
    return sparse.csrmatrix((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape=shape)


@dataclass(frozen=True)
class Fit:
    """Weights by bucket and the bias, in log-odds."""

    weights: Floats
    bias: float

    def scores(self, table: Matrix) -> Floats:
        """Log-odds of the rows of a matrix."""
        scores: Floats = table @ self.weights + self.bias
        return scores


@dataclass(frozen=True)
class Plain:
    """Plain sentences, all innocent: the matrix of their features, and what each counts for."""

    table: Matrix
    weights: Floats
    easy: int = 0
    """How many others there are, which nobody takes for a fault."""


def fit(table: Matrix, faults: npt.NDArray[np.bool_], plain: Plain | None) -> Fit:
    """A logistic regression on TF-IDF of labelled cases and plain sentences."""
    often = np.asarray((table > 0).sum(axis=0)).ravel()
    rarity = np.log((1 + table.shape[0]) / (1 + often)) + 1
    rarity[often < _LEAST_OFTEN] = 0
    both = sparse.vstack([table, plain.table]) if plain else table
    labels = np.concatenate((faults, np.zeros(both.shape[0] - len(faults), dtype=bool)))
    weight = np.concatenate((np.ones(len(faults)), plain.weights if plain else ()))
    model = LogisticRegression(C=_STRENGTH, solver="liblinear", dual=True, max_iter=1_000, tol=0.01, random_state=0)
    model.fit(both @ sparse.diags(rarity), labels, sample_weight=weight)
    return Fit(model.coef_[0] * rarity, float(model.intercept_[0]))


def left_out(cases: Cases, plain: Plain | None) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """The log-odds of every case of a writer by a fit that left the writer's set out, and which cases these are.

    The hits and misses of pattern files, and what tests once held, have no writer of their own: always fitted to.
    Plain sentences are left out a half at a time.
    """
    scores, judged = np.zeros(len(cases.faults)), ~np.isin(cases.sets, OURS)
    odd, plain_ones = np.arange(len(scores)) % 2 == 1, cases.sets == PLAIN
    parts = [cases.sets == name for name in dict.fromkeys(cases.sets[judged].tolist())]
    for out in [*parts, *((plain_ones & odd, plain_ones & ~odd) if plain_ones.any() else ())]:
        scores[out] = cases.scores(cases.fit(plain, ~out), out)
    return scores, judged


def best_threshold(scores: Floats, faults: npt.NDArray[np.bool_], precision: float | None) -> float:
    """Where findings agree best with the labels by F1, or the lowest threshold that has a precision."""
    order = np.argsort(-scores)
    right, found = np.cumsum(faults[order]), np.arange(1, len(scores) + 1)
    if precision is None:
        last = int(np.argmax(right / (faults.sum() + found)))
    else:
        last = int(np.flatnonzero(right / found >= precision).max(initial=0))
    return float((scores[order[last]] + scores[order[min(last + 1, len(order) - 1)]]) / 2)
