"""The types of slots in the phrase banks: which there are, what a value must look like, where a slot may stand.

A slot says its type by its ending (``{work_n}``, ``{debt_np}``) or by agreement (``banks/types.toml``): bare noun
that can be counted, plural, mass noun, noun phrase, base-form verb phrase, -ing phrase, clause, sentence. A value
of the wrong form ("a glasses"), a slot where its type cannot stand ("the {debt_np}") and the speech of somebody
else with a value that says "I" or "my" are faults, named with file and line when a bank is loaded.
HEART-BENCH appendix B.4 (natural language). Shown by

    python -m builders.offline.lint
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from audits.checks.continuity import named_belongings
from builders.offline.banks import Scene, bank
from builders.offline.grammar import Choice, Slot, Template, parse_line

_FIRST = re.compile(r"\b(?:I|me|my|mine|myself|we|us|our|ours)\b")
_SAID_BY_ME = re.compile(r"\bI (?:\w+ )?(?:said|told|asked|answered|began|called|wrote|explained|thought)\b|\bI['’]")
# Types that anybody may say as they are.
_ANYBODYS = ("s", "line")
_SPEECH = re.compile(r"“[^”]*”")


@dataclass(frozen=True)
class SlotType:
    """One type: its name, what it is, and patterns of its values and of the text before it (None: anything)."""

    name: str
    about: str
    value: re.Pattern[str] | None
    unlike: re.Pattern[str] | None
    before: re.Pattern[str] | None
    never: re.Pattern[str] | None


@functools.cache
def types() -> Mapping[str, SlotType]:
    """All types of slots by name."""
    return {
        name: SlotType(name, raw["about"], *(_pattern(raw.get(key)) for key in ("value", "not", "before", "never")))
        for name, raw in bank("types")["types"].items()
    }


def _pattern(text: str | None) -> re.Pattern[str] | None:
    return re.compile(text) if text else None


def type_of(slot: str) -> SlotType | None:
    """The type of a slot's name; None for a name without one."""
    known = bank("types")["names"].get(slot)
    return types().get(known or slot.rpartition("_")[2])


def value_problem(slot: str, value: str) -> str | None:
    """What is wrong with a value of a slot, or None."""
    kind = type_of(slot)
    if kind is None:
        return f"slot {slot!r} has no type"
    bare = re.sub(r"^\{\w+\}\S*", "the", value) if value.startswith("{") and kind.name == "np" else value
    if (kind.value and not kind.value.search(bare)) or (kind.unlike and kind.unlike.search(bare)):
        return f"{slot} = {value!r} is not {kind.about}"
    return None


def place_problems(line: str, values: Mapping[str, list[str]]) -> Iterator[str]:
    """Slots of a line that stand where their type cannot; ``values`` are all values of a slot's name."""
    for before, slot in _places(line):
        kind = type_of(slot)
        if kind is None:
            yield f"slot {{{slot}}} has no type"
            continue
        ahead = before[-30:].lstrip("“")
        if (kind.never and kind.never.search(ahead)) or (
            kind.before and ahead.strip() and not kind.before.search(ahead)
        ):
            yield f"{before[-20:]!r} before {{{slot}}}, which is {kind.about}"
    yield from _spoken(line, values)


def scene_problems(scene: Scene) -> Iterator[tuple[str, str]]:
    """What is wrong with the slots of a scene: a piece of the line it stands in, and the fault."""
    values = slot_values(scene)
    for name, said in values.items():
        yield from ((value, problem) for value in said if (problem := value_problem(name, value)))
    for lines in scene.beats.values():
        for line in lines:
            yield from ((line[:60], problem) for problem in place_problems(line, values))
    for text in (*(line for lines in scene.beats.values() for line in lines), *itertools.chain(*values.values())):
        yield from ((text[:60], problem) for problem in undeclared(text, scene.needs))
    for need in scene.needs:
        if need not in bank("needs"):
            yield f'"{need}"', f"needs {need!r}, which no ledger can have: one of {', '.join(sorted(bank('needs')))}"


def slot_values(scene: Scene) -> dict[str, list[str]]:
    """All values of the slots of a scene, by name."""
    values: dict[str, list[str]] = {}
    for variant in (*scene.variants, *({name: text} for name, texts in scene.once.items() for text in texts)):
        for name, value in variant.items():
            values.setdefault(name, []).append(value)
    return values


def undeclared(text: str, needs: Collection[str] = ()) -> Iterator[str]:
    """What a text tells of as the narrator's own and not everybody has, and none of ``needs`` asks the ledger for."""
    for name, told, (start, end) in named_belongings(text):
        if name not in needs and told not in needs:
            yield f"{text[start:end]!r} is not in every ledger: declare it in needs, or name it by a slot of the cast"


def _spoken(line: str, values: Mapping[str, list[str]]) -> Iterator[str]:
    """Values in the first person in what somebody else says."""
    for found in _SPEECH.finditer(line):
        around = line[max(0, found.start() - 60) : found.start()] + line[found.end() : found.end() + 40]
        if _SAID_BY_ME.search(around):
            continue
        for slot in re.findall(r"\{([A-Za-z]\w*)\}", found[0]):
            kind = type_of(slot.lower())
            if kind is None or kind.name in _ANYBODYS:
                continue
            for value in values.get(slot.lower(), ()):
                if _FIRST.search(value):
                    yield f"{{{slot}}} = {value!r} in what somebody else says"


def _places(line: str) -> Iterator[tuple[str, str]]:
    """The text before each typed slot of a line, with its name; choices are followed into each option."""
    for _, template in parse_line(line):
        yield from _walk(template, "")


def _walk(template: Template, before: str) -> Iterator[tuple[str, str]]:
    for node in template:
        if isinstance(node, str):
            before += node
        elif isinstance(node, Slot):
            if "." not in node.name and (type_of(node.name) or "_" in node.name):
                yield before, node.name
            before += "\ue000"
        elif isinstance(node, Choice):
            for option in node.options:
                yield from _walk(option, before)
            before += "\ue000"
