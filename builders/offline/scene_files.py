"""The scenes (plot frames) of the banks, read once, with every slot checked by its type.

``banks/README.md`` describes the format; a fault is named with file and line.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from builders.offline.banks import ANY_SEASON, BANDS, BEATS, DAYS, FOLDER, HOURS, Scene
from builders.offline.slots import scene_problems
from schemas.errors import RequestError


@functools.cache
def scenes() -> tuple[Scene, ...]:
    """All scenes, in order of file and place in it. Raises RequestError for a file that is no TOML."""
    return tuple(scene for path in sorted((FOLDER / "scenes").glob("*.toml")) for scene in read_scenes(path))


@functools.cache
def scenes_of(domain: str) -> tuple[Scene, ...]:
    """The scenes of a domain, in the same order."""
    return tuple(scene for scene in scenes() if scene.domain == domain)


def read_scenes(path: Path) -> list[Scene]:
    """The scenes of one file ``<band>_<domain>*.toml``."""
    band, domain = path.stem.split("_", 1)
    domain = domain.split(".")[0]
    text = path.read_text("utf-8")
    try:
        made = [_scene(raw, band, domain) for raw in tomllib.loads(text)["scene"]]
    except tomllib.TOMLDecodeError as error:
        raise RequestError("not a bank", path, expected=str(error), fix="Correct that line") from None
    for scene in made:
        for fragment, problem in scene_problems(scene):
            line = next((number for number, row in enumerate(text.splitlines(), 1) if fragment in row), 1)
            raise RequestError(
                f"scene {scene.id}", f"{path.name}:{line}", expected=problem, fix="Correct that line of the bank"
            )
    return made


def _scene(raw: dict[str, Any], band: str, domain: str) -> Scene:
    low, high, _ = BANDS[band]
    days = raw.get("days", "any")
    return Scene(
        id=raw["id"],
        band=band,
        domain=domain,
        tiers=raw["tiers"],
        ages=tuple(raw.get("ages", (low, high))),
        setting=raw["setting"],
        place=tuple(raw["place"]),
        days=DAYS[days] if isinstance(days, str) else tuple(days),
        hours=_spread(raw.get("hours", "any"), HOURS),
        seasons=tuple(raw.get("seasons", ANY_SEASON)),
        weather=tuple(raw.get("weather", ())),
        term=days == "school",
        cast=raw.get("cast", {}),
        variants=tuple(raw["variants"]),
        once={name: tuple(values) for name, values in raw.get("once", {}).items()},
        feel=tuple(raw["feel"]),
        summary=tuple(raw["summary"]),
        triggers=tuple(raw["triggers"]),
        tags=tuple(raw["tags"]),
        skip=tuple(raw.get("skip", ())),
        needs=tuple(raw.get("needs", ())),
        beats={name: tuple(raw[name]) for name in BEATS if name in raw},
    )


def _spread(value: str | list[str], named: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    return named[value] if isinstance(value, str) else tuple(value)
