"""The replay table: candidates as one judge scored them under one calibration, and the recorded replies beside them.

PersTurnBench 5.2, Table 8 and Figure 3, where candidates under reference CDF stand against recorded replies under block
CDF; here both are calibrated the same way. Where offline candidates wrote the replies it is known what raters would
say of them (``planted``), so a judge's order of candidates can be held against the true one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from itertools import combinations
from typing import Any

import polars as pl

from evaluators.satisfaction import calibrating
from evaluators.satisfaction.calibrating import Raters, calibrate
from evaluators.satisfaction.judged_turns import ORIGINAL, Entry, Predictions
from evaluators.satisfaction.meta_evaluation import RAW, Choices
from evaluators.satisfaction.replay_scores import (
    CandidateScores,
    aggregates,
    candidate_scores,
    compare,
    published_interval,
    rater_interval,
)


def replayed(entry: Entry, raters: Raters, choices: Choices) -> list[dict[str, Any]]:
    """A table for each selection that candidates answered; none where there are no candidates.

    Turns of raters that are not evaluated, and turns without a score, are counted and left out.
    """
    selections: dict[str, dict[str, Predictions]] = {}
    for (selection, name), predictions in sorted(entry.candidates.items()):
        selections.setdefault(selection, {})[name] = predictions
    return [_table(entry, raters, choices, selection, own) for selection, own in selections.items()]


def _table(
    entry: Entry, raters: Raters, choices: Choices, selection: str, candidates: Mapping[str, Predictions]
) -> dict[str, Any]:
    assert entry.originals is not None
    items = pl.concat([one.frame.select("sample_id") for one in candidates.values()]).unique()
    recorded = entry.originals.frame.join(items, on="sample_id", how="semi", maintain_order="left")
    shown = {**candidates, ORIGINAL: Predictions(recorded, {"scored": recorded.height})}
    scores, rows = {}, []
    for name, predictions in shown.items():
        row, found = _candidate(entry, raters, choices, name, predictions)
        rows.append(row)
        if found is not None:
            scores[name] = found
    return {
        "judge": entry.judge,
        "metric": entry.metric,
        "selection": selection,
        "calibration": choices.calibration,
        "candidates": sorted(rows, key=lambda row: (-(row["figures"] or {"micro": 0.0})["micro"], row["name"])),
        "pairs": list(_pairs(scores)),
    }


def _candidate(
    entry: Entry, raters: Raters, choices: Choices, name: str, predictions: Predictions
) -> tuple[dict[str, Any], CandidateScores | None]:
    frame = predictions.frame.filter(pl.col("rater").is_in(sorted(raters.evaluated)))
    about = {
        "name": name,
        "turns": frame.height,
        "missing": predictions.missing,
        "not_evaluated": predictions.frame.height - frame.height,
        "planted": frame["planted"].mean() if frame.height and not frame["planted"].null_count() else None,
        "figures": None,
        "raw": None,
        "fallbacks": {},
        "interval": None,
        "published": None,
    }
    if not frame.height:
        return about, None
    parts = calibrate(choices.calibration, entry, raters, frame, choices.ties)
    scores = candidate_scores(name, parts)
    figures = {
        "figures": aggregates(scores),
        "raw": aggregates(candidate_scores(name, calibrate(RAW, entry, raters, frame, choices.ties))),
        "fallbacks": calibrating.fallbacks(parts),
        "interval": asdict(rater_interval(scores, choices.seed)),
        "published": list(published_interval(scores)),
    }
    return {**about, **figures}, scores


def _pairs(scores: Mapping[str, CandidateScores]) -> Iterator[dict[str, Any]]:
    for one, other in combinations(scores, 2):
        common = scores[one].frame.join(scores[other].frame, on="sample_id", how="semi").height
        outcomes = compare(scores[one], scores[other]) if common else None
        yield {"first": one, "second": other, "turns": common, "outcomes": outcomes and _defined(outcomes)}


def _defined(outcomes: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float | None]]:
    """``won`` is None where all are ties: JSON has no NaN."""
    return {
        group: {name: None if value != value else value for name, value in own.items()}
        for group, own in outcomes.items()
    }
