"""The scenes (plot frames) of the banks, read once, with every slot checked by its type.

``banks/README.md`` describes the format; a fault is named with file and line.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from builders.offline.banks import ANY_SEASON, BANDS, BEATS, DAYS, FOLDER, HOURS, Scene, bank, fault_of, line_of, read
from builders.offline.slots import scene_problems
from builders.offline.voices import kinds_problems

_FIELDS = frozenset(field.name for field in fields(Scene)) - {"band", "domain", "beats", "term"}
# Beats told from the shared banks, which a scene may leave out.
_SHARED = ("at_home", "at_home_later", "ambience", "weather", "ailment", "tempted")


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
    text, raws = read(path)
    for raw in raws["scene"]:
        for key in sorted(raw.keys() - _FIELDS - set(BEATS)):
            lead = f'id = "{raw["id"]}"'
            raise fault_of(f"scene {raw['id']}", path, line_of(text, lead, f"{key} ="), f"unknown key {key!r}")
    made = [_scene(raw, band, domain) for raw in raws["scene"]]
    for scene in made:
        for fragment, problem in (*_kind_problems(scene), *_skip_problems(scene), *scene_problems(scene)):
            raise fault_of(f"scene {scene.id}", path, line_of(text, f'id = "{scene.id}"', fragment), problem)
    return made


def _kind_problems(scene: Scene) -> Iterator[tuple[str, str]]:
    """What is wrong with the kinds of a scene: a piece of the line they stand in, and the fault."""
    for kind, problem in kinds_problems(scene.kinds):
        yield f'"{kind}"', problem
    for kind, others in bank("kinds")["excludes"].items():
        for other in others:
            if {kind, other} <= set(scene.kinds):
                yield "kinds = ", f"kinds {kind!r} and {other!r} exclude each other"


def _skip_problems(scene: Scene) -> Iterator[tuple[str, str]]:
    """What is wrong with the shared beats a scene leaves out: a piece of the line they stand in, and the fault."""
    for beat in scene.skip:
        if beat not in _SHARED:
            yield "skip = ", f"skip names {beat!r}, which is none of {', '.join(_SHARED)}"


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
        seasons=_seasons(raw),
        weather=tuple(raw.get("weather", ())),
        term=days == "school",
        cast=raw.get("cast", {}),
        variants=tuple(raw["variants"]),
        once={name: tuple(values) for name, values in raw.get("once", {}).items()},
        feel=tuple(raw["feel"]),
        summary=tuple(raw["summary"]),
        triggers=tuple(raw["triggers"]),
        tags=tuple(raw["tags"]),
        kinds=tuple(raw.get("kinds", ())),
        skip=tuple(raw.get("skip", ())),
        needs=tuple(raw.get("needs", ())),
        beats={name: tuple(raw[name]) for name in BEATS if name in raw},
    )


def _seasons(raw: Mapping[str, Any]) -> tuple[str, ...]:
    """The seasons a scene can be in: those that have a weather it can be told in, where there are any."""
    told = tuple(raw.get("seasons", ANY_SEASON))
    possible = bank("weather")["season"]
    return tuple(season for season in told if set(possible[season]) & set(raw.get("weather", ()))) or told


def _spread(value: str | list[str], named: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    return named[value] if isinstance(value, str) else tuple(value)
