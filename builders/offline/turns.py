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
    files = sorted((FOLDER / "turns").glob("*.toml"))
    return {key: made for path in files for key, made in read_turns(path).items()}


def part(scene: str, archetype: str) -> Part:
    """The part of a voice in a scene. Raises KeyError where the banks have none, which the lint names."""
    return parts()[scene, archetype]


def read_turns(path: Path) -> dict[tuple[str, str], Part]:
    """One file of turns, by scene and archetype. Raises RequestError for a fault, with file and line."""
    text, raw = read(path)
    known = {scene.id: scene for scene in scenes()}
    for name, by_voice in raw.items():
        if name not in known or not isinstance(by_voice, dict):
            raise fault_of(
                "turns", path, line_of(text, f"[{name}."), f"no scene has the id {name!r}, or it has no voices"
            )
        values = slot_values(known[name])
        for archetype, part in by_voice.items():
            for fragments, problem in _problems(known[name], values, archetype, part):
                place = line_of(text, f"[{name}.{archetype}]", *fragments)
                raise fault_of(f"turns of {name}", path, place, problem)
    return {
        (name, archetype): Part({tag: lines for tag, lines in part.items() if tag != SMALL}, part[SMALL])
        for name, by_voice in raw.items()
        for archetype, part in by_voice.items()
    }


def lines_of_turns(made: Mapping[tuple[str, str], Part], scene: str) -> Iterator[tuple[str, str]]:
    """The lines of all voices in a scene, each with where it stands."""
    for archetype in stems().values():
        if part := made.get((scene, archetype)):
            for tag, lines in part.turns.items():
                yield from ((f"{archetype}.{tag}.{beat}", lines[beat]) for beat in BEATS)
            yield f"{archetype}.{SMALL}", part.small


def _problems(
    scene: Scene, values: Mapping[str, list[str]], archetype: str, part: Mapping[str, Any]
) -> Iterator[tuple[tuple[str, ...], str]]:
    """What is wrong with a part: pieces of text that lead to the line, one behind the other, and the fault."""
    if archetype not in stems().values() or not isinstance(part, dict):
        yield (), f"unknown voice {archetype!r}, or no table: one of {', '.join(stems().values())}"
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
    for tag, lines in part.items():
        for line in lines.values() if isinstance(lines, dict) else (lines,):
            yield from (((tag,), fault) for fault in _line_problems(scene, values, line))


def _line_problems(scene: Scene, values: Mapping[str, list[str]], line: object) -> Iterator[str]:
    if not isinstance(line, str) or not line.strip():
        yield "no words"
        return
    yield from place_problems(line, values)
    yield from undeclared(line, scene.needs)
