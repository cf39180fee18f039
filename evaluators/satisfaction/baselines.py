"""Every baseline that reads no reply as a judge: score history, and the nearest earlier turns of the same rater.

PersTurnBench appendix D. They are evaluated on the same turns as judges and stand in the same ranking: what a judge
has to be better than before it can be said to have read anything.
"""

from __future__ import annotations

from collections import defaultdict

import polars as pl

from evaluators.satisfaction.calibrating import Raters, blocks
from evaluators.satisfaction.history_baselines import BASELINES, history_predictions
from evaluators.satisfaction.nearest_turns import NEIGHBOURS, TextTurn, nearest_predictions
from evaluators.satisfaction.turn_fields import RatedTurns, before, reply_of
from evaluators.satisfaction.turns import PREDICTIONS, SourceTurns
from schemas.tables import Row

NEAREST = tuple(f"nearest_{k}" for k in NEIGHBOURS)


def baseline_predictions(known: RatedTurns, raters: Raters) -> dict[str, pl.DataFrame]:
    """Predictions for every turn of the evaluated raters, by baseline, in the form of ``turns.PREDICTIONS``.

    Raises RequestError where no rater trains.
    """
    train = raters.gold.filter(pl.col("rater").is_in([name for name, split in known.split.items() if split == "train"]))
    found: dict[str, list[pl.DataFrame]] = defaultdict(list)
    judged = raters.judged
    for task, own in blocks(judged):
        source = SourceTurns.of(judged, task)
        for name, frame in history_predictions(source, own.drop("gold"), train).items():
            found[name].append(frame)
    for name, frame in _nearest(known, raters).items():
        found[name].append(frame)
    return {name: pl.concat(found[name]) for name in (*BASELINES, *NEAREST)}


def _nearest(known: RatedTurns, raters: Raters) -> dict[str, pl.DataFrame]:
    by_rater: dict[str, list[Row]] = defaultdict(list)
    for row in known.ratings.values():
        if row["rater_id"] in raters.evaluated:
            by_rater[row["rater_id"]].append(row)
    rows: dict[int, list[tuple[str, str, int]]] = {k: [] for k in NEIGHBOURS}
    for rater, own in sorted(by_rater.items()):
        for task in sorted({row["task"] for row in own}):
            source = [_text_turn(known, row, scored=True) for row in own if row["task"] != task]
            target = [_text_turn(known, row, scored=False) for row in own if row["task"] == task]
            for k, predicted in nearest_predictions(source, target).items():
                rows[k] += [(name, rater, score) for name, score in predicted.items()]
    return {f"nearest_{k}": pl.DataFrame(found, schema=PREDICTIONS, orient="row") for k, found in rows.items()}


def _text_turn(known: RatedTurns, row: Row, scored: bool) -> TextTurn:
    conversation = known.conversations[row["conversation_id"]]
    asked = [message["content"] for message in before(conversation, row["turn"]) if message["role"] == "user"]
    reply = reply_of(conversation, row["turn"])
    return TextTurn(row["sample_id"], asked[-1] if asked else "", reply, row["score"] if scored else None)
