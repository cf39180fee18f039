"""How much a scene has to tell, in characters: the least it is told in, and all it can say.

A memory has a length to reach (HEART-BENCH Table 7); what a scene lacks, shared banks fill, and memories of
different scenes come to look alike. Printed and bounded by

    python -m builders.offline.lint
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from builders.offline.banks import Scene
from builders.offline.lines import sentences

# All that a scene can say comes to a third of what its memories have on average, at the least.
LEAST = {"child": 900, "teen": 1050, "adult": 1150}

# Beats of which every memory of the scene tells one line.
_TOLD = ("open", "setup", "earlier", "arrive", "press", "face", "close", "later", "after")


@dataclass(frozen=True)
class Material:
    """``least``: what every memory of a scene tells; ``most``: that with every detail and every stretch."""

    least: float
    most: float


def material(scene: Scene) -> Material:
    """What a scene has to tell, for lines and wordings of middling length."""
    told = [scene.beats.get(beat, ()) for beat in _TOLD]
    details = sum(_size(line, whole=True) for line in scene.beats.get("detail", ()))
    return Material(
        sum(_mean(lines, whole=False) for lines in told), sum(_mean(lines, whole=True) for lines in told) + details
    )


def ranges(scenes: Iterable[Scene]) -> dict[str, tuple[float, float, float]]:
    """By band: the smallest least, the smallest most and the largest most."""
    by_band: dict[str, list[Material]] = {}
    for scene in scenes:
        by_band.setdefault(scene.band, []).append(material(scene))
    return {
        band: (min(one.least for one in each), min(one.most for one in each), max(one.most for one in each))
        for band, each in sorted(by_band.items())
    }


def _mean(lines: Sequence[str], whole: bool) -> float:
    return sum(_size(line, whole) for line in lines) / len(lines) if lines else 0.0


def _size(line: str, whole: bool) -> float:
    return sum(sentence.size + 1 for sentence in sentences(line) if whole or not sentence.optional)
