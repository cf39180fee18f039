"""In which scenes which pattern of a voice has a turn.

A memory that turns on a pattern is told as a scene in which the voice has lines for it (``builders.offline.turns``).
Where no scene of a domain has, at some age, the writer takes one that says nothing of the pattern; where a scene lacks
a voice, nobody of that kind can live it. Both are faults of the banks, named by

    python -m builders.offline.lint --coverage
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from builders.offline.banks import BANDS, LANGUAGES, Scene
from builders.offline.turns import TURNING, Part
from builders.offline.voices import Voice

_AGES = {language: range(BANDS[language][0], BANDS[language][1] + 1) for language in LANGUAGES}
# By age and tier.
_ByAge = Mapping[tuple[int, str], Sequence[Scene]]
Parts = Mapping[tuple[str, str], Part]


def table(
    voices: Mapping[str, Voice], scenes: Sequence[Scene], parts: Parts
) -> dict[tuple[str, str], dict[tuple[str, str], int]]:
    """By archetype and tag, and then by language and domain: in how many scenes the pattern has a turn, at the least.

    The least is that over the ages of a language and the tiers; scenes that need something of the ledger are not
    counted, because not everybody has it.
    """
    choices = _choices(scenes)
    return {
        (archetype, pattern.tag): {
            where: min(_turning(archetype, pattern.tag, fitting, parts) for fitting in by_age.values())
            for where, by_age in choices.items()
        }
        for archetype, voice in voices.items()
        for pattern in voice.patterns
    }


def coverage_problems(voices: Mapping[str, Voice], scenes: Sequence[Scene], parts: Parts) -> Iterator[str]:
    """Scenes without a part for a voice, and patterns that have a turn in no scene of a domain."""
    for scene in scenes:
        if lacking := [archetype for archetype in voices if (scene.id, archetype) not in parts]:
            yield f"{scene.id}: no turns for {', '.join(lacking)}"
    choices = _choices(scenes)
    for archetype, voice in voices.items():
        for pattern in voice.patterns:
            if without := list(_without_scenes(archetype, pattern.tag, choices, parts)):
                yield f"{archetype} {pattern.tag!r}: no scene with a turn in {', '.join(without)}"


def _without_scenes(archetype: str, tag: str, choices: Mapping[tuple[str, str], _ByAge], parts: Parts) -> Iterator[str]:
    for (_, domain), by_age in choices.items():
        ages = [age for (age, _), fitting in by_age.items() if not _turning(archetype, tag, fitting, parts)]
        if ages:
            yield f"{domain} at {min(ages)}" + (f" to {max(ages)}" if max(ages) > min(ages) else "")


def _choices(scenes: Sequence[Scene]) -> dict[tuple[str, str], _ByAge]:
    """By language and domain, and then by age and tier: the scenes that anybody can have."""
    domains = sorted({scene.domain for scene in scenes})
    return {
        (language, domain): {
            (age, tier): [scene for scene in scenes if _fits(scene, language, domain, age, tier)]
            for age in _AGES[language]
            for tier in sorted(TURNING)
        }
        for language in LANGUAGES
        for domain in domains
    }


def _fits(scene: Scene, language: str, domain: str, age: int, tier: str) -> bool:
    return (
        scene.domain == domain
        and scene.language == language
        and tier in scene.tiers
        and scene.ages[0] <= age <= scene.ages[1]
        and not scene.needs
    )


def _turning(archetype: str, tag: str, scenes: Sequence[Scene], parts: Parts) -> int:
    return sum((scene.id, archetype) in parts and tag in parts[scene.id, archetype].turns for scene in scenes)
