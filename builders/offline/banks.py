"""The phrase banks, read once: voices (one a trait and pole) and shared wordings; ``scene_files`` reads the scenes.

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

from schemas.errors import unknown

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
VOICE_BEATS = frozenset({"notice", "small", "night", "body_low", "body_mid", "body_high"})
BEATS = ("open", "setup", "detail", "earlier", "arrive", "press", "face", "away", "close", "later", "after")


@dataclass(frozen=True)
class Scene:
    """A plot frame: who, where, when, what goes wrong, and how it ends. Lines are templates.

    ``beats`` holds the alternatives of each beat; ``variants`` the values of the handles, one set chosen
    for a memory; ``once`` further slots, one value each chosen for a memory.
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
    skip: tuple[str, ...]
    needs: tuple[str, ...]
    beats: Mapping[str, tuple[str, ...]] = field(repr=False)

    @property
    def language(self) -> str:
        """Which of the three languages (child, teen, adult) the lines are written in."""
        return BANDS[self.band][2]


# Lines by language.
Lines = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Pattern:
    """One core pattern in a voice: what is thought, and what is done, by stance (``face`` or ``away``)."""

    tag: str
    conclusion: tuple[str, ...]
    policy: tuple[str, ...]
    think: Lines = field(repr=False)
    act: Mapping[str, Lines] = field(repr=False)


@dataclass(frozen=True)
class Voice:
    """How one archetype notices, thinks and acts; ``conclusion`` and ``policy`` are those of plain life."""

    feel: tuple[str, ...]
    conclusion: tuple[str, ...]
    policy: tuple[str, ...]
    beats: Mapping[str, Lines] = field(repr=False)
    patterns: tuple[Pattern, ...] = field(repr=False)


@functools.cache
def bank(name: str) -> dict[str, Any]:
    """A bank of shared wordings, as it stands in its file."""
    return tomllib.loads((FOLDER / f"{name}.toml").read_text("utf-8"))


@functools.cache
def voice(archetype: str) -> Voice:
    """The voice of an archetype (``N-High`` … ``Neutral``), from all files of its name: ``n_high*.toml``."""
    stem = archetype.lower().replace("-", "_")
    folder = FOLDER / "voices"
    paths = sorted(path for path in folder.glob("*.toml") if path.name.split(".")[0] == stem)
    if not paths:
        raise unknown("voice", archetype, {path.name.split(".")[0] for path in folder.glob("*.toml")})
    return _voice([tomllib.loads(path.read_text("utf-8")) for path in paths])


def _voice(files: list[dict[str, Any]]) -> Voice:
    patterns = tuple(
        Pattern(
            tag=parts[0]["tag"],
            conclusion=tuple(line for part in parts for line in part["conclusion"]),
            policy=tuple(line for part in parts for line in part["policy"]),
            think=_by_language([part["think"] for part in parts]),
            act={
                stance: _by_language([part["act"] for part in parts if part["stance"] == stance])
                for stance in sorted({part["stance"] for part in parts})
            },
        )
        for parts in zip(*(file["pattern"] for file in files), strict=True)
    )
    return Voice(
        feel=tuple(dict.fromkeys(feeling for file in files for feeling in file["feel"])),
        conclusion=tuple(line for file in files for line in file["conclusion"]),
        policy=tuple(line for file in files for line in file["policy"]),
        beats={
            beat: _by_language([file[beat] for file in files if beat in file])
            for beat in sorted({name for file in files for name in file if name in VOICE_BEATS})
        },
        patterns=patterns,
    )


def _by_language(lists: list[dict[str, list[str]]]) -> dict[str, tuple[str, ...]]:
    return {
        language: tuple(line for part in lists for name in SHARED[language] for line in part.get(name, ()))
        for language in LANGUAGES
    }


@functools.cache
def pieces(name: str, *path: str) -> tuple[str, ...]:
    """A list of a shared bank, by its path; empty where there is none."""
    part: Any = bank(name)
    for step in path:
        part = part.get(step, {})
    return tuple(part)
