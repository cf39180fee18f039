"""A round of review: who judges, what was ever shown, and which judgements there are.

build/heart/review/decisions/round.json    people, seed, how many items
build/heart/review/decisions/items.jsonl   every item as it was shown, one line a text
build/heart/reviews/decisions.jsonl        every judgement (the table ``reviews``)
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import orjson

from schemas.errors import RequestError
from schemas.randomness import rng_for
from schemas.rows import read_jsonl, write_jsonl, write_whole
from schemas.tables import Row
from schemas.workspace import Workspace
from validators.review.items import Item, Kind
from validators.review.tables import review_tables

ANNOTATORS = 3  # primary annotators of decisions (appendix D.2)

SEAL = re.compile(r"([0-9]{1,7})/([0-9]{1,7}):[0-9a-f]{12}")

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,40}")


@dataclass(frozen=True)
class Round:
    """Who judges one kind of item; ``limit`` None: all items. Only decisions have an arbitrator."""

    kind: Kind
    annotators: tuple[str, ...]
    arbitrator: str | None
    seed: int
    limit: int | None = None

    def selected(self, items: Sequence[Item]) -> list[Item]:
        """The items of this round: all, or ``limit`` of them, the same ones whatever is added later."""
        drawn = sorted(items, key=lambda item: hashlib.sha256(f"{self.seed}\x1f{item.name}".encode()).digest())
        return drawn[: self.limit]

    def shuffled(self, items: Sequence[Item], person: str) -> list[Item]:
        """Items in a person's own order."""
        order = sorted(items, key=lambda item: item.name)
        rng_for(self.seed, "review", self.kind, person).shuffle(order)
        return order

    def seal(self, item: str, digest: str, person: str, place: int, total: int) -> str:
        """What makes a line a person's own: its place on their sheet, how many lines there are, and a digest of both.

        A line that was moved to somebody else, or whose name was edited, does not bear it.
        """
        people = [*self.annotators, str(self.arbitrator)]
        said = [self.seed, self.kind, *people, item, digest, person, place, total]
        return f"{place}/{total}:{hashlib.sha256(orjson.dumps(said)).hexdigest()[:12]}"

    def sealed(self, seal: str, item: str, digest: str, person: str) -> bool:
        """Whether a line is the one that was given to this person."""
        found = SEAL.fullmatch(seal)
        return found is not None and seal == self.seal(item, digest, person, int(found[1]), int(found[2]))

    def swapped(self, name: str, person: str) -> bool:
        """Whether a pair is shown to a person the other way round."""
        return self.kind == "pairs" and rng_for(self.seed, "review", name, person).random() < 0.5


def check_people(kind: Kind, annotators: Sequence[str], arbitrator: str | None) -> None:
    """Raise RequestError for people who cannot make a round: too few, the same twice, unfit code names."""
    everybody = [*annotators, *([arbitrator] if arbitrator else [])]
    for name in everybody:
        if not _NAME.fullmatch(name):
            expected = "up to 40 letters, digits, and . _ -"
            raise RequestError(f"not a code name: {name!r}", expected=expected, fix="Give another one")
    if len({name.casefold() for name in everybody}) < len(
        everybody
    ):  # sheets are files, also where case is no difference
        raise RequestError(
            "the same person twice", expected="different code names", fix="See --annotators, --arbitrator"
        )
    if kind == "decisions" and (len(annotators) != ANNOTATORS or not arbitrator):
        expected = f"{ANNOTATORS} annotators and an arbitrator, found {len(annotators)} and {int(bool(arbitrator))}"
        raise RequestError("not the people of this protocol", expected=expected, fix="See --annotators, --arbitrator")
    if kind != "decisions" and (len(annotators) < 2 or arbitrator):
        expected = "two annotators or more, and no arbitrator"
        raise RequestError("not the people of this protocol", expected=expected, fix="See --annotators")


def folder(space: Workspace, kind: Kind) -> Path:
    """Where a round keeps its files."""
    return space.folder / "review" / kind


def read_round(space: Workspace, kind: Kind) -> Round | None:
    """The round of a kind, or None before the first export. Raises RequestError for a malformed file."""
    path = folder(space, kind) / "round.json"
    if not path.is_file():
        return None
    try:
        kept = orjson.loads(path.read_bytes())
        return Round(kind, tuple(kept["annotators"]), kept["arbitrator"], kept["seed"], kept["limit"])
    except (orjson.JSONDecodeError, KeyError, TypeError):
        raise RequestError("malformed round", path, fix="Export again with --annotators, or restore it") from None


def write_round(space: Workspace, agreed: Round) -> None:
    """Keep a round."""
    content = orjson.dumps(asdict(agreed), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    write_whole(folder(space, agreed.kind) / "round.json", [content])


def shown_items(space: Workspace, kind: Kind) -> list[Item]:
    """Every item that was ever shown, in the order of last showing."""
    path = folder(space, kind) / "items.jsonl"
    return [Item(**row) for row in read_jsonl(path)] if path.is_file() else []


def remember(space: Workspace, kind: Kind, items: Iterable[Item]) -> None:
    """Add items to those that were shown."""
    known = {(item.name, item.digest): item for item in shown_items(space, kind)}
    for item in items:
        known.pop((item.name, item.digest), None)
        known[item.name, item.digest] = item
    write_jsonl(folder(space, kind) / "items.jsonl", (item.as_row() for item in known.values()))


def judgements(space: Workspace, kind: Kind) -> list[Row]:
    """All judgements of a kind, in order of key."""
    table = review_tables(space.benchmark).reviews
    return list(space.rows(table, kind)) if space.path(table, kind).is_file() else []


def latest(rows: Iterable[Row]) -> dict[tuple[str, str], dict[str, Row]]:
    """What counts: by item and digest, the last judgement of every person."""
    found: dict[tuple[str, str], dict[str, Row]] = {}
    for row in sorted(rows, key=lambda row: int(row["revision"])):
        found.setdefault((row["item"], row["digest"]), {})[row["annotator"]] = row
    return found
