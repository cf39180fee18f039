"""What is judged: one item a decision, a pair or a text, as a person is shown it.

An item has a blind name, and a digest of everything that is shown, so that an answer can be held against
the very text it was given to. Nothing shown says who wrote it, which character it is, or what others said.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import orjson

from schemas.errors import RequestError
from schemas.rows import numbered_jsonl
from schemas.tables import Row
from schemas.workspace import Workspace
from validators.review.tables import review_tables

Kind = Literal["decisions", "pairs", "ratings"]
TRACE = ("summary", "emotional_tone", "core_reasoning", "value_orientation")
"""The parts of an inner trace, in the order in which they are shown."""

KINDS: tuple[Kind, ...] = ("decisions", "pairs", "ratings")


@dataclass(frozen=True)
class Item:
    """What is judged. ``shown`` stands beside ``text`` (of a pair also ``other_text``); ``expected`` is not shown."""

    kind: Kind
    row_id: str
    text: str
    shown: Mapping[str, str]
    other_text: str | None = None
    expected: float | None = None
    character_id: str | None = None
    scenario_id: str | None = None

    @property
    def name(self) -> str:
        """The blind name, the same whatever the text."""
        return hashlib.sha256(f"{self.kind}\x1f{self.row_id}".encode()).hexdigest()[:12]

    @property
    def digest(self) -> str:
        """SHA-256 of everything that is shown."""
        seen = [self.kind, dict(self.shown), self.text, self.other_text]
        return hashlib.sha256(orjson.dumps(seen, option=orjson.OPT_SORT_KEYS)).hexdigest()

    def as_row(self) -> Row:
        """The record that a round keeps of it."""
        return asdict(self)


class Decisions:
    """The decisions of a workspace as items. Raises RequestError when a table they are shown with is missing."""

    def __init__(self, space: Workspace) -> None:
        tables = review_tables(space.benchmark)
        for table in (tables.people, tables.situations, tables.judged):
            if not space.keys(table):
                raise RequestError("missing table", space.folder, expected=table, fix="Build the benchmark first")
        self._profiles = {row["character_id"]: _profile(row) for row in space.rows(tables.people)}
        self._situations = {row["id"]: _situation(row) for row in space.rows(tables.situations)}

    def item(self, decision: Row, text: str | None = None, thoughts: str | None = None) -> Item:
        """A decision as it is shown; with ``text`` and ``thoughts`` in place of its own.

        Raises RequestError for a dangling id.
        """
        who, where = decision["character_id"], decision["scenario_id"]
        if who not in self._profiles or where not in self._situations:
            fix = "Run python -m validators, and fix what it names"
            raise RequestError(
                "decision of an unknown character or scenario", "decisions", row=row_id(decision), fix=fix
            )
        thoughts = thoughts_of(decision) if thoughts is None else thoughts
        return Item(
            kind="decisions",
            row_id=row_id(decision),
            text=text if text is not None else decision["final_decision"],
            shown={"profile": self._profiles[who], **self._situations[where], "thoughts": thoughts},
            character_id=who,
            scenario_id=where,
        )


def thoughts_of(decision: Row) -> str:
    """The inner trace as it is shown and judged: a line a part."""
    return "\n".join(decision["inner_consciousness"][part] for part in TRACE)


def trace_of(thoughts: str) -> dict[str, str] | None:
    """The parts of an inner trace that a person wrote, a line a part; None where there are more or fewer."""
    lines = [line.strip() for line in thoughts.splitlines() if line.strip()]
    return dict(zip(TRACE, lines, strict=True)) if len(lines) == len(TRACE) else None


def row_id(decision: Row) -> str:
    """The key of a decision, joined with a slash."""
    return f"{decision['character_id']}/{decision['scenario_id']}"


def from_file(path: Path, kind: Kind) -> list[Item]:
    """Pairs or texts to rate from a JSON Lines file: ``id``, ``question``, ``text``, of pairs ``other_text``.

    ``context`` and ``expected`` (a score to compare people with; of a pair first minus second) may be there.
    Raises RequestError naming line and field for a record that is not of this form, or an id given twice.
    """
    wanted = ("id", "question", "text", *(("other_text",) if kind == "pairs" else ()))
    found: dict[str, Item] = {}
    for line, row in numbered_jsonl(path):
        where = f"{path}:{line}"
        for field in wanted:
            if not isinstance(row.get(field), str) or not row[field].strip():
                raise RequestError("item without a field", where, field=field, expected="text", fix="Add it")
        score = row.get("expected")
        if score is not None and (isinstance(score, bool) or not isinstance(score, int | float)):
            raise RequestError("wrong score", where, field="expected", expected="a number", fix="Fix or remove it")
        if row["id"] in found:
            raise RequestError("item given twice", where, row=row["id"], fix="Remove one, or give it another id")
        found[row["id"]] = Item(
            kind=kind,
            row_id=row["id"],
            text=row["text"],
            shown={"question": row["question"], "context": str(row.get("context") or "")},
            other_text=row["other_text"] if kind == "pairs" else None,
            expected=None if score is None else float(score),
        )
    if not found:
        raise RequestError("no items", path, expected="one JSON object a line", fix="Add some")
    return list(found.values())


def by_name(items: Iterable[Item]) -> dict[str, Item]:
    """Items by blind name."""
    return {item.name: item for item in items}


def _profile(character: Row) -> str:
    """The person without name, number, archetype or label."""
    traits = ", ".join(f"{trait} {value:.2f}" for trait, value in character["big_five"].items())
    habits = "\n".join(f"- {pattern}" for pattern in character["core_patterns"])
    return (
        f"{character['occupation']}. {character['description']}\n"
        f"Inner rule: {character['self_value_logic']}\n{habits}\nBig Five (0-1): {traits}\n"
        f"Strongest values: {_terms(character['dominant_values'])}\n"
        f"Weakest values: {_terms(character['suppressed_values'])}"
    )


def _terms(values: Iterable[str]) -> str:
    return ", ".join(value.replace("_", " ") for value in values)


def _situation(scenario: Row) -> dict[str, str]:
    setting, trigger = scenario["setting"], scenario["trigger_event"]
    return {
        "situation": f"At the age of {scenario['age']}. {setting['location']}; {setting['time']}; "
        f"{setting['atmosphere']}\n\n{scenario['context_text']}",
        "event": f"{trigger['sender']}: {trigger['message_content']}",
        "question": trigger["action_required"] or "What do you do?",
    }
