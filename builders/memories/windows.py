"""One window: a character's memories of one life stage, written in order, audited and repaired.

Memories of a window depend on each other (no setting twice); windows do not depend on each other. So
the windows are the chains of a run (``models.request``): asked side by side, each in a fixed order. A
finished window is a file of its own, named with the digest of everything it was made from; a file with
another digest is not used. That is what makes a run resumable, with the same bytes at the end.

    build/heart/.parts/memories/CHAR_04/adolescence.json

HEART-BENCH appendix B.3 (batches, window of recent contexts), B.4 (audit and repair).
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from audits.audit_cache import AuditCache, Entries
from builders.memories.briefing import Briefing, memory_prompt
from builders.memories.delimited import FIELDS, Blocks, parse, without_last
from builders.memories.plan import MemoryPlan
from builders.memories.repair import Repaired, RepairTools, repair_rows
from builders.memories.sanitise import sanitised
from builders.memories.stages import memory_stage
from builders.pipeline.provenance import built
from builders.pipeline.streams import Streams
from models.remedies import Failure, Kept, ask_pieces
from models.request import Chain, Reply, Request
from schemas.findings import Finding
from schemas.rows import write_whole
from schemas.tables import Row, Table, record_schema
from schemas.version import code_digest

if TYPE_CHECKING:
    from builders.offline.memories import Writer

BATCH = 3  # memories a request
RECENT = 100  # contexts a request asks to avoid (appendix B.3)

_TOKENS = 2_000  # room for one memory in a reply
_TEMPERATURE = 0.88  # the released generation script's
_KEY = ("id",)
_COMPARED = "duplicate"  # the family of findings about rows beside one another


@dataclass(frozen=True)
class Window:
    """What a window is made from, and where it is kept.

    ``kept`` are memories the stage has already, of the user's own: they are looked at, not changed.
    ``backend`` and ``model`` say what will answer. ``life`` are the plans of all the character's stages: the
    offline writer shares out its words over them.
    """

    character: Row
    ledger: Sequence[Row]
    stage: str
    plans: tuple[MemoryPlan, ...]
    kept: tuple[Row, ...]
    streams: Streams
    backend: str
    model: str | None
    file: Path
    life: tuple[MemoryPlan, ...] = ()

    @property
    def name(self) -> str:
        """``heart/memories/CHAR_04/adolescence``."""
        return f"{self.streams.benchmark}/memories/{self.character['character_id']}/{self.stage}"

    @functools.cached_property
    def digest(self) -> str:
        """SHA-256 of all that decides the rows: the inputs, the code with its data files and prompts, what answers."""
        inputs = [self.character, self.ledger, self.plans, self.life, self.kept]
        settings = [self.stage, self.streams, self.backend, self.model, code_digest()]
        return hashlib.sha256(orjson.dumps([inputs, settings], option=orjson.OPT_SORT_KEYS)).hexdigest()


@dataclass(frozen=True)
class Part:
    """A finished window: its rows, the defects found and repaired, what stays open, and what never came.

    ``audits`` are the entries of its rows in the cache of audits.
    """

    rows: list[Row]
    found: Mapping[str, int]
    repaired: Mapping[str, int]
    open: list[Finding]
    failures: list[Failure]
    audits: Entries


def read_part(window: Window) -> Part | None:
    """The finished window, if it is there, whole, and made from the same inputs."""
    digest = window.digest  # settled here, before the window is sent to another process
    try:
        kept = orjson.loads(window.file.read_bytes())
        if kept["digest"] != digest:
            return None
        return Part(
            kept["rows"],
            kept["found"],
            kept["repaired"],
            [Finding.from_dict(item) for item in kept["open"]],
            [Failure(**item) for item in kept["failures"]],
            kept["audits"],
        )
    except (FileNotFoundError, orjson.JSONDecodeError, KeyError, TypeError):
        return None


def write_windows(windows: Sequence[Window]) -> Chain[int]:
    """The chain of some windows of one character, in order: they share the writer. Returns how many memories."""
    written = 0
    writer: Writer | None = None
    for window in windows:
        state = WindowState(window, writer=writer)
        written += yield from _write(state)
        writer = state.writer if window.backend == "offline" else None
    return written


def write_window(window: Window) -> Chain[int]:
    """The chain of a window: writes its part and returns how many memories it has."""
    return (yield from _write(WindowState(window)))


def _write(state: WindowState) -> Chain[int]:
    window = state.window
    pieces, failures = yield from ask_pieces([plan.id for plan in window.plans], state.make, state.usable_rows, BATCH)
    tools = RepairTools(
        window.name,
        state.plans,
        state.briefing,
        state.judge,
        state.compare,
        lambda *asked: state.writer.rewrite(*asked),
    )
    repaired = yield from repair_rows(list(pieces.values()), tools)
    _save(state, repaired, failures)
    return len(repaired.rows)


def _save(state: WindowState, repaired: Repaired, failures: Sequence[Failure]) -> None:
    window = state.window
    rows = [sanitised(row, window.character["label"]) for row in repaired.rows]
    part = {
        "digest": window.digest,
        "found": dict(sorted(repaired.found.items())),
        "repaired": dict(sorted(repaired.repaired.items())),
        "open": [finding.as_dict() for finding in repaired.open],
        "failures": [asdict(failure) for failure in failures],
        "rows": rows,
        "audits": state.audited(rows),
    }
    write_whole(window.file, [orjson.dumps(part)])


class WindowState:
    """The state of a window while it is written: what was asked, what came, which contexts are taken.

    ``contexts`` are taken already, beside those of the memories the stage has; ``writer`` is the character's
    offline writer, where there is one.
    """

    def __init__(self, window: Window, contexts: Sequence[str] = (), writer: Writer | None = None) -> None:
        self.window = window
        self._writer = writer
        self.plans = {plan.id: plan for plan in window.plans}
        self.briefing = Briefing(window.character, window.ledger, window.stage)
        self._facts = {fact["fact_id"]: fact for fact in window.ledger}
        self._contexts = [*(row["context"] for row in window.kept), *contexts]
        self._cache = AuditCache()

    @property
    def writer(self) -> Writer:
        """The offline writer; only made when something is composed."""
        if self._writer is None:
            from builders.offline.memories import Writer  # reads the phrase banks

            window = self.window
            self._writer = Writer(window.character, window.ledger, window.streams, window.life or window.plans)
        return self._writer

    def make(self, ids: Sequence[str], reason: str) -> Request:
        """The request for some memories; ``reason`` says why they are asked for again."""
        plans = [self.plans[memory_id] for memory_id in ids]
        briefing = self.briefing.write(plans, self._contexts[-RECENT:], reason)
        prompt = memory_prompt()
        self._asked = Request(
            id=f"{self.window.name}/{ids[0]}" + ("/again" if reason else ""),
            role="memory",
            fixed=briefing.fixed,
            prompt=briefing.prompt,
            prompt_id=f"{prompt.id}@{prompt.version}",
            prompt_digest=prompt.digest,
            compose=lambda: self._composed(plans),
            parse=functools.partial(parse, ids=tuple(ids)),
            max_tokens=_TOKENS * len(ids),
            temperature=_TEMPERATURE,
            rows=len(ids),
        )
        return self._asked

    def _composed(self, plans: Sequence[MemoryPlan]) -> Blocks:
        taken = self._contexts[-RECENT:]
        good: dict[str, Row] = {}
        for plan in plans:
            row = self.writer.compose(plan, taken)
            good[plan.id] = {name: row[name] for name in FIELDS}
            taken.append(row["context"])
        return Blocks(good)

    def usable_rows(self, reply: Reply, ids: Sequence[str]) -> Kept[Row]:
        """The rows of a reply that can be used, and what is wrong with the others."""
        blocks = reply.answer if reply.status == "answered" else _rest(reply.text, ids)
        good: dict[str, Row] = {}
        bad = {memory_id: reason for memory_id, reason in blocks.bad.items() if memory_id in ids}
        for memory_id, fields in blocks.good.items():
            row = self._row(self.plans[memory_id], fields, reply)
            reason = self._wrong(row)
            if reason:
                bad[memory_id] = reason
            else:
                good[memory_id] = row
                self._contexts.append(row["context"])
        return Kept(good, bad)

    def _row(self, plan: MemoryPlan, fields: Mapping[str, Any], reply: Reply) -> Row:
        values = {
            **fields,
            "id": plan.id,
            "timeline": f"{memory_stage(plan.age)['label']} ({plan.age})",
            "emotion_signature": {**fields["emotion_signature"], "intensity": plan.intensity},
            "character_id": plan.character_id,
            "age": plan.age,
            "stage": plan.stage,
            "domain": plan.domain,
            "tier": plan.tier,
            "ledger_refs": sorted(set(fields["ledger_refs"])),
            "provenance": built(self._asked, reply, self.window.streams.seed, self.window.backend),
        }
        return {name: values[name] for name in record_schema("memories")["properties"]}

    def _wrong(self, row: Row) -> str | None:
        """Why a row cannot be used at all: its form, a setting used before, facts that do not exist at its age."""
        from validators.records import failures

        found = failures(Table("memories", _KEY), [row])
        if found:
            return "; ".join(f"{finding.field} {finding.message}" for finding in found[:3])
        if row["context"].casefold() in {context.casefold() for context in self._contexts[-RECENT:]}:
            return "context was used before"
        foreign = [name for name in row["ledger_refs"] if not self._holds(name, row["age"])]
        return f"facts not in the ledger at age {row['age']}: {', '.join(foreign)}" if foreign else None

    def _holds(self, fact_id: str, age: int) -> bool:
        fact = self._facts.get(fact_id)
        return fact is not None and fact["from_age"] <= age <= fact["to_age"]

    def judge(self, rows: Sequence[Row]) -> list[Finding]:
        """The findings of rows by themselves."""
        from audits import audit
        from audits.codes import codes

        related = {"ledgers": self.window.ledger, "characters": [self.window.character]}
        alone = [code for code in codes("memories") if code.split(".")[0] != _COMPARED]
        return audit("memories", rows, related=related, only=alone, cache=self._cache)

    def audited(self, rows: Sequence[Row]) -> Entries:
        """What the audits say of each of the finished rows, for who audits them next."""
        self._cache.used.clear()
        self.judge(rows)
        return self._cache.used_by(self.window.character["character_id"])

    def compare(self, rows: Sequence[Row]) -> list[Finding]:
        """The findings of rows beside one another and beside those the stage has already."""
        from audits.duplicates import near_duplicates

        return near_duplicates.findings([*self.window.kept, *rows], near_duplicates.scope_of("memories"))


def _rest(text: str, ids: Sequence[str]) -> Blocks:
    """What a reply holds that was cut off: the last block is not whole and does not count."""
    try:
        return parse(without_last(text), ids)
    except ValueError:
        return Blocks({})
