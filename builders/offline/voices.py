"""The voices of the banks, read once: the core patterns of each archetype, its week and its body.

What a voice thinks and does stands with each scene (``builders.offline.turns``). The few lines that any scene may use
know nothing of it: a scene says of which kinds it is (``banks/kinds.toml``), and a line may ask for some of them or
stay away from others. ``banks/README.md`` describes the format; a fault is named with file and line, when a voice is
loaded and by

    python -m builders.offline.lint
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from builders.offline.banks import FOLDER, LANGUAGES, SHARED, VOICE_BEATS, bank, fault_of, line_of, read
from schemas.errors import unknown
from schemas.tables import term_ids

# The kind of a scene in which nobody but {other} is there, or at the other end of the line.
_ALONE = "alone"
STANCES = ("face", "away")
_LISTS = frozenset(name for names in SHARED.values() for name in names)
_CONDITIONS = frozenset({"only", "unless"})
_OF_VOICE = VOICE_BEATS | {"feel", "conclusion", "policy", "pattern"}
_OF_PATTERN = ("tag", "stance", "conclusion", "policy")
_OF_LINE = frozenset({"say"}) | _CONDITIONS


@dataclass(frozen=True)
class Condition:
    """Of which kinds a scene has to be: of at least one of ``only``, if there are any, and of none of ``unless``."""

    only: frozenset[str] = frozenset()
    unless: frozenset[str] = frozenset()

    def suits(self, kinds: Collection[str]) -> bool:
        """Whether a scene of these kinds will do."""
        return (not self.only or not self.only.isdisjoint(kinds)) and self.unless.isdisjoint(kinds)


@dataclass(frozen=True)
class VoiceLine:
    """A line of a voice, and which scenes it can be told in."""

    say: str
    condition: Condition


# Lines by language.
Lines = Mapping[str, tuple[VoiceLine, ...]]


@dataclass(frozen=True)
class Pattern:
    """One core pattern in a voice; ``stance`` is whether it faces the matter: ``face`` or ``away``."""

    tag: str
    stance: str
    conclusion: tuple[str, ...]
    policy: tuple[str, ...]


@dataclass(frozen=True)
class Voice:
    """What is one archetype's own; ``conclusion`` and ``policy`` are those of plain life."""

    feel: tuple[str, ...]
    conclusion: tuple[str, ...]
    policy: tuple[str, ...]
    beats: Mapping[str, Lines] = field(repr=False)
    patterns: tuple[Pattern, ...] = field(repr=False)


def suiting(lines: Sequence[VoiceLine], kinds: Collection[str]) -> list[str]:
    """What can be said in a scene of these kinds."""
    return [line.say for line in lines if line.condition.suits(kinds)]


@functools.cache
def voice(archetype: str) -> Voice:
    """The voice of an archetype (``N-High`` … ``Neutral``), from all files of its name: ``n_high*.toml``.

    Raises RequestError for a file that is no voice.
    """
    if archetype not in stems().values():
        raise unknown("voice", archetype, stems().values())
    stem = next(stem for stem, name in stems().items() if name == archetype)
    # The first file says in which order the patterns are numbered.
    paths = sorted((FOLDER / "voices").glob(f"{stem}*.toml"), key=lambda path: (path.stem != stem, path.name))
    return merged([read_voice(path) for path in paths])


@functools.cache
def stems() -> Mapping[str, str]:
    """The archetypes by what the files of their voices are called after."""
    return {archetype.lower().replace("-", "_"): archetype for archetype in term_ids("archetypes")}


def read_voice(path: Path) -> dict[str, Any]:
    """One file of a voice as it stands. Raises RequestError for a fault, with file and line."""
    text, raw = read(path)
    for fragments, problem in _problems(raw):
        raise fault_of("voice", path, line_of(text, *fragments), problem)
    return raw


def merged(files: Sequence[Mapping[str, Any]]) -> Voice:
    """The voice that some files make together: patterns as the first has them, lines from all."""
    return Voice(
        feel=tuple(dict.fromkeys(feeling for file in files for feeling in file.get("feel", ()))),
        conclusion=_all(files, "conclusion"),
        policy=_all(files, "policy"),
        beats={
            beat: _by_language([file[beat] for file in files if beat in file])
            for beat in sorted({name for file in files for name in file if name in VOICE_BEATS})
        },
        patterns=tuple(
            Pattern(part["tag"], part["stance"], tuple(part["conclusion"]), tuple(part["policy"]))
            for file in files
            for part in file.get("pattern", ())
        ),
    )


def words(item: str | Mapping[str, Any]) -> str:
    """The words of a line, which stands as a string or as a table."""
    return item if isinstance(item, str) else str(item["say"])


def kinds_problems(kinds: Sequence[str]) -> Iterator[tuple[str, str]]:
    """What is wrong with the kinds that a scene or a condition names, each with the kind."""
    known = bank("kinds")["kinds"]
    for kind in kinds:
        if kind not in known:
            yield kind, f"unknown kind {kind!r}: one of {', '.join(known)}"


def _all(parts: Sequence[Mapping[str, Any]], name: str) -> tuple[str, ...]:
    return tuple(text for part in parts for text in part.get(name, ()))


def _by_language(lists: Sequence[Mapping[str, Any]]) -> dict[str, tuple[VoiceLine, ...]]:
    return {
        language: tuple(_line(item) for part in lists for name in SHARED[language] for item in part.get(name, ()))
        for language in LANGUAGES
    }


def _line(item: str | Mapping[str, Any]) -> VoiceLine:
    own: Mapping[str, Any] = {} if isinstance(item, str) else item
    unless = frozenset(own.get("unless", ()))
    # Whoever is not there is neither looked at nor spoken to.
    unless |= {_ALONE} if "{second" in words(item).lower() else set()
    return VoiceLine(words(item), Condition(frozenset(own.get("only", ())), unless))


def _problems(raw: Mapping[str, Any]) -> Iterator[tuple[Sequence[str], str]]:
    """What is wrong with one file: pieces of text that lead to the line, one behind the other, and the fault."""
    yield from (((key,), f"unknown key {key!r}") for key in sorted(raw.keys() - _OF_VOICE))
    yield from _list_problems({name: raw[name] for name in VOICE_BEATS & raw.keys()}, ())
    for part in raw.get("pattern", ()):
        if "tag" not in part:
            yield ("[[pattern]]",), "a pattern without a tag"
            continue
        lead = (f'"{part["tag"]}"',)
        yield from (((*lead, key), f"unknown key {key!r}") for key in sorted(part.keys() - set(_OF_PATTERN)))
        yield from ((lead, f"pattern {part['tag']!r} has no {key}") for key in _OF_PATTERN if key not in part)
        if part.get("stance", STANCES[0]) not in STANCES:
            yield (*lead, "stance"), f"stance is none of {', '.join(STANCES)}"


def _list_problems(beats: Mapping[str, Any], lead: Sequence[str]) -> Iterator[tuple[Sequence[str], str]]:
    for beat, lists in beats.items():
        for name, items in lists.items():
            if name not in _LISTS:
                yield (*lead, beat, name), f"unknown list {name!r} of {beat}: one of {', '.join(sorted(_LISTS))}"
            for item in items:
                if isinstance(item, dict):
                    yield from _line_problems(item, lead)


def _line_problems(item: Mapping[str, Any], lead: Sequence[str]) -> Iterator[tuple[Sequence[str], str]]:
    say = item.get("say")
    if not isinstance(say, str) or not say.strip():
        first = next(iter(item), "")
        yield (*lead, f"{{ {first}" if say is None else f'= "{say}"'), "a line without words: say = is empty or missing"
        return
    here = (*lead, say[:60])
    yield from ((here, f"unknown key {key!r} of a line: say, only or unless") for key in sorted(item.keys() - _OF_LINE))
    if not _CONDITIONS & item.keys():
        yield here, "a table without only or unless: write the line as a string"
    yield from _condition_problems(item, here)


def _condition_problems(part: Mapping[str, Any], lead: Sequence[str]) -> Iterator[tuple[Sequence[str], str]]:
    for name in sorted(_CONDITIONS & part.keys()):
        if not isinstance(part[name], list) or not part[name]:
            yield (*lead, name), f"{name} is not a list of kinds"
            return
        for kind, problem in kinds_problems(part[name]):
            yield (*lead, kind), problem
    for kind in sorted(set(part.get("only", ())) & set(part.get("unless", ()))):
        yield (*lead, kind), f"{kind!r} is in only and in unless"
