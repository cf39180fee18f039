"""A second, blind round of decisions: the same people judge some texts again, and agree with themselves or not.

It has a workspace of its own, with the texts as they read when they were first judged (an edited decision as it was
before, a dropped one too), in another order and with other seals. Gold comes from the first round alone.

    python -m validators.review repeat --to second-round --limit 60
    python -m validators.review import --workspace second-round second-round/heart/review/decisions/A1.csv
    python -m validators.review status --second second-round
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schemas.errors import RequestError
from schemas.tables import Row
from schemas.workspace import Workspace
from validators.agreement import Rating, cohen_kappa, krippendorff_alpha, unanimous_share
from validators.review import rounds
from validators.review.desk import Asked, export
from validators.review.figures import SCALES, rating
from validators.review.gold import NOBODY
from validators.review.intake import check_round
from validators.review.items import TRACE, Decisions, Item
from validators.review.rounds import Round
from validators.review.tables import review_tables

_ASIDE = ".unfinished"
_OF_DECISIONS = ("suitable", "verdict", "trace")


@dataclass(frozen=True)
class Begun:
    """A second round as it was begun: items a person, and how many judged texts cannot be shown as they were."""

    folder: Path
    waiting: Mapping[str, int]
    changed: int


def begin(space: Workspace, to: Path, seed: int, limit: int | None) -> Begun:
    """Write the second round's workspace and sheets; both workspaces must not be written to meanwhile.

    Raises RequestError where there is no first round, nothing that all annotators judged, or a round in ``to`` already.
    """
    first = check_round(rounds.read_round(space, "decisions"), "decisions")
    second = Workspace(to, space.benchmark.spec)
    if second.folder.exists():
        fix = "Name another folder; to see how it stands: python -m validators.review status --second DIR"
        raise RequestError("a workspace stands there already", second.folder, expected="a new folder", fix=fix)
    judged = rounds.latest(rounds.judgements(space, "decisions"))
    all_of_them = {item for item, people in judged.items() if set(first.annotators) <= people.keys()}
    shown = [item for item in rounds.shown_items(space, "decisions") if (item.name, item.digest) in all_of_them]
    source = Decisions(space)
    same = [item for item in shown if source.item(_decision(item)).digest == item.digest]
    if not same:
        expected = "texts that every annotator has judged"
        raise RequestError("nothing to judge again", space.folder, expected=expected, fix="Import their sheets first")
    seed = seed if seed != first.seed else seed + 1
    drawn = sorted(same, key=lambda item: hashlib.sha256(f"{seed}\x1f{item.name}".encode()).digest())[:limit]
    # Aside, so that it is there whole or not at all.
    shutil.rmtree(to / _ASIDE, ignore_errors=True)
    aside = Workspace(to / _ASIDE, space.benchmark.spec)
    with aside.lock():
        _write_tables(space, aside, drawn)
        _, waiting = export(aside, Asked("decisions", first.annotators, first.arbitrator, seed, None, None))
    aside.folder.rename(second.folder)
    (to / _ASIDE).rmdir()
    people = {person: count for person, count in waiting.items() if person in first.annotators}
    return Begun(rounds.folder(second, "decisions"), people, len(shown) - len(same))


def agreement(first: Workspace, second: Workspace) -> dict[str, Any]:
    """By person and scale how far the two judgements of the same texts agree; the last ones of each round count.

    Raises RequestError where one of the workspaces has no round, or the second is of other people.
    """
    of_first, of_second = (check_round(rounds.read_round(space, "decisions"), "decisions") for space in (first, second))
    if of_first.annotators != of_second.annotators:
        expected = f"the people of the first round: {', '.join(of_first.annotators)}"
        raise RequestError("a round of other people", second.folder, expected=expected)
    before, after = (rounds.latest(rounds.judgements(space, "decisions")) for space in (first, second))
    both = [(before[item], after[item]) for item in sorted(before.keys() & after.keys())]
    return {person: _of_person(of_first, both, person) for person in of_first.annotators}


def _of_person(
    agreed: Round, both: Sequence[tuple[Mapping[str, Row], Mapping[str, Row]]], person: str
) -> dict[str, Any]:
    pairs = [(then[person], now[person]) for then, now in both if person in then and person in now]
    found: dict[str, Any] = {}
    for scale in _OF_DECISIONS:
        name, order, level = SCALES[scale]
        table: list[list[Rating | None]] = [[rating(row[name]) for row in pair] for pair in pairs]
        table = [pair for pair in table if None not in pair]
        found[scale] = {
            "items": len(table),
            "same_share": unanimous_share(table),
            "cohen_kappa": cohen_kappa([then for then, _ in table], [now for _, now in table]),
            f"krippendorff_alpha_{level}": krippendorff_alpha(table, order, level),
        }
    return found


def _decision(item: Item) -> Row:
    """A decision with the words that were judged."""
    return {
        "character_id": item.character_id,
        "scenario_id": item.scenario_id,
        "final_decision": item.text,
        "inner_consciousness": dict(zip(TRACE, item.shown["thoughts"].split("\n", len(TRACE) - 1), strict=True)),
        "review": dict(NOBODY),
        "provenance": None,
    }


def _write_tables(space: Workspace, second: Workspace, items: Sequence[Item]) -> None:
    tables = review_tables(space.benchmark)
    for name in (tables.people, tables.situations):
        for key in space.keys(name):
            second.write(name, space.rows(name, key), key)
    judged = space.benchmark.table(tables.judged)
    files: dict[str, list[Row]] = {}
    for item in items:
        row = _decision(item)
        files.setdefault(judged.file_of(row), []).append(row)
    for key, rows in files.items():
        second.write(tables.judged, rows, key)
