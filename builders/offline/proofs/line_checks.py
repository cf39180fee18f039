"""What can be wrong with one line of the banks before it is told: slots, forbidden expressions, marks, stops.

HEART-BENCH appendices B.4 and G.2. Used by

    python -m builders.offline.lint
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from typing import Any

from builders.offline import slots as slot_types
from builders.offline.banks import bank
from builders.offline.cast import FORMS
from builders.offline.grammar import Choice, Template, parse_line, slots

# What every variant of a scene gives, because voices use it in any scene.
HANDLES = frozenset(["matter", "fix", "easy", "doing", "fear_s"])
# People and things of the ledger at home, which lines of home.toml name.
AT_HOME = frozenset(["partner", "child", "pet", "keepsake", "ailment"])
TIME = frozenset(
    [
        "when",
        "weekday",
        "month",
        "month_part",
        "nth",
        "mark",
        "about",
        "clock",
        "part",
        "ahead",
        "later",
        "soon",
        "days",
    ]
)


def line_problems(
    line: str, known: set[str] | frozenset[str], people: set[str], language: str, beat: str = ""
) -> Iterator[str]:
    """What is wrong with one line; ``known`` are its slots besides time, small words and ``people``."""
    yield from slot_problems(line, known, people)
    yield from slot_types.place_problems(line, {})
    for fault, pattern in _faults():
        wanted = beat in fault.get("where", (beat,)) and language == fault.get("language", language)
        if wanted and (found := pattern.search(line)):
            yield f"{fault['about']} {found[0]!r}"
    if line.count("\u201c") != line.count("\u201d"):
        yield "unbalanced quotation marks"
    if '"' in line:
        yield "straight quotation mark"
    if not re.search(r"[.!?\u2026][\u201d>\]]*$", line):
        yield f"no stop at the end: {line[-30:]!r}"


@functools.cache
def _faults() -> Sequence[tuple[dict[str, Any], re.Pattern[str]]]:
    """What no line may say, with its pattern (``banks/faults.toml``)."""
    return [(fault, re.compile(fault["pattern"])) for fault in bank("faults")["fault"]]


def slot_problems(text: str, known: set[str] | frozenset[str], people: set[str]) -> Iterator[str]:
    try:
        templates: list[Template] = [template for _, template in parse_line(text)]
    except ValueError as error:
        yield str(error)
        return
    for name in dict.fromkeys(slot for template in templates for slot in slots(template)):
        head, _, form = name.partition(".")
        if form:
            if head not in people | AT_HOME | {"ground"} or form not in FORMS:
                yield f"unknown slot {{{name}}}"
        elif name not in people | known | HANDLES | TIME | AT_HOME and name not in bank("words"):
            yield f"unknown slot {{{name}}}"
    for template in templates:
        if any(isinstance(node, Choice) and len(node.options) < 2 for node in template):
            yield "a choice of one"
