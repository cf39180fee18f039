"""Fit the linear model of the audits to labelled sentences, say how well it generalises, or check that it is fresh.

*Labels*: ``tests/cases/audits``, all sets but ``unseen``; each set was written by another hand. Without ordinary text
ordinary words would weigh too much, so the sentences of sound rows count as innocent, too: of ``whole_memories.jsonl``
(all sets but ``unseen``) and of the frozen release, of which those that come near a finding are taken in, twice.

*Fit*: a logistic regression a code, on TF-IDF of the features of ``audits.text.linear_model``.

*Thresholds*: every set is weighed by a fit that left it out. ``sentence_model.toml`` says whether a code's threshold is
where these cases have a precision or the best F1. In running text, where nearly all is sound, it is at least so high
that one plain sentence in twenty thousand passes. The gate, below which no pattern counts, lets one in twenty pass.

    python -m perf.quality.sentence_model                # fits; some minutes
    python -m perf.quality.sentence_model --left-out     # precision and recall on sets that a fit left out
    python -m perf.quality.sentence_model --check
"""

from __future__ import annotations

import argparse
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from audits.text import linear_model
from audits.text.linear_model import BITS, Model, Settings, features
from audits.text.passage import Passage
from audits.text.tokens import Sentence, read
from perf.quality.agreement import FOLDER, UNSEEN, WHOLE, labelled
from schemas.benchmarks import benchmark
from schemas.command import DONE, FINDINGS, parser, run, say
from schemas.sources import of_release

RELEASE = FOLDER.parents[2] / "releases/frozen/heart/1.0.0"
PLAN: Mapping[str, Mapping[str, Any]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
"""How each code is fitted; ``sentence_model.toml`` says what the settings mean."""

PLAIN = "plain"
"""The set of sentences of released memories in which the expressions of version 1.0.0 found no sign."""

FALSE_ALARMS, GATED = 0.00005, 0.05
"""The shares of plain sentences that may pass for a fault in running text, and that patterns count in."""

OURS = ("patterns", "scenes", PLAIN)
"""Sets that no single hand wrote apart from the rules of a code: fitted to, and not measured on."""

_LEAST_OFTEN = 3
_STRENGTH, _PLAIN_WEIGHT = 1.0, 0.02
_ROUNDS, _NEARLY = 2, -1.5
_OF_RUNNING = 3
"""Of released memories one in so many is read whole."""

_EVERY = 40
"""Of the plain sentences of the release one in so many is read from the start."""

_ROWS = {"memories": 46}
"""Of the released rows of a table one in so many is read, as they are much alike."""

_NO_GATE = -1000.0
"""A score that every sentence has: patterns count everywhere."""

_MOST = 127
_TOLERANCE, _STALE = 3, 0.01  # solvers differ in the last digits from machine to machine

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
        _matrix([features(sentences) for sentences in read]),
        _matrix([features(window) for window in windows]),
        np.repeat(np.arange(len(texts)), counts),
        np.array([fault for _, fault, _ in every]),
        np.array([name for name, _, _ in every]),
        texts,
    )


def _windows(sentences: Sequence[Sentence], most: int) -> Iterator[Sequence[Sentence]]:
    for size in range(1, most + 1):
        yield from (sentences[start : start + size] for start in range(len(sentences) - size + 1))


def _matrix(found: Sequence[tuple[npt.NDArray[np.uint32], int]]) -> Matrix:
    rows, columns, values = [], [], []
    for number, (buckets, size) in enumerate(found):
        column, count = np.unique(buckets, return_counts=True)
        rows.append(np.full(len(column), number))
        columns.append(column)
        values.append(count / np.sqrt(size))
    shape = (len(found), 1 << BITS)
    return sparse.csr_matrix((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape=shape)


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


def plain_features(table: str, field: str, to_age: int = 999) -> list[tuple[npt.NDArray[np.uint32], int]]:
    """The features of the different sentences of released rows, and of whole sound memories, up to an age."""
    released = list(of_release(str(RELEASE), benchmark("heart")).rows(table))
    texts = [row[field] for row in released[:: _ROWS.get(table, 1)] if row.get("age", 0) <= to_age]
    if table == "memories":
        whole = [orjson.loads(line) for line in WHOLE.read_bytes().splitlines()]
        sound = [row for row in whole if row["set"] != UNSEEN and not row["faults"] and row["age"] <= to_age]
        texts += [row["content_full"] for row in sound]
    known: dict[tuple[str, ...], Any] = {}
    for text in texts:
        for sentence in Passage(text).read:
            known.setdefault(tuple(sentence.tokens), sentence)
    return [features([sentence]) for sentence in known.values()]


def best() -> Model:
    """The fitted model of all codes."""
    pools: dict[tuple[Any, ...], Matrix] = {}
    table = np.zeros((1 << BITS, len(PLAN)), dtype=np.int8)
    settings: dict[str, Settings] = {}
    for column, (code, plan) in enumerate(PLAN.items()):
        cases, plain = cases_of(code), None
        places = [tuple(where) for where in (plan.get("plain"), *plan.get("also_plain", ())) if where]
        for where in places:
            if where not in pools:
                pools[where] = _matrix(plain_features(*where))
        if places:
            plain = plain_for(cases, sparse.vstack([pools[where] for where in places]).tocsr())
        found = cases.fit(plain)
        scale = float(np.abs(found.weights).max()) / _MOST
        table[:, column] = np.rint(found.weights / scale)
        settings[code] = _settings(cases, plain, found, scale, plan)
        say(f"{code}: {len(cases.faults):,} cases, {settings[code]}")
    fitted = Model(table, settings)
    return Model(table, {**settings, **dict(_in_running_text(fitted))})


def _in_running_text(fitted: Model) -> Iterator[tuple[str, Settings]]:
    """The settings of codes that released memories are innocent of, held to their sentences as often as they occur.

    ``plain_features`` has each different sentence once; a finding costs its reader time each time it is made.
    """
    released = list(of_release(str(RELEASE), benchmark("heart")).rows("memories"))[::_OF_RUNNING]
    cuts = [Passage(row["content_full"]).cut for row in released]
    counts = [len(each.sentences) for each in cuts]
    scores = np.split(fitted.scores(read(cuts)), np.cumsum(counts)[:-1])
    for column, (code, plan) in enumerate(PLAN.items()):
        table, _, *to_age = plan.get("plain", ("", ""))
        if table == "memories":
            ages = (row["age"] <= (to_age or [999])[0] for row in released)
            here = np.concatenate([each[:, column] for each, young in zip(scores, ages, strict=True) if young])
            passing = float(np.quantile(here, 1 - FALSE_ALARMS, method="lower"))
            known = fitted.settings[code]
            yield code, replace(known, running=round(max(known.threshold, passing), 4))


def _settings(cases: Cases, plain: Plain | None, found: Fit, scale: float, plan: Mapping[str, Any]) -> Settings:
    """The numbers of a code: its thresholds by cases whose set was left out and by plain sentences."""
    held, judged = left_out(cases, plain)
    threshold = best_threshold(held[judged], cases.faults[judged], plan.get("precision"))
    gate = float(np.quantile(held[judged & cases.faults], 0.005)) - 1
    innocent = found.scores(plain.table) if plain else held[cases.sets == PLAIN]
    running = threshold
    if len(innocent):
        share = np.concatenate((innocent, np.full(plain.easy if plain else 0, -np.inf)))
        running = max(threshold, float(np.quantile(share, 1 - FALSE_ALARMS, method="lower")))
        gated = plan.get("gated", GATED)
        gate = _NO_GATE if gated >= 1 else max(gate, float(np.quantile(share, 1 - gated, method="lower")))
    return Settings(
        bias=round(found.bias, 4),
        scale=scale,
        threshold=round(threshold, 4),
        running=round(running, 4),
        gate=round(min(gate, threshold), 4),
        sentences=plan.get("sentences", 1),
    )


def plain_for(cases: Cases, pool: Matrix) -> Plain:
    """Some of all plain sentences, and those that are not easily told from faults."""
    chosen = np.zeros(pool.shape[0], dtype=bool)
    chosen[::_EVERY] = True
    for _ in range(_ROUNDS):
        fitted = cases.fit(Plain(pool[chosen], np.full(chosen.sum(), _PLAIN_WEIGHT)))
        chosen |= fitted.scores(pool) > _NEARLY
    return Plain(pool[chosen], np.full(chosen.sum(), _PLAIN_WEIGHT), int((~chosen).sum()))


def main(argv: Sequence[str] | None = None) -> int:
    """Write the weights, or check them; returns the exit code."""
    made = parser(
        "perf.quality.sentence_model",
        "Fit the linear model of the audits.",
        "python -m perf.quality.sentence_model --check",
    )
    made.add_argument("--check", action="store_true", help="write nothing; exit code 1 when the weights are stale")
    made.add_argument("--left-out", action="store_true", help="precision and recall on sets that a fit left out")
    return run(_command, made, argv)


def _command(arguments: argparse.Namespace) -> int:
    if arguments.left_out:
        for line in _left_out_lines():
            say(line)
        return DONE
    found = best()
    if arguments.check:
        if (share := _share_that_differs(found, linear_model.model())) > _STALE:
            fix = "Run: python -m perf.quality.sentence_model"
            say(f"{linear_model.WEIGHTS} is stale: {share:.1%} of the weights differ. {fix}")
            return FINDINGS
        say(f"{linear_model.WEIGHTS} is up to date", quiet=arguments.quiet)
        return DONE
    linear_model.save(found)
    say(f"{linear_model.WEIGHTS} has weights of {len(found.codes)} codes", quiet=arguments.quiet)
    return DONE


def _left_out_lines() -> Iterator[str]:
    yield f"{'threshold':>9} {'precision':>9} {'recall':>7} {'cases':>6}  code"
    for code, plan in PLAN.items():
        cases = cases_of(code)
        held, judged = left_out(cases, None)
        scores, faults = held[judged], cases.faults[judged]
        threshold = best_threshold(scores, faults, plan.get("precision"))
        found = scores >= threshold
        right = (found & faults).sum()
        precision, recall = right / max(found.sum(), 1), right / faults.sum()
        yield f"{threshold:9.2f} {precision:9.3f} {recall:7.3f} {len(scores):6,}  {code}"


def _share_that_differs(one: Model, other: Model) -> float:
    if one.codes != other.codes:
        return 1.0
    apart = np.abs(one.table.astype(int) - other.table.astype(int)) > _TOLERANCE
    return float(apart.sum() / max((one.table != 0).sum(), 1))


if __name__ == "__main__":
    raise SystemExit(main())
