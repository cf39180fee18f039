"""The words of a planted assistant: each message is the next move of its script, whatever the user said."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

from evaluators.subjects.tasks.script import Script

BANKS = Path(__file__).parent / "banks"


@functools.cache
def bank(name: str) -> Mapping[str, Any]:
    """A bank as it stands in its file."""
    return tomllib.loads((BANKS / f"{name}.toml").read_text("utf-8"))


def assistant_message(script: Script, number: int, rng: Random) -> str:
    """The message of a place in the dialogue, from 0 on; after the script's end only courtesies."""
    lines: Mapping[str, Sequence[str]] = bank("assistant")[script.form]
    if number >= len(script.moves):
        return rng.choice(lines["after"])
    move = script.moves[number]
    line = rng.choice(lines[move.act])
    if move.slot is None:
        return line
    return line.format(type=move.slot.preference.lower(), value=move.value)
