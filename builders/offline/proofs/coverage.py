"""Which scenes suit which pattern of a voice, and what is left to say in them.

A memory that turns on a pattern is told as a scene of the kinds that the pattern asks for, in lines that suit the
scene (``builders.offline.voices``). Where no scene of a domain suits, the writer takes one that does not; where
few lines are left, they come too often. Both are faults of the banks, named by

    python -m builders.offline.lint --coverage
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence

from builders.offline.banks import BANDS, LANGUAGES, Scene
from builders.offline.voices import Pattern, Voice, VoiceLine, suiting

# Lines of a beat that every scene that suits a pattern leaves, at the least, where the voice has any.
FEWEST = 2
# Tiers of memories that turn on a pattern.
_TURNING = ("A", "B")
_AGES = {language: range(BANDS[language][0], BANDS[language][1] + 1) for language in LANGUAGES}
# Scenes named in one fault.
_NAMED = 6
# By age and tier.
_ByAge = Mapping[tuple[int, str], Sequence[Scene]]


def table(voices: Mapping[str, Voice], scenes: Sequence[Scene]) -> dict[tuple[str, str], dict[tuple[str, str], int]]:
    """By archetype and tag of a pattern, and then by language and domain: how many scenes suit, at the least.

    The least is that over the ages of a language and the tiers; scenes that need something of the ledger are not
    counted, because not everybody has it.
    """
    choices = _choices(scenes)
    return {
        (archetype, pattern.tag): {
            where: min(_suited(pattern, fitting) for fitting in by_age.values()) for where, by_age in choices.items()
        }
        for archetype, voice in voices.items()
        for pattern in voice.patterns
    }


def coverage_problems(voices: Mapping[str, Voice], scenes: Sequence[Scene]) -> Iterator[str]:
    """Patterns for which a domain has no scene, and scenes in which a pattern leaves too few lines."""
    choices = _choices(scenes)
    for archetype, voice in voices.items():
        for pattern in voice.patterns:
            where = f"{archetype} {pattern.tag!r}"
            if lacking := list(_without_scenes(pattern, choices)):
                yield f"{where}: no scene suits it in {', '.join(lacking)}"
            suited = [scene for scene in scenes if _turns(scene) and pattern.condition.suits(scene.kinds)]
            yield from (f"{where}: {problem}" for problem in _few_lines(pattern, suited))


def _without_scenes(pattern: Pattern, choices: Mapping[tuple[str, str], _ByAge]) -> Iterator[str]:
    for (_, domain), by_age in choices.items():
        ages = [age for (age, _), fitting in by_age.items() if not _suited(pattern, fitting)]
        if ages:
            yield f"{domain} at {min(ages)}" + (f" to {max(ages)}" if max(ages) > min(ages) else "")


def _few_lines(pattern: Pattern, scenes: Sequence[Scene]) -> Iterator[str]:
    beats = {"think": pattern.think, **{f"act.{stance}": lines for stance, lines in pattern.act.items()}}
    for beat, by_language in beats.items():
        for language, lines in by_language.items():
            own = [scene for scene in scenes if scene.language == language]
            few = [scene.id for scene in own if lines and _left(lines, frozenset(scene.kinds)) < FEWEST]
            if few:
                more = f" and {len(few) - _NAMED} more" if len(few) > _NAMED else ""
                yield f"fewer than {FEWEST} lines of {beat} for {language} in {', '.join(few[:_NAMED])}{more}"


@functools.cache
def _left(lines: tuple[VoiceLine, ...], kinds: frozenset[str]) -> int:
    return len(suiting(lines, kinds))


def _choices(scenes: Sequence[Scene]) -> dict[tuple[str, str], _ByAge]:
    """By language and domain, and then by age and tier: the scenes that anybody can have."""
    domains = sorted({scene.domain for scene in scenes})
    return {
        (language, domain): {
            (age, tier): [scene for scene in scenes if _fits(scene, language, domain, age, tier)]
            for age in _AGES[language]
            for tier in _TURNING
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


def _turns(scene: Scene) -> bool:
    return bool(set(_TURNING) & set(scene.tiers))


def _suited(pattern: Pattern, scenes: Sequence[Scene]) -> int:
    return sum(pattern.condition.suits(scene.kinds) for scene in scenes)
