"""Persona fidelity of single sentences: accuracy, internal consistency and retest consistency.

Sentences are scored 1 to 5 on the persona's dimension; what has no such score (no trait content, refused, unread) takes
no part. A persona's level is a third of the scale: low below 7/3, neutral below 11/3, high from there.

    ACC_atom   share of a response's sentences in the level's third
    IC_atom    1 - population standard deviation / 2; undefined for fewer than two sentences
    RC_atom    over pairs of runs of the same set, sentences of all responses of a run pooled: 1 - W1 / 2
    ACC, RC    the older metrics of whole responses: the third that a response's mean falls in; 1 - 2 * population
               standard deviation / 4 of the means of one probe over runs

Sentence -> response -> run -> set -> figure, each a mean over what is defined. Undefined is None: the released code's
-1 is also the worst value that RC_atom can have. "Spotting Out-of-Character Behavior", 3 and appendices A.1, D.

    python -m evaluators.scoring.golden        # Table 17 and the released scores
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from evaluators.scoring.resampling import Floats

LEVELS = ("low", "neutral", "high")
LEAST, MOST = 1, 5
_THIRD = (MOST - LEAST) / 3
METRICS = ("acc_atom", "ic_atom", "rc_atom", "acc", "rc", "mean", "valid")

_OF_RESPONSE = ("acc_atom", "ic_atom", "acc", "mean")


@dataclass(frozen=True)
class Repeats:
    """The runs of one set: by metric a value a run (NaN undefined), and RC_atom of each two runs.

    ``rc`` is the older retest consistency of whole responses, None where no probe was answered in two runs;
    ``valid`` of ``sentences`` have a score from 1 to 5.
    """

    key: tuple[str, ...]
    runs: tuple[str, ...]
    values: dict[str, Floats]
    pairs: Floats
    rc: float | None
    valid: int
    sentences: int

    def figures(self) -> dict[str, float | None]:
        """All metrics of the set; None where undefined."""
        made = {name: _mean(values) for name, values in self.values.items()}
        above = self.pairs[np.triu_indices(len(self.runs), 1)]
        return {**made, "rc_atom": _mean(above), "rc": self.rc, "valid": self.valid / self.sentences}


def level_of(score: pl.Expr) -> pl.Expr:
    """The third of the scale that a score falls in."""
    low, high = LEAST + _THIRD, LEAST + 2 * _THIRD
    return pl.when(score < low).then(pl.lit("low")).when(score < high).then(pl.lit("neutral")).otherwise(pl.lit("high"))


def repeats_of(sentences: pl.DataFrame, sets: Sequence[str]) -> list[Repeats]:
    """The runs of every set, in order.

    ``sentences`` has a row a sentence: the columns ``sets``, ``run``, ``response``, ``target`` (a level) and ``value``
    (1 to 5, null where a sentence has no valid score). ``response`` names a probe within a run.
    """
    responses = _responses(sentences, sets)
    runs = responses.group_by(*sets, "run").agg(pl.col(name).mean() for name in _OF_RESPONSE).sort(*sets, "run")
    pooled = _pooled(sentences, sets)
    retest = _retest(responses, sets)
    counted = sentences.group_by(*sets).agg(pl.col("value").count().alias("valid"), pl.len())
    counts = {tuple(str(part) for part in row[:-2]): row[-2:] for row in counted.rows()}
    made = []
    for key, own in runs.group_by(*sets, maintain_order=True):
        names = tuple(str(part) for part in key)
        ids = own["run"].cast(pl.String).to_list()
        made.append(
            Repeats(
                names,
                tuple(ids),
                {name: own[name].cast(pl.Float64).fill_null(np.nan).to_numpy() for name in _OF_RESPONSE},
                _pairs([pooled.get((*names, run)) for run in ids]),
                retest.get(names),
                *counts[names],
            )
        )
    return made


def fidelity(runs: Sequence[Sequence[Sequence[int]]], level: str) -> dict[str, float | None]:
    """All metrics of one persona and task from nested lists: run, response, sentence.

    Scores other than 1 to 5 (9, 99 and 999 in the released files) are no valid scores. Raises ValueError for
    an unknown level.
    """
    if level not in LEVELS:
        raise ValueError(f"unknown level {level!r}: expected {', '.join(LEVELS)}")
    rows = [
        {"set": "one", "run": f"{run:06d}", "response": f"{response:06d}", "value": score, "target": level}
        for run, responses in enumerate(runs)
        for response, scores in enumerate(responses)
        for score in scores
    ]
    if not rows:
        return dict.fromkeys(METRICS)
    frame = pl.DataFrame(rows, schema_overrides={"value": pl.Float64})
    valid = pl.when(pl.col("value").is_in([1.0, 2.0, 3.0, 4.0, 5.0])).then("value")
    (found,) = repeats_of(frame.with_columns(valid.alias("value")), ["set"])
    return found.figures()


def _responses(sentences: pl.DataFrame, sets: Sequence[str]) -> pl.DataFrame:
    value, target = pl.col("value"), pl.col("target").first()
    spread = pl.when(value.count() > 1).then(1 - value.std(ddof=0) / 2)
    overall = pl.when(value.count() > 0).then((level_of(value.mean()) == target).cast(pl.Float64))
    return sentences.group_by(*sets, "run", "response").agg(
        (level_of(value) == pl.col("target")).filter(value.is_not_null()).mean().alias("acc_atom"),
        spread.alias("ic_atom"),
        overall.alias("acc"),
        value.mean().alias("mean"),
    )


def _pooled(sentences: pl.DataFrame, sets: Sequence[str]) -> dict[tuple[str, ...], Floats]:
    """(set, run) -> the cumulative distribution of all its valid scores over 1 to 5."""
    counts = (
        sentences.drop_nulls("value")
        .group_by(*sets, "run")
        .agg(((pl.col("value") <= step).mean()).alias(str(step)) for step in range(LEAST, MOST))
    )
    steps = counts.select(str(step) for step in range(LEAST, MOST)).to_numpy()
    keys = counts.select(pl.col(name).cast(pl.String) for name in (*sets, "run")).rows()
    return dict(zip(keys, steps, strict=True))


def _pairs(cumulative: Sequence[Any]) -> Floats:
    """RC_atom of every two runs: 1 - 2 * W1 / 4, where W1 is the area between the cumulative distributions."""
    size = len(cumulative)
    has = [place for place, one in enumerate(cumulative) if one is not None]
    made = np.full((size, size), np.nan)
    if has:
        curves = np.array([cumulative[place] for place in has])
        apart = np.abs(curves[:, None, :] - curves[None, :, :]).sum(axis=2)
        made[np.ix_(has, has)] = 1 - 2 * apart / (MOST - LEAST)
    return made


def _retest(responses: pl.DataFrame, sets: Sequence[str]) -> dict[tuple[str, ...], float]:
    """Set -> the mean over probes of 1 - 2 * std / 4 of the responses' means over runs."""
    probes = (
        responses.drop_nulls("mean")
        .group_by(*sets, "response")
        .agg(pl.len().alias("runs"), (1 - 2 * pl.col("mean").std(ddof=0) / (MOST - LEAST)).alias("rc"))
        .filter(pl.col("runs") > 1)
    )
    found = probes.group_by(*sets).agg(pl.col("rc").mean())
    return {tuple(str(part) for part in row[:-1]): row[-1] for row in found.rows()}


def _mean(values: Floats) -> float | None:
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if defined.size else None
