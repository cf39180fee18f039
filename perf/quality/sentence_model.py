"""Fit the linear model of the audits to labelled sentences, say how well it generalises, or check that it is fresh.

*Labels*: ``tests/cases/audits``, all sets but ``unseen``; each set was written by another hand. Without ordinary text
ordinary words would weigh too much, so the sentences of sound rows count as innocent, too: of ``whole_memories.jsonl``
(all sets but ``unseen``) and of the frozen release, of which those that come near a finding are taken in, twice.

*Fit*: a logistic regression a code, on TF-IDF of the features of ``audits.text.linear_model``.

*Thresholds*: every set is weighed by a fit that left it out. ``sentence_model.toml`` says whether a code's threshold is
where these cases have a precision or the best F1. In running text, where nearly all is sound, it is at least so high
that one plain sentence in a hundred thousand passes. The gate, below which no pattern counts, lets one in twenty pass.

    python -m perf.quality.sentence_model                # fits; some minutes
    python -m perf.quality.sentence_model --left-out     # precision and recall on sets that a fit left out
    python -m perf.quality.sentence_model --check
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson
from scipy import sparse

from audits.text import linear_model
from audits.text.linear_model import BITS, Model, Settings, features
from audits.text.passage import Passage
from audits.text.tokens import read
from perf.quality.agreement import FOLDER, UNSEEN, WHOLE
from perf.quality.labelled_cases import (
    PLAIN,
    PLAN,
    Cases,
    Fit,
    Matrix,
    Plain,
    best_threshold,
    cases_of,
    left_out,
    matrix,
)
from schemas.benchmarks import benchmark
from schemas.command import DONE, FINDINGS, parser, run, say
from schemas.sources import of_release

RELEASE = FOLDER.parents[2] / "releases/frozen/heart/1.0.0"
FALSE_ALARMS, GATED = 0.00001, 0.05
"""The shares of plain sentences that may pass for a fault in running text, and that patterns count in."""

_PLAIN_WEIGHT = 0.02
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
                pools[where] = matrix(plain_features(*where))
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
