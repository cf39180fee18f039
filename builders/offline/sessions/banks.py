"""The banks of ``banks/sessions/``, read once, and choices from them.

They hold what is written about a simulated user when no model is asked (LikeBench 4.2.3, 4.3).
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from schemas.tables import Row

FOLDER = Path(__file__).parents[1] / "banks" / "sessions"


@functools.cache
def bank(name: str) -> dict[str, Any]:
    """A bank as it stands in its file."""
    return tomllib.loads((FOLDER / f"{name}.toml").read_text("utf-8"))


def entities_of(interest: str) -> list[str]:
    """Five particular things within an interest, e.g. ``music.jazz.bebop``."""
    area, field, leaf = interest.split(".")
    found: list[str] = bank("entities")[area][field][leaf]
    return found


def lower_first(text: str) -> str:
    """The text as it goes on from other words."""
    return text[:1].lower() + text[1:]


def listed(items: Sequence[str]) -> str:
    """a, b and c."""
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)


def article(noun: str) -> str:
    """ "a" or "an", by the first letter."""
    return "an" if noun[:1].lower() in "aeiou" else "a"


def in_running_text(subject: Row) -> str:
    """A leaf's label inside a sentence: lower case unless it is a name."""
    label = str(subject["path"][-1])
    proper = label.split()[0] in bank("proper")["words"] or any(letter.isupper() for letter in label[1:])
    return label if proper else lower_first(label)
