"""What a memory may be made from: the source conversations of one rater for one target task, and nothing else.

``Sources`` is the only thing that statistics, prose and prompt are given, and it refuses a row of the target task; so
no target-task text and no target gold can be in a memory (PersTurnBench 3.1, equation 9).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from schemas.errors import RequestError
from schemas.tables import Row, term_ids


@dataclass(frozen=True)
class SourceTurn:
    """One rated reply of a source conversation."""

    task: str
    user: str
    reply: str
    score: int
    reason: str


@dataclass(frozen=True)
class Sources:
    """Conversations of one rater in other task families than ``target_task``, and their ratings.

    Raises RequestError for a row of the target task or of another rater, and for no source turn at all.
    """

    rater_id: str
    target_task: str
    conversations: Sequence[Row]
    ratings: Mapping[str, Row]

    def __post_init__(self) -> None:
        for row in (*self.conversations, *self.ratings.values()):
            name = row.get("sample_id") or row["conversation_id"]
            if row["task"] == self.target_task:
                raise RequestError("row of the target task", "sources of a memory", row=name, field="task")
            if row["rater_id"] != self.rater_id:
                raise RequestError("row of another rater", "sources of a memory", row=name, field="rater_id")
        if not self.ratings:
            raise RequestError("no source turn", "sources of a memory", row=f"{self.rater_id}/{self.target_task}")

    @property
    def tasks(self) -> list[str]:
        """The source task families, in the order of the vocabulary."""
        there = {row["task"] for row in self.conversations}
        return [task for task in term_ids("planning_tasks") if task in there]

    @property
    def scores(self) -> Counter[int]:
        """How often each score was given, all source turns."""
        return Counter(row["score"] for row in self.ratings.values())

    def turns(self) -> Iterator[SourceTurn]:
        """Every rated source reply, in order of task family, conversation and turn."""
        for conversation in self.of_tasks():
            yield from self.turns_of(conversation)

    def of_tasks(self) -> list[Row]:
        """The source conversations, in order of task family and number."""
        order = self.tasks
        return sorted(self.conversations, key=lambda row: (order.index(row["task"]), row["number"]))

    def turns_of(self, conversation: Row) -> Iterator[SourceTurn]:
        """The rated replies of one source conversation."""
        user, turn = "", 0
        for message in conversation["messages"]:
            if message["role"] == "user":
                user = message["content"]
                continue
            rated = self.ratings.get(f"{conversation['conversation_id']}.json__turn_{turn}")
            turn += 1
            if rated:
                yield SourceTurn(conversation["task"], user, message["content"], rated["score"], rated["reason"])


def sources_of(target_task: str, conversations: Sequence[Row], ratings: Sequence[Row]) -> Sources | None:
    """The sources of a target task out of all rows of one rater; None where no other task family has a rated turn."""
    other = [row for row in conversations if row["task"] != target_task]
    rated = {row["sample_id"]: row for row in ratings if row["task"] != target_task}
    return Sources(other[0]["rater_id"], target_task, other, rated) if other and rated else None
