"""Memories that assistants listed when all sessions were over: how many, how many of them true (LikeBench 3.3).

What is called accuracy is a precision: of the memories listed, the share that the user marks correct. What an assistant
might have learned and did not list is in no denominator.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from evaluators.reporting.dialogues.said import table_of
from evaluators.reporting.parts import Section, table
from evaluators.scoring.resampling import ClusterDraws

TABLE = "learned"
_KINDS = ("all", "explicit", "implicit")


def learned(paths: Sequence[Path], names: Sequence[str], results: Sequence[Mapping[str, Any]], seed: int) -> Section:
    """A row a run and kind of memory; runs whose rows of what was said are not at hand are left out."""
    rows = []
    for path, name, result in zip(paths, names, results, strict=True):
        found = table_of(path, result, TABLE)
        if found is None:
            continue
        for kind, one in memory_figures(found, seed).items():
            accuracy = "–" if one["accuracy"] is None else f"{one['accuracy']:.3f}"
            bounds = "no interval" if one["low"] is None else f"{one['low']:.3f} to {one['high']:.3f}"
            label = f"{escape(name)} <small>{kind}</small>"
            counts = (one["listed"], one["correct"], one["unmarked"], one["without"])
            rows.append([label, accuracy, bounds, *(f"{count:,}" for count in counts)])
    heads = ["Memories", "Accuracy", "95 %", "Listed", "Correct", "Not marked", "Dialogues without a list"]
    lead = "What each assistant says it learned, and the share of it that the user marks correct. People resampled."
    return Section("learned", "What was learned", table(heads, rows) if rows else "", lead)


def memory_figures(rows: pl.DataFrame, seed: int) -> dict[str, dict[str, Any]]:
    """Kind of memory -> accuracy with its interval over people, and counts.

    Accuracy is None where nothing was listed: 0/0. A memory without a mark is counted and in no mean.
    """
    listed = rows.drop_nulls("memory")
    people = rows["dialogue"].unique().sort().to_list()
    without = len(rows.filter(pl.col("memory").is_null()))
    made = {}
    for kind in _KINDS:
        own = listed if kind == "all" else listed.filter(pl.col("kind") == kind)
        marked = own.drop_nulls("correct")
        counts = marked.group_by("dialogue").agg(
            hits=(pl.col("correct") == "true").sum().cast(pl.Float64), marks=pl.len().cast(pl.Float64)
        )
        by_person = {name: (hits, marks) for name, hits, marks in counts.rows()}
        cells = np.array([by_person.get(name, (0.0, 0.0)) for name in people]).reshape(-1, 2)
        (found,) = ClusterDraws(len(people), seed, "persona").means(cells[:, :1], cells[:, 1:]) if people else (None,)
        made[kind] = {
            "accuracy": found.value if found and len(marked) else None,
            "low": found.low if found and len(marked) else None,
            "high": found.high if found and len(marked) else None,
            "listed": len(own),
            "correct": int(cells[:, 0].sum()),
            "unmarked": len(own) - len(marked),
            "without": without,
        }
    return made
