"""DUP: the compact summary of preferences that an assistant renews after each turn (LikeBench 5, "--memory dup").

The paper prints neither prompt nor keys beyond examples; these keys are ours. An offline assistant notes what the
user's words show so far, in the words that ``noted`` reads back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args

from evaluators.subjects.assistants import Noted
from evaluators.subjects.reading import known
from evaluators.subjects.users import Said
from evaluators.subjects.wishes import Length
from evaluators.subjects.wording import Register

KEYS: Mapping[str, str] = {
    "formality": "register they use and like: formal, neutral or casual",
    "length": "how long an answer they want: brief, moderate or elaborate",
    "humor": "the kind of humour that is theirs",
    "chattiness": "chatty or reserved",
    "depth": "how deep explanations should go",
    "directness": "plain words or gentle ones",
    "facts": "what they told about themselves",
}
"""Key of a summary -> what it holds."""

Summary = Mapping[str, str]


def schema() -> dict[str, Any]:
    """The JSON Schema of a summary."""
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(KEYS),
        "properties": {name: {"type": "string", "description": text} for name, text in KEYS.items()},
    }


def observed(history: Sequence[Said]) -> dict[str, str]:
    """The summary of an offline assistant: what the words of the user show."""
    knows = known(history)
    facts = "; ".join(f"{detail.mention} {detail.text}" for detail in knows.details)
    shown = {"formality": knows.register, "length": knows.length, "humor": knows.humor, "facts": facts}
    return {name: shown.get(name) or "" for name in KEYS}


def noted(summary: Summary) -> Noted:
    """What an offline assistant reads in its own summary; anything in other words counts as not noted."""
    register, length = summary.get("formality"), summary.get("length")
    return Noted(
        register if register in get_args(Register) else None,  # type: ignore[arg-type]
        length if length in get_args(Length) else None,  # type: ignore[arg-type]
        summary.get("humor") or None,
    )


def in_words(summary: Summary) -> str:
    """A summary as lines; "nothing yet" for an empty one."""
    return "\n".join(f"- {name}: {text}" for name, text in summary.items() if text) or "nothing yet"
