"""What a reply says, whichever wire it came over: the text, how it ended, what it used."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from models.request import Usage

_THOUGHTS = re.compile(r"\s*(?:[<◁]think(?:ing)?[>▷])?(.*?)[<◁]/think(?:ing)?[>▷]\s*", re.DOTALL)
_OPEN_THOUGHT = re.compile(r"\s*[<◁]think(?:ing)?[>▷]")


class Content(NamedTuple):
    """One reply. ``ended``: by itself, at a limit of length, or declined; ``detail`` says how, in the server's words.

    ``metered``: the server said what it used.
    """

    text: str
    ended: Literal["whole", "cut", "declined"]
    detail: str
    model: str | None
    usage: Usage = Usage()
    metered: bool = False
    thoughts: str = ""


def without_thoughts(text: str) -> tuple[str, str]:
    """A text without the thoughts some models write before the answer, and these.

    Templates that open the thoughts themselves leave only the closing tag in the text; thoughts that were
    never closed leave no text.
    """
    if "think" not in text:
        return text, ""
    found = _THOUGHTS.match(text)
    if found:
        return text[found.end() :], found[1].strip()
    if _OPEN_THOUGHT.match(text):
        return "", text.strip()
    return text, ""


def counts(usage: Mapping[str, Any], names: Sequence[str]) -> list[int]:
    """Numbers of tokens in a server's ``usage``; 0 where it says none."""
    return [value if type(value) is int and value > 0 else 0 for value in map(usage.get, names)]


def table(value: Any) -> Mapping[str, Any]:
    """What is a table in a reply; an empty one for anything else."""
    return value if isinstance(value, dict) else {}
