"""A run of memories: what is to be done, doing it, and putting the finished windows together.

Reading the workspace and planning (``tasks``) writes nothing, so a dry run is the same code. ``write`` runs
the chains of the windows that are not there yet; each stores itself (``builders.memories.windows``). ``assemble``
puts a character's file together from its windows and from memories of the user's own, which are never
touched. Used by ``builders.memories``.
"""

from __future__ import annotations

import functools
import os
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from audits.audit_cache import write_entries
from builders import personas
from builders.life import ledgers
from builders.memories.overview import Figures, Written
from builders.memories.plan import plan
from builders.memories.repair import defects
from builders.memories.windows import Part, Window, read_part, write_windows
from builders.pipeline.edits import PARTS, is_unedited, write_tracked
from builders.pipeline.streams import Streams
from models.backends import BackendSettings, run
from models.remedies import Failure, write_failures
from schemas.errors import MachineError, RequestError, unknown
from schemas.findings import Finding
from schemas.rows import read_jsonl, write_jsonl
from schemas.tables import Row, term_ids
from schemas.workspace import Workspace

REVIEW = "manual_review.jsonl"
FAILED = "failed.jsonl"

# Fewer memories than this a worker are written sooner by one process than by starting another.
_WORTH_A_WORKER = 150


@dataclass(frozen=True)
class Order:
    """What was asked for: characters and stages (none: all), memories a character, preset of the tiers."""

    characters: Sequence[str]
    stages: Sequence[str]
    total: int
    preset: str
    streams: Streams
    fresh: bool


@dataclass(frozen=True)
class Task:
    """One character: its windows, those that were asked for, and memories it has that no builder made."""

    character: Row
    windows: tuple[Window, ...]
    asked: tuple[Window, ...]
    own: tuple[Row, ...]

    @property
    def who(self) -> str:
        """The character's id."""
        return str(self.character["character_id"])


def build_memories(
    space: Workspace, order: Order, settings: BackendSettings, workers: int | None, quiet: bool
) -> list[Written]:
    """A whole run: plan, write, audit, repair, put together. The workspace must be locked."""
    planned = tasks(space, order, settings)
    windows = [window for task in planned for window in task.asked]
    write_characters_and_ledgers(space, planned, order.streams)
    if order.fresh:
        for window in windows:
            window.file.unlink(missing_ok=True)
    write(windows, settings, workers, quiet)
    done = {task.who: assemble(space, task) for task in planned}
    write_review_lists(space, {who: unresolved for who, (_, unresolved) in done.items()})
    return [written for written, _ in done.values()]


def tasks(space: Workspace, order: Order, settings: BackendSettings) -> list[Task]:
    """What a run consists of. Raises RequestError for unknown names and for rows it must not replace."""
    known = term_ids("memory_stages")
    for name in order.stages:
        if name not in known:
            raise unknown("stage", name, known, "memory_stages")
    return [_task(space, order, settings, row) for row in personas.selected_characters(space, order.characters)]


def write_characters_and_ledgers(space: Workspace, planned: Sequence[Task], streams: Streams) -> None:
    """Write the characters and ledgers that memories refer to. The workspace must be locked."""
    if not space.path("characters").is_file():
        personas.write_characters(space, personas.load_characters())
    for task in planned:
        ledgers.write_ledger(space, task.character, streams)


def is_due(window: Window) -> bool:
    """Whether a window is not there yet, or lacks memories that no answer brought."""
    part = read_part(window)
    return part is None or bool(part.failures)


def write(windows: Sequence[Window], settings: BackendSettings, workers: int | None, quiet: bool) -> None:
    """Run the chains of the windows that are due; ``workers`` None: as many as it is worth, up to the cores."""
    due = [window for window in windows if is_due(window)]
    rows = sum(len(window.plans) for window in due)
    worth = workers or min(os.cpu_count() or 1, 1 + rows // _WORTH_A_WORKER)
    offline = settings.name == "offline"
    chains = _by_character(due) if offline else [[window] for window in due]
    starts = [functools.partial(write_windows, chain) for chain in chains]
    live = offline and not quiet and sys.stderr.isatty()  # a model's run shows more itself
    done = 0
    for count in run(starts, settings, workers=worth, rows=rows):
        done += count
        if live:
            sys.stderr.write(f"\r{done:,} of {rows:,} memories" + "\n" * (done == rows))
            sys.stderr.flush()


def _by_character(windows: Sequence[Window]) -> list[list[Window]]:
    """Windows by character: the offline writer tells a life in order, so a second process would tell it again."""
    by_character: dict[str, list[Window]] = {}
    for window in windows:
        by_character.setdefault(str(window.character["character_id"]), []).append(window)
    return list(by_character.values())


@dataclass(frozen=True)
class Unresolved:
    """What a person has to look at: rows with errors after three repairs, and memories that no answer brought."""

    review: Sequence[Row]
    failures: Sequence[Failure]


def assemble(space: Workspace, task: Task) -> tuple[Written, Unresolved]:
    """Write a character's file, by age, then id; windows of earlier runs that are still good are in it too."""
    by_stage = {window.stage: read_part(window) for window in task.windows}
    for window in task.asked:
        if by_stage[window.stage] is None:
            raise MachineError("finished window is gone", window.file, fix="Run the same command again")
    parts = [part for part in by_stage.values() if part is not None]
    rows = [*task.own, *(row for part in parts for row in part.rows)]
    rows.sort(key=lambda row: (row["age"], row["id"]))
    write_tracked(space, "memories", rows, task.who)
    write_entries(space, "memories", task.who, {name: entry for part in parts for name, entry in part.audits.items()})
    written = Written(
        character=task.character,
        figures=Figures.of(rows),
        found=_total(part.found for part in parts),
        repaired=_total(part.repaired for part in parts),
        open=_total({code: 1} for part in parts for _, _, code in sorted(defects(part.open))),
        failures=[failure for part in parts for failure in part.failures],
        file=str(space.path("memories", task.who)),
    )
    return written, Unresolved([entry for part in parts for entry in _review(part)], written.failures)


def write_review_lists(space: Workspace, unresolved: Mapping[str, Unresolved]) -> None:
    """Write ``manual_review.jsonl`` and ``failed.jsonl``, by character id; lines about other characters stay."""
    others = (line for line in _lines(space.folder / REVIEW) if line["row"]["character_id"] not in unresolved)
    entries = [*others, *(entry for one in unresolved.values() for entry in one.review)]
    entries.sort(key=lambda entry: str(entry["row"]["id"]))
    if entries:
        write_jsonl(space.folder / REVIEW, entries)
    else:
        (space.folder / REVIEW).unlink(missing_ok=True)
    ours = tuple(f"MEM_{who.removeprefix('CHAR_')}_" for who in unresolved)
    other_failures = [Failure(**line) for line in _lines(space.folder / FAILED) if not line["item"].startswith(ours)]
    failures = [failure for one in unresolved.values() for failure in one.failures]
    write_failures(space.folder / FAILED, [*other_failures, *failures])


def _task(space: Workspace, order: Order, settings: BackendSettings, character: Row) -> Task:
    who = str(character["character_id"])
    own = _own(space, who, order.fresh)
    facts = ledgers.current_ledger(space, character, order.streams)
    plans = plan(character, order.streams, order.total, own, order.preset)
    windows = [
        Window(
            character=character,
            ledger=facts,
            stage=stage,
            plans=tuple(one for one in plans if one.stage == stage),
            kept=tuple(row for row in own if row["stage"] == stage),
            streams=order.streams,
            backend=settings.name,
            model=None if settings.name == "offline" else settings.roles["memory"].name,
            file=space.folder / PARTS / "memories" / who / f"{stage}.json",
            life=tuple(plans) if settings.name == "offline" else (),
        )
        for stage in term_ids("memory_stages")
    ]
    filled = tuple(window for window in windows if window.plans)
    asked = tuple(window for window in filled if not order.stages or window.stage in order.stages)
    return Task(character, filled, asked, tuple(own))


def _own(space: Workspace, who: str, fresh: bool) -> list[Row]:
    """The memories of a file that no builder made. Raises RequestError when built ones were changed since."""
    from validators.records import failures

    path = space.path("memories", who)
    if not path.is_file():
        return []
    rows = list(read_jsonl(path))
    own = [row for row in rows if (row.get("provenance") or {}).get("origin") != "built"]
    if len(own) < len(rows) and not fresh and not is_unedited(space, "memories", who):
        fix = "Move the file away to keep it, or pass --fresh to overwrite it"
        raise RequestError("memories were changed since they were built", path, fix=fix)
    for wrong in failures(space.benchmark.table("memories"), own):
        raise RequestError(
            "memory breaks its schema", path, row=wrong.row_id, field=wrong.field, expected=wrong.message
        )
    return own


def _total(each: Iterable[Mapping[str, int]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for one in each:
        total.update(one)
    return total


def _lines(path: Path) -> list[Row]:
    return list(read_jsonl(path)) if path.is_file() else []


def _review(part: Part) -> list[Row]:
    """One entry a row with open errors: the row, and the findings."""
    wrong: dict[str, list[Finding]] = {}
    for finding in part.open:
        if finding.severity == "error":
            wrong.setdefault(finding.row_id, []).append(finding)
    rows = {row["id"]: row for row in part.rows}
    return [
        {
            "row": rows[row_id],
            "codes": sorted({finding.code for finding in found}),
            "findings": [finding.as_dict() for finding in found],
        }
        for row_id, found in sorted(wrong.items())
    ]
