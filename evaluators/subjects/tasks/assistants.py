"""The words of a planted assistant: each message is the next move of its script, whoever the user is."""

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


def assistant_message(script: Script, number: int, heard: str, rng: Random) -> str:
    """The message of a place in the dialogue, from 0 on; after the script's end only courtesies.

    Of what it asked for it takes the value that it ``heard`` from the user, where that is one of the user's.
    """
    lines: Mapping[str, Sequence[str]] = bank("assistant")[script.form]
    if number >= len(script.moves):
        return rng.choice(lines["after"])
    move = script.moves[number]
    line = rng.choice(lines[move.act])
    if move.slot is None:
        return line
    mentioned = [value for value in move.slot.values if value.casefold() in heard.casefold()]
    value = max(mentioned, key=len) if move.act == "use" and mentioned else move.value
    return line.format(type=move.slot.preference.lower(), value=value)
