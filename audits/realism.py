"""Realism of simulated users: how long, how tidy and how varied their messages are, by the register of their profile.

Users that a model simulates write too well: too long, too formal, without a typo. The figures are counted from the
messages; ``realism.toml`` has the expressions and the ranges that they are held against. One outside its range is exit
code 1: it says where a simulator is unlike people, not that a message is wrong.

    python -m audits.realism --benchmark likebench --table session_turns --rows TURNS.parquet --release likebench@1.0.0
"""

from __future__ import annotations

import argparse
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from audits.own_rows import add_rows, beside, rows_of
from audits.subjects import values_of
from schemas import command
from schemas.benchmarks import benchmark
from schemas.documents import read_toml
from schemas.errors import RequestError, unknown
from schemas.sources import add_source
from schemas.tables import Row

SETTINGS = Path(__file__).with_name("realism.toml")
REGISTERS = {"formality.always_formal": "formal", "formality.always_casual": "casual"}
GROUPS = ("all", "formal", "mixed", "casual")

_USER = "user"
_OPENING = 3  # words
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_FIGURES = ("words", "lower_start", "no_final_mark", "question", "exclamation", "emoji", "contraction", "misspelt",
            "distinct_openings")  # fmt: skip


@dataclass(frozen=True)
class Figure:
    """A figure of a group of messages and the range it is held against; None where there is nothing, or no bound."""

    group: str
    name: str
    value: float | None
    least: float | None
    most: float | None

    @property
    def outside(self) -> bool:
        """Whether the value is outside its range."""
        if self.value is None:
            return False
        return (self.least is not None and self.value < self.least) or (
            self.most is not None and self.value > self.most
        )


def figures(rows: Sequence[Row], profiles: Sequence[Row], settings: Mapping[str, Any]) -> list[Figure]:
    """The figures of all users' messages and of each register, in order; odd rows are left out.

    ``words`` is a mean; all others are shares of messages, ``distinct_openings`` of the first messages of sessions.
    """
    registers = {str(row.get("persona_id")): _register(row) for row in profiles}
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if row.get("speaker") == _USER and isinstance(row.get("text"), str) and row["text"].strip():
            groups["all"].append(row)
            groups[registers.get(str(row.get("persona")), "mixed")].append(row)
    return [figure for group in GROUPS if group in groups for figure in _of(group, groups[group], settings)]


def read_settings(path: Path | None = None) -> dict[str, Any]:
    """The settings, with those of a file laid over them. Raises RequestError for a file that is malformed."""
    made = read_toml(SETTINGS)
    if path is None:
        return made
    own = read_toml(path)
    for group, ranges in own.items():
        if group not in GROUPS:
            raise unknown("group", group, GROUPS, path)
        if not isinstance(ranges, dict):
            raise RequestError("malformed group", path, field=group, expected="figures with [least, most]")
        for name, bounds in ranges.items():
            if name not in _FIGURES:
                raise unknown("figure", name, _FIGURES, path)
            if (
                not isinstance(bounds, list)
                or len(bounds) != 2
                or not all(isinstance(one, int | float) for one in bounds)
            ):
                raise RequestError("malformed range", path, field=f"{group}.{name}", expected="[least, most]")
        made[group] = {**made.get(group, {}), **ranges}
    return made


def _register(profile: Row) -> str:
    options = values_of(profile, "styles", "option")
    return next((REGISTERS[option] for option in options if option in REGISTERS), "mixed")


def _of(group: str, rows: Sequence[Row], settings: Mapping[str, Any]) -> Iterator[Figure]:
    ranges = settings.get(group, {})
    for name, value in _values(rows, settings).items():
        least, most = ranges.get(name, (None, None))
        yield Figure(group, name, value, least, most)


def _values(rows: Sequence[Row], settings: Mapping[str, Any]) -> dict[str, float | None]:
    texts = [str(row["text"]).strip() for row in rows]
    words = [[word.lower() for word in _WORD.findall(text)] for text in texts]
    misspelt = frozenset(settings["misspelt"])
    emoji, contraction = re.compile(settings["emoji"]), re.compile(settings["contraction"], re.IGNORECASE)
    bare = [emoji.sub("", text).strip() for text in texts]
    openings = [tuple(own[:_OPENING]) for own, row in zip(words, rows, strict=True) if _is_first(row)]
    return {
        "words": sum(map(len, words)) / len(words),
        "lower_start": _share(text[:1].islower() for text in texts),
        "no_final_mark": _share(not text.endswith((".", "!", "?", "…", '"', "”")) for text in bare),
        "question": _share("?" in text for text in texts),
        "exclamation": _share("!" in text for text in texts),
        "emoji": _share(emoji.search(text) is not None for text in texts),
        "contraction": _share(contraction.search(text) is not None for text in texts),
        "misspelt": _share(not misspelt.isdisjoint(own) for own in words),
        "distinct_openings": len(set(openings)) / len(openings) if openings else None,
    }


def _is_first(row: Row) -> bool:
    return str(row.get("turn", "")).lstrip("0") == "1"


def _share(hits: Iterable[bool]) -> float:
    found = list(hits)
    return sum(found) / len(found)


def main(argv: Sequence[str] | None = None) -> int:
    """Print the figures; see the module's docstring."""
    made = command.parser(
        "audits.realism", "Measure how messages of simulated users are written.",
        "python -m audits.realism --benchmark likebench --table session_turns --rows TURNS.parquet",
    )  # fmt: skip
    command.add_benchmark(made, default="likebench")
    made.add_argument("--table", default="session_turns", metavar="NAME", help="the table (default: session_turns)")
    made.add_argument("--settings", type=Path, metavar="FILE", help="ranges laid over audits/realism.toml")
    add_source(made)
    add_rows(made)
    return command.run(_measure, made, argv)


def _measure(parsed: argparse.Namespace) -> int:
    benchmark(parsed.benchmark).table(parsed.table)
    found = figures(rows_of(parsed, parsed.table), beside(parsed, "profiles"), read_settings(parsed.settings))
    if not found:
        raise RequestError("no messages of users", f"table {parsed.table}", fix="Name rows that an evaluation wrote")
    if parsed.json:
        command.print_json({"figures": [{**vars(one), "outside": one.outside} for one in found]})
    for one in found:
        value = "none" if one.value is None else f"{one.value:.3f}"
        bounds = "" if one.least is None and one.most is None else f"  expected {one.least} to {one.most}"
        note = "  OUTSIDE" if one.outside else ""
        command.say(f"{one.group:<8}{one.name:<20}{value:>8}{bounds}{note}", quiet=parsed.quiet or parsed.json)
    return command.FINDINGS if any(one.outside for one in found) else command.DONE


if __name__ == "__main__":
    raise SystemExit(main())
