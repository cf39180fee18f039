"""Repair: only the defective field is rewritten, with an instruction for its defect, three times at most.

HEART-BENCH appendix B.4. The audits say what is wrong; ``seeds/repairs.toml`` says what to tell the writer.
What is still wrong after that is listed for a person, and stays among the rows with its findings open.
Used by ``builders.memories.windows``, within the chain that wrote the rows.

    python -m builders.memories --char CHAR_04
"""

from __future__ import annotations

import functools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from builders.memories.briefing import REWRITABLE, Briefing, repair_prompt
from builders.memories.delimited import Blocks, parse
from builders.memories.plan import MemoryPlan
from models.request import Chain, Reply, Request
from schemas.findings import Finding, in_order
from schemas.tables import Row

ATTEMPTS = 3

# Findings on these are repaired by rewriting the episode.
_REWRITTEN_WITH = {"ledger_refs": "content_full"}
_TOKENS = 2_500

Audit = Callable[[Sequence[Row]], list[Finding]]
Rewrite = Callable[[Row, MemoryPlan, str, str, int], Any]


@dataclass(frozen=True)
class RepairTools:
    """What repairing a window needs: the plans and prompts it was written to, the audits, and the offline writer.

    ``judge`` finds what is wrong with a row by itself, ``compare`` what is wrong with rows beside one another.
    """

    name: str
    plans: Mapping[str, MemoryPlan]
    briefing: Briefing
    judge: Audit
    compare: Audit
    rewrite: Rewrite


@dataclass
class Repaired:
    """Rows after repair. ``found`` and ``repaired`` count defects by code; a defect is a code at a field of a row.

    ``open`` are the findings that stay, of any severity.
    """

    rows: list[Row]
    found: Counter[str]
    repaired: Counter[str]
    open: list[Finding]


def repair_rows(rows: Sequence[Row], tools: RepairTools) -> Chain[Repaired]:
    """Repair the rows of a window; requests go out in order of row and field."""
    by_id = {row["id"]: row for row in rows}
    alone: dict[str, list[Finding]] = {}

    def audited(changed: Iterable[str]) -> list[Finding]:
        """All findings of the window's own rows; only those that changed are judged again."""
        alone.update({row_id: [] for row_id in changed})
        for finding in tools.judge([by_id[row_id] for row_id in changed]):
            alone[finding.row_id].append(finding)
        together = [finding for finding in tools.compare(list(by_id.values())) if finding.row_id in by_id]
        return in_order([*together, *(finding for found in alone.values() for finding in found)])

    attempts: Counter[tuple[str, str, str]] = Counter()
    findings = audited(list(by_id))
    seen = defects(findings)
    while due := _due(findings, attempts):
        for (row_id, name), wrong in due.items():
            for code in {finding.code: None for finding in wrong}:
                attempts[row_id, name, code] += 1
            attempt = max(attempts[row_id, name, finding.code] for finding in wrong)
            by_id[row_id] = yield from _rewritten(by_id[row_id], name, wrong, attempt, tools)
        findings = audited(dict.fromkeys(row_id for row_id, _ in due))
        seen |= defects(findings)
    fixed = seen - defects(findings)
    return Repaired(list(by_id.values()), _by_code(seen), _by_code(fixed), findings)


def defects(findings: Sequence[Finding]) -> set[tuple[str, str, str]]:
    """Row, field and code of every error: two errors of a kind in one field are one defect."""
    return {(each.row_id, _field(each), each.code) for each in findings if each.severity == "error"}


def _by_code(found: set[tuple[str, str, str]]) -> Counter[str]:
    return Counter(code for _, _, code in found)


def _due(
    findings: Sequence[Finding], attempts: Mapping[tuple[str, str, str], int]
) -> dict[tuple[str, str], list[Finding]]:
    """The errors to repair now, by row and field: those a rewriting can fix and that have attempts left."""
    due: dict[tuple[str, str], list[Finding]] = defaultdict(list)
    for finding in findings:
        name = _field(finding)
        tried = attempts[finding.row_id, name, finding.code]
        if finding.severity == "error" and name in REWRITABLE and tried < ATTEMPTS:
            due[finding.row_id, name].append(finding)
    return dict(sorted(due.items()))


def _field(finding: Finding) -> str:
    name = (finding.field or "").split(".")[0].split("[")[0]
    return _REWRITTEN_WITH.get(name, name)


def _rewritten(row: Row, name: str, wrong: Sequence[Finding], attempt: int, tools: RepairTools) -> Chain[Row]:
    """The row with one field rewritten; as it was when no usable answer came."""
    plan = tools.plans[row["id"]]
    fields = (name, "ledger_refs") if name == "content_full" else (name,)
    briefing = tools.briefing.rewrite(plan, row, name, wrong)
    reply = yield Request(
        id=f"{tools.name}/{row['id']}/{name}/{attempt}",
        role="memory",
        fixed=briefing.fixed,
        prompt=briefing.prompt,
        prompt_id=f"{repair_prompt().id}@{repair_prompt().version}",
        prompt_digest=repair_prompt().digest,
        compose=lambda: Blocks({row["id"]: {name: tools.rewrite(row, plan, name, wrong[0].code, attempt)}}),
        parse=functools.partial(parse, ids=(row["id"],), fields=fields),
        max_tokens=_TOKENS,
        rows=0,
    )
    new = _answer(reply, row["id"])
    return row if new is None else _revised(row, new, plan, [finding.code for finding in wrong])


def _answer(reply: Reply, row_id: str) -> Row | None:
    return reply.answer.good.get(row_id) if reply.status == "answered" else None


def _revised(row: Row, new: Row, plan: MemoryPlan, codes: Sequence[str]) -> Row:
    if "emotion_signature" in new:
        new = {"emotion_signature": {**new["emotion_signature"], "intensity": plan.intensity}}
    history = row["provenance"]
    repairs = [*history["repairs"], *dict.fromkeys(codes)]
    return {**row, **new, "provenance": {**history, "revision": history["revision"] + 1, "repairs": repairs}}
