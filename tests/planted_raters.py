"""Planted raters without words: the numbers of a built benchmark, for tests of calibration and metrics."""

import functools
from dataclasses import asdict

import polars as pl

from builders.conversations.plan import planned_conversations
from builders.pipeline.streams import Streams
from builders.raters.parameters import planted_scale
from schemas.satisfaction.planted import PlantedTurns, planted_turns
from schemas.satisfaction.turns import SourceTurns, TargetTurns

TASKS = ("travel", "gift", "recipe", "skill")


@functools.cache
def planted(seed: int, raters: int = 112) -> PlantedTurns:
    streams = Streams(seed, "persturn")
    scales = {f"R{number:03d}": planted_scale(streams, f"R{number:03d}") for number in range(1, raters + 1)}
    rows = [
        {
            "sample_id": turn.sample_id,
            "rater_id": conversation.rater_id,
            "task": conversation.task,
            "score": turn.score,
            "planted": {"levels": turn.levels},
        }
        for conversation in planned_conversations(scales, streams)
        for turn in conversation.turns
    ]
    return planted_turns([{"rater_id": name, "planted": asdict(scale)} for name, scale in scales.items()], rows)


def blocks(gold: pl.DataFrame, predictions: pl.DataFrame):
    """Source and target turns of every task that has predictions."""
    for task in gold["task"].unique().sort():
        own = gold.filter(pl.col("task") == task).select("sample_id")
        target = predictions.join(own, on="sample_id", how="semi", maintain_order="left")
        if target.height:
            yield SourceTurns.of(gold, task, predictions), TargetTurns(task, target)


def turns(rows, columns=("sample_id", "rater", "task", "gold")) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=list(columns), orient="row")
