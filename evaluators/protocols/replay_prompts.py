"""What a candidate in replay is told beside the conversation: nothing, the task, the rater, or earlier turns.

PersTurnBench appendix G.2 and G.3. No score, reason or memory of the judge is ever in it. The texts are
``evaluators/prompts/replay_<mode>.md``; the mode ``raw`` has none and sends the conversation alone.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from evaluators.memory.dialogue_memory import DialogueMemory
from evaluators.satisfaction.turn_fields import RatedTurns, before
from models.prompts import Prompt, load
from schemas.tables import Row, vocabulary

MODES = ("raw", "task", "profile", "memory", "diverse")

_PROMPTS = Path(__file__).parents[1] / "prompts"
_PROFILE = (
    "gender", "age", "occupation", "background", "personality", "daily_interests", "travel_habits",
    "dining_preferences", "spending_habits", "other_aspects",
)  # fmt: skip


class SystemMessages:
    """The system message of each turn in a mode; ``prompt_id`` and ``digest`` are those of its file."""

    def __init__(self, known: RatedTurns, mode: str) -> None:
        self.mode = mode
        self._known = known
        self._prompt: Prompt | None = None
        self.prompt_id, self.digest = "evaluators.replay_raw@1", hashlib.sha256(b"").hexdigest()
        if mode != "raw":
            self._prompt = load(_PROMPTS / f"replay_{'memory' if mode == 'diverse' else mode}.md")
            self.prompt_id, self.digest = f"{self._prompt.id}@{self._prompt.version}", self._prompt.digest
        self._labels = {term["id"]: term["label"] for term in vocabulary("planning_tasks")}
        self._memories: dict[tuple[str, str], DialogueMemory] = {}

    def of(self, conversation: Row, turn: int) -> tuple[str, ...]:
        """The parts of the system message for the n-th reply of a conversation; none in the mode ``raw``."""
        if self._prompt is None:
            return ()
        if self.mode == "task":
            variables = {"task": self._labels[conversation["task"]], "background": conversation["task_context"] or "–"}
        elif self.mode == "profile":
            variables = {"profile": profile_text(self._known.raters[conversation["rater_id"]])}
        else:
            variables = {"memories": self._earlier(conversation, turn)}
        return (self._prompt.render(**variables).prompt,)

    def _earlier(self, conversation: Row, turn: int) -> str:
        key = conversation["rater_id"], conversation["task"]
        if key not in self._memories:
            own = [row for row in self._known.conversations.values() if row["rater_id"] == key[0]]
            self._memories[key] = DialogueMemory(own, key[1])
        found = self._memories[key].search(
            before(conversation, turn), "diverse" if self.mode == "diverse" else "similar"
        )
        return "\n\n---\n\n".join(f"[{self._labels[one.task]}]\n{one.shown()}" for one in found) or "None."


def profile_text(rater: Row) -> str:
    """A rater's profile, a line a field."""
    lines = []
    for field in _PROFILE:
        value = ", ".join(rater[field]) if isinstance(rater[field], list) else rater[field]
        if value:
            lines.append(f"{field.replace('_', ' ')}: {value}")
    return "\n".join(lines)
