"""Part a release into one that is published and a held-out one that never is.

Questions that share an option go to the same side: where one question's right answer is another's distractor, a key
that is published would tell one that is not. From the open part the gold of the held-out questions is gone as well. The
held-out part keeps everything, keys included, apart from the folder of releases; ``publish`` refuses it, and answers to
it are scored by command:

    python -m releases split heart@2.0.0 --held-out 20 --private held-out
    python -m releases score held-out/heart-held-out/2.0.0 answers.jsonl
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from releases.opening import Release, open_release
from releases.splitting.variants import Variant, name_of, write_variant
from schemas.command import DONE, number, print_json, say
from schemas.errors import RequestError
from schemas.randomness import rng_for
from schemas.release_names import add_release
from schemas.tables import Row

HELP = "part a release into an open and a held-out one"
EXAMPLE = "python -m releases split heart@2.0.0 --held-out 20 --private held-out"

OPEN, HELD_OUT = "open", "held-out"


def split(source: Release, percent: float, seed: int, frozen: Path, private: Path) -> tuple[Release, Release]:
    """Write the open part under ``frozen`` and the held-out one under ``private``.

    Raises RequestError for a release without questions and for a share that leaves one side empty.
    """
    table = questions_table(source)
    questions = list(source.rows(table))
    held = _held_out(source, questions, percent, seed)
    if not held or len(held) == len(questions):
        raise RequestError(
            f"{percent:g} % holds {len(held):,} of {len(questions):,} questions out",
            source.name,
            expected="some on either side; questions that share an option stay together",
            fix="Give another --held-out",
        )
    of = f"{len(questions) - len(held):,} of {len(questions):,} questions"
    kept = {tuple(row[column] for column in source.key(table)) for row in questions} - held
    open_ = Variant(OPEN, f"{of}: the others are held out and are not published.", list(source.tables))
    out = Variant(HELD_OUT, f"{len(held):,} questions that are held out. Never publish this.", list(source.tables))
    sides = []
    for variant, side, root in ((open_, kept, frozen), (out, held, private)):
        rows = _rows_of(source, table, questions, side)
        sides.append(write_variant(source, Variant(variant.suffix, variant.what, variant.tables, rows), root))
    return sides[0], sides[1]


def questions_table(release: Release) -> str:
    """The table of questions. Raises RequestError where there is none, or several."""
    roles = {name: table.get("roles") or {} for name, table in release.manifest["tables"].items()}
    found = [name for name in release.tables if roles[name].get("role") == "questions"]
    if len(found) != 1:
        raise RequestError(f"{len(found)} tables of questions", release.name, expected="one table of role questions")
    return found[0]


def families(questions: Iterable[Row], key: Sequence[str]) -> dict[tuple[Any, ...], int]:
    """Question -> the number of its family: questions that share the text of an option, directly or over others."""
    parent: dict[Any, Any] = {}

    def root(node: Any) -> Any:
        while parent.setdefault(node, node) != node:
            parent[node] = node = parent[parent[node]]
        return node

    names = []
    for row in questions:
        name = ("question", *(row[column] for column in key))
        names.append(name)
        for option in row.get("options") or ():
            text = option.get("content") if isinstance(option, Mapping) else option
            parent[root(("option", text))] = root(name)
    numbers: dict[Any, int] = {}
    return {name[1:]: numbers.setdefault(root(name), len(numbers)) for name in names}


def _held_out(source: Release, questions: Sequence[Row], percent: float, seed: int) -> set[tuple[Any, ...]]:
    found = families(questions, source.key(questions_table(source)))
    members: dict[int, list[tuple[Any, ...]]] = {}
    for question, family in found.items():
        members.setdefault(family, []).append(question)
    order = sorted(members)
    rng_for(seed, source.name.benchmark, "releases", "split").shuffle(order)
    wanted, held = round(len(questions) * percent / 100), set[tuple[Any, ...]]()
    for family in order:
        if len(held) + len(members[family]) <= wanted:
            held.update(members[family])
    return held


def _rows_of(source: Release, table: str, questions: Sequence[Row], side: set[tuple[Any, ...]]) -> dict[str, Any]:
    """Which rows of the tables that hold questions, keys, gold or reviews belong to the questions of one side."""
    key = source.key(table)
    mine = [row for row in questions if tuple(row[column] for column in key) in side]
    made: dict[str, Any] = {}
    for name in source.tables:
        roles = source.manifest["tables"][name].get("roles") or {}
        revealing = roles.get("role") in ("questions", "keys") or roles.get("gold") or roles.get("record") == "reviews"
        columns = _shared(source, name, table) if revealing else []
        if columns:
            belong = {tuple(row[column] for column in columns) for row in mine}
            made[name] = lambda row, columns=columns, belong=belong: tuple(row[c] for c in columns) in belong
    return made


def _shared(source: Release, name: str, table: str) -> list[str]:
    """The columns of the questions by which a row says which question it belongs to."""
    keys = {column for other in source.tables for column in source.key(other)}
    asked = {*source.schema(table).names} & keys
    own = source.key(name)
    return [c for c in own if c in asked] if {*own} <= asked else [c for c in source.schema(name).names if c in asked]


def add_arguments(made: argparse.ArgumentParser) -> None:
    """The arguments of ``split``."""
    add_release(made)
    made.add_argument(
        "--held-out", type=number(0.001, 100), default=20.0, metavar="P", help="percent of questions (default: 20)"
    )
    made.add_argument(
        "--private", type=Path, default=Path("held-out"), metavar="DIR", help="held-out part (default: held-out)"
    )


def run(args: argparse.Namespace) -> int:
    """The verb."""
    source = open_release(args.release, args.frozen)
    for suffix, root in ((OPEN, args.frozen), (HELD_OUT, args.private)):
        if (folder := name_of(source, suffix).folder(root)).exists():
            raise RequestError(f"{name_of(source, suffix)} exists", folder, fix="Split a new version, or move it away")
    sides = split(source, args.held_out, args.seed, args.frozen, args.private)
    described = [{"release": str(each.name), "folder": str(each.folder), "digest": each.digest} for each in sides]
    if args.json:
        print_json({"open": described[0], "held_out": described[1]})
        return DONE
    for each in sides:
        say(f"{each.name}: {each.tables[questions_table(each)]:,} questions in {each.folder}", quiet=args.quiet)
    return DONE
