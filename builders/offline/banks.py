"""The phrase banks of shared wordings, read once; ``scene_files`` reads the scenes, ``voices`` the voices.

``banks/README.md`` describes the format for those who write them; ``python -m builders.offline.lint``
checks what they wrote.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from schemas.errors import RequestError

FOLDER = Path(__file__).parent / "banks"

# Which ages a band of scenes serves, and which language it is written in.
BANDS = {
    "child": (6, 12, "child"),
    "teen": (13, 18, "teen"),
    "young": (19, 32, "adult"),
    "mature": (33, 50, "adult"),
    "adult": (19, 50, "adult"),
}
LANGUAGES = ("child", "teen", "adult")
# Lists of a voice that a language draws on, its own first.
SHARED = {"child": ("child", "all"), "teen": ("teen", "older", "all"), "adult": ("adult", "older", "all")}

ANY_DAY = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
DAYS = {"any": ANY_DAY, "working": ANY_DAY[:5], "weekend": ANY_DAY[5:], "school": ANY_DAY[:5]}
ANY_HOUR = ("morning", "midday", "afternoon", "evening")
HOURS = {"any": ANY_HOUR, "day": ANY_HOUR[:3], "late": ("evening", "night"), "all": (*ANY_HOUR, "night")}
ANY_SEASON = ("spring", "summer", "autumn", "winter")
# What a voice says whatever a memory turns on.
VOICE_BEATS = frozenset({"week", "body_low", "body_mid", "body_high"})
BEATS = ("open", "setup", "detail", "earlier", "arrive", "press", "face", "away", "close", "later", "after")


@dataclass(frozen=True)
class Scene:
    """A plot frame: who, where, when, what goes wrong, and how it ends. Lines are templates.

    ``beats`` holds the alternatives of each beat; ``variants`` the values of the handles, one set chosen
    for a memory; ``once`` further slots, one value each chosen for a memory. ``kinds`` says what it is about.
    """

    id: str
    band: str
    domain: str
    tiers: str
    ages: tuple[int, int]
    setting: str
    place: tuple[str, ...]
    days: tuple[str, ...]
    hours: tuple[str, ...]
    seasons: tuple[str, ...]
    weather: tuple[str, ...]
    term: bool
    cast: Mapping[str, str]
    variants: tuple[Mapping[str, str], ...]
    once: Mapping[str, tuple[str, ...]]
    feel: tuple[str, ...]
    summary: tuple[str, ...]
    triggers: tuple[str, ...]
    tags: tuple[str, ...]
    kinds: tuple[str, ...]
    skip: tuple[str, ...]
    needs: tuple[str, ...]
    beats: Mapping[str, tuple[str, ...]] = field(repr=False)

    @property
    def language(self) -> str:
        """Which of the three languages (child, teen, adult) the lines are written in."""
        return BANDS[self.band][2]


@functools.cache
def bank(name: str) -> dict[str, Any]:
    """A bank of shared wordings, as it stands in its file."""
    return tomllib.loads((FOLDER / f"{name}.toml").read_text("utf-8"))


@functools.cache
def pieces(name: str, *path: str) -> tuple[str, ...]:
    """A list of a shared bank, by its path; empty where there is none."""
    part: Any = bank(name)
    for step in path:
        part = part.get(step, {})
    return tuple(part)


def read(path: Path) -> tuple[str, dict[str, Any]]:
    """The text of a file of the banks, and what it says. Raises RequestError for a file that is no TOML."""
    try:
        text = path.read_text("utf-8")
        return text, tomllib.loads(text)
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise RequestError("not a bank", path, expected=str(error), fix="Correct that line") from None


def line_of(text: str, *fragments: str) -> int:
    """The number of the first line with the last of some fragments, behind lines with the others; 1 without one."""
    rows = text.splitlines()
    at = 0
    for fragment in fragments:
        at = next((number for number in range(at, len(rows)) if fragment in rows[number]), at)
    return at + 1


def fault_of(what: str, path: Path, line: int, problem: str) -> RequestError:
    """The error that names a fault of a bank."""
    return RequestError(what, f"{path.name}:{line}", expected=problem, fix="Correct that line of the bank")
