"""Candidates in replay without a model, whose quality is known: replies of raters that train, drawn by planted quality.

    strong   a reply to the same task family, from the best quarter by planted level
    weak     the same, from the worst quarter

A drawn reply was written for another conversation; its planted levels count as if it had been written for this one.
That makes a candidate of known rank for examining judges and calibrations, and no model of how anybody answers.
No score is looked at, and no reply of a rater that is evaluated.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from evaluators.satisfaction.turn_fields import RatedTurns, reply_of
from schemas.errors import RequestError
from schemas.randomness import rng_for
from schemas.tables import Row

SUBJECTS = ("strong", "weak")

_PARTS = 4


class Pool:
    """Replies of the raters that train, by task family, worst first. Raises RequestError where nothing is planted."""

    def __init__(self, known: RatedTurns) -> None:
        self._known = known
        self._rows: dict[str, list[Row]] = defaultdict(list)
        for row in known.ratings.values():
            if known.split.get(row["rater_id"]) != "train":
                continue
            if row["planted"] is None:
                raise RequestError(
                    "offline candidate without planted quality", "ratings", row=row["sample_id"], field="planted",
                    expected="rows of the builder", fix="Replay a model, or offline:original",
                )  # fmt: skip
            self._rows[row["task"]].append(row)
        for rows in self._rows.values():
            rows.sort(key=lambda row: (sum(row["planted"]["levels"].values()), row["sample_id"]))

    def reply(self, subject: str, task: str, sample_id: str, seed: int) -> tuple[str, Mapping[str, int]]:
        """A reply and its planted levels. Raises RequestError for a task family without raters that train."""
        rows = self._rows.get(task)
        if not rows:
            raise RequestError(f"no replies in {task} of raters that train", "ratings", fix="Replay a model")
        part = max(1, len(rows) // _PARTS)
        drawn = rng_for(seed, self._known.benchmark, f"evaluators.{subject}", sample_id).choice(
            rows[-part:] if subject == "strong" else rows[:part]
        )
        conversation = self._known.conversations[drawn["conversation_id"]]
        return reply_of(conversation, drawn["turn"]), drawn["planted"]["levels"]
