"""What each voice thinks and does in each scene, read once: the turn of a memory, and the trace on a plain day.

``banks/turns/<file>.toml`` holds it for the scenes of ``banks/scenes/<file>.toml``; ``banks/README.md`` describes the
format. A fault is named with file and line, when the file is loaded and by

    python -m builders.offline.lint
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from builders.offline.banks import FOLDER, Scene, fault_of, line_of, read
from builders.offline.scene_files import scenes
from builders.offline.slots import place_problems, slot_values, undeclared
from builders.offline.voices import stems, voice

# The two lines of a turn, and what stands beside the turns of a voice.
BEATS = ("think", "act")
SMALL = "small"
# Tiers of memories that turn on a pattern.
TURNING = frozenset("AB")


@dataclass(frozen=True)
class Part:
    """A voice in a scene: by tag of its pattern what it thinks and does, and its trace on a plain day."""

    turns: Mapping[str, Mapping[str, str]]
    small: str


@functools.cache
def parts() -> Mapping[tuple[str, str], Part]:
    """The parts of all voices, by scene and archetype. Raises RequestError for a file that is not sound."""
    return {
        (scene, archetype): made
        for path in sorted((FOLDER / "turns").glob("*.toml"))
        for (scene, archetype), made in read_turns(path).items()
    }


def turn(scene: str, archetype: str, tag: str) -> Mapping[str, str]:
    """What a voice thinks and does in a scene that turns on a pattern; empty where the scene is not told so."""
    part = parts().get((scene, archetype))
    return part.turns.get(tag, {}) if part else {}


def read_turns(path: Path) -> dict[tuple[str, str], Part]:
    """One file of turns, by scene and archetype. Raises RequestError for a fault, with file and line."""
    text, raw = read(path)
    known = {scene.id: scene for scene in scenes()}
    for name, by_voice in raw.items():
        if name not in known:
            raise fault_of("turns", path, line_of(text, f"[{name}."), f"no scene has the id {name!r}")
        for archetype, part in by_voice.items():
            for fragments, problem in _problems(known[name], archetype, part):
                place = line_of(text, f"[{name}.{archetype}]", *fragments)
                raise fault_of(f"turns of {name}", path, place, problem)
    return {
        (name, archetype): Part({tag: lines for tag, lines in part.items() if tag != SMALL}, part[SMALL])
        for name, by_voice in raw.items()
        for archetype, part in by_voice.items()
    }


def lines_of_part(part: Part) -> Iterator[tuple[str, str]]:
    """All lines of a part, each with where it stands."""
    for tag, lines in part.turns.items():
        yield from ((f"{tag}.{beat}", lines[beat]) for beat in BEATS)
    yield SMALL, part.small


def _problems(scene: Scene, archetype: str, part: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], str]]:
    """What is wrong with a part: pieces of text that lead to the line, one behind the other, and the fault."""
    if archetype not in stems().values():
        yield (), f"unknown voice {archetype!r}: one of {', '.join(stems().values())}"
        return
    known = {pattern.tag for pattern in voice(archetype).patterns}
    turns = {tag: lines for tag, lines in part.items() if tag != SMALL}
    yield from (((tag,), f"{archetype} has no pattern {tag!r}") for tag in turns if tag not in known)
    yield from (
        ((tag,), f"a turn is {{ {' = …, '.join(BEATS)} = … }}")
        for tag, lines in turns.items()
        if not isinstance(lines, dict) or set(lines) != set(BEATS)
    )
    if SMALL not in part:
        yield (), f"no line {SMALL!r}"
    if bool(turns) != bool(TURNING & set(scene.tiers)):
        yield (), f"{len(turns)} turns in a scene of tiers {scene.tiers}"
    values = slot_values(scene)
    for tag, lines in part.items():
        for line in lines.values() if isinstance(lines, dict) else (lines,):
            faults = (*place_problems(line, values), *undeclared(line, scene.needs)) if line.strip() else ("no words",)
            yield from (((tag,), fault) for fault in faults)
