"""Past conversations of the same person for a candidate in replay: similar turns of other tasks, without any score.

PersTurnBench appendix G.3 and the released code: TF-IDF over character n-grams of 2 to 5 within words, at most 50,000
features, four memories; the query is the last eight messages and the last user message twice. ``similar`` takes the
best; ``diverse`` takes turns from the source tasks, the task with the best match first. A memory holds the four
messages before a reply and the reply, cut to 350 and 700 characters. No score, reason or profile is in it: the rows
that it is made from have no such column.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

Strategy = Literal["similar", "diverse"]

MEMORIES = 4

_BEFORE, _QUERY = 4, 8
_REPLY, _MESSAGE = 700, 350


@dataclass(frozen=True)
class PastTurn:
    """A reply of an earlier conversation and the messages right before it; ``user`` is the last user message."""

    memory_id: str
    task: str
    before: tuple[Mapping[str, str], ...]
    user: str
    reply: str

    @property
    def text(self) -> str:
        """What is compared."""
        lines = [f"{message['role']}: {message['content']}" for message in self.before]
        return "\n".join([f"task: {self.task}", *lines, f"user: {self.user}", f"assistant: {self.reply}"])

    def shown(self) -> str:
        """What a candidate is shown."""
        lines = [f"{message['role']}: {_cut(message['content'], _MESSAGE)}" for message in self.before]
        return "\n".join([*lines, f"assistant: {_cut(self.reply, _REPLY)}"])


class DialogueMemory:
    """The past turns of one person in other tasks than ``target_task``, to be searched by a conversation prefix."""

    def __init__(self, conversations: Sequence[Mapping[str, Any]], target_task: str) -> None:
        from sklearn.feature_extraction.text import TfidfVectorizer

        source = [row for row in conversations if row["task"] != target_task]
        self.turns = [turn for row in source for turn in _past_turns(row)]
        self._vectorizer = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), min_df=1, max_features=50_000)
        self._matrix = self._vectorizer.fit_transform([turn.text for turn in self.turns]) if self.turns else None

    def search(self, prefix: Sequence[Mapping[str, str]], strategy: Strategy = "similar") -> list[PastTurn]:
        """The memories for a prefix, best first; none where there is no past turn."""
        if self._matrix is None:
            return []
        similar = (self._vectorizer.transform([_query(prefix)]) @ self._matrix.T).toarray()[0].round(12)
        ranked = [self.turns[place] for place in np.argsort(-similar, kind="stable")]
        return ranked[:MEMORIES] if strategy == "similar" else _round_robin(ranked)


def _round_robin(ranked: Sequence[PastTurn]) -> list[PastTurn]:
    """One turn of each task in turn, tasks in the order of their best match."""
    by_task: dict[str, list[PastTurn]] = {}
    for turn in ranked:
        by_task.setdefault(turn.task, []).append(turn)
    longest = max(map(len, by_task.values()))
    turns = [own[place] for place in range(longest) for own in by_task.values() if place < len(own)]
    return turns[:MEMORIES]


def _past_turns(conversation: Mapping[str, Any]) -> list[PastTurn]:
    seen: list[Mapping[str, str]] = []
    turns: list[PastTurn] = []
    user = ""
    for message in conversation["messages"]:
        if message["role"] == "assistant":
            name = f"{conversation['conversation_id']}.json__turn_{len(turns)}"
            turns.append(PastTurn(name, conversation["task"], tuple(seen[-_BEFORE:]), user, message["content"]))
        else:
            user = message["content"]
        seen.append(message)
    return turns


def _query(prefix: Sequence[Mapping[str, str]]) -> str:
    lines = [f"{message['role']}: {message['content']}" for message in prefix[-_QUERY:]]
    user = next((message["content"] for message in reversed(prefix) if message["role"] == "user"), "")
    return "\n".join([*lines, f"user: {user}", f"user: {user}"])


def _cut(text: str, most: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 1]}…"
