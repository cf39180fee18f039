"""Every baseline that reads no reply as a judge: score history, and the nearest earlier turns of the same rater.

PersTurnBench appendix D. They are evaluated on the same turns as judges and stand in the same ranking: what a judge
has to be better than before it can be said to have read anything.
"""

from __future__ import annotations

from collections import defaultdict

import polars as pl

from evaluators.satisfaction.calibrating import Raters, blocks
from evaluators.satisfaction.history_baselines import BASELINES, history_predictions
from evaluators.satisfaction.nearest_turns import NEIGHBOURS, TextTurn, nearest_by_task
from evaluators.satisfaction.turn_fields import RatedTurns, before, reply_of
from schemas.satisfaction.turns import PREDICTIONS, SourceTurns
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
    turns: dict[str, dict[str, list[TextTurn]]] = defaultdict(lambda: defaultdict(list))
    for row in known.ratings.values():
        if row["rater_id"] in raters.evaluated:
            turns[row["rater_id"]][row["task"]].append(_text_turn(known, row))
    rows: dict[int, list[tuple[str, str, int]]] = {k: [] for k in NEIGHBOURS}
    for rater, by_task in sorted(turns.items()):
        for k, predicted in nearest_by_task(by_task).items():
            rows[k] += [(name, rater, score) for name, score in predicted.items()]
    return {f"nearest_{k}": pl.DataFrame(found, schema=PREDICTIONS, orient="row") for k, found in rows.items()}


def _text_turn(known: RatedTurns, row: Row) -> TextTurn:
    conversation = known.conversations[row["conversation_id"]]
    asked = [message["content"] for message in before(conversation, row["turn"]) if message["role"] == "user"]
    return TextTurn(row["sample_id"], asked[-1] if asked else "", reply_of(conversation, row["turn"]), row["score"])
