"""The outcomes of a review, carried into the table of decisions.

A decision that was adopted or settled gets its gold text and says who many judged it and the digest of what
they saw; one that was dropped leaves the table (its judgements stay in ``reviews``). Doing it again changes
nothing. A decision that no longer reads as the people settled it is named, and loses its claim to be reviewed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from schemas.findings import Finding, Severity
from schemas.tables import Row
from schemas.workspace import Workspace
from validators.review.consensus import Outcome, outcome
from validators.review.items import Decisions, Item, row_id, thoughts_of, trace_of
from validators.review.rounds import Round, latest
from validators.review.tables import review_tables

SOURCE = "HEART-BENCH appendix D.2"

NOBODY = {"status": "unreviewed", "annotators": 0, "digest": None}
"""The column ``review`` of a decision that nobody has judged."""


@dataclass(frozen=True)
class Standing:
    """A decision as it stands: the item that counts for it, and what the judgements of that item come to."""

    row: Row
    item: Item
    outcome: Outcome
    finding: Finding | None = None


class Review:
    """What has been judged of a workspace's decisions, held against the decisions as they are now."""

    def __init__(self, space: Workspace, agreed: Round, judged: Sequence[Row]) -> None:
        self._source = Decisions(space)
        self._agreed = agreed
        self._latest = latest(judged)
        self._all: dict[str, dict[str, list[Row]]] = {}
        for row in judged:
            self._all.setdefault(row["row_id"], {}).setdefault(row["digest"], []).append(row)

    def standing(self, decision: Row) -> Standing:
        """How one decision stands."""
        fresh = self._source.item(decision)
        claimed = decision["review"]["digest"]
        if claimed is None:
            return Standing(decision, fresh, self._outcome(fresh), self._stale(fresh))
        rows = self._all.get(fresh.row_id, {}).get(claimed, [])
        if rows:
            seen = self._source.item(decision, rows[0]["text"], rows[0]["thoughts"])
            ours = {rows[0]["text"], *(row["edit"] for row in rows)}
            traces = [trace_of(text) for row in rows for text in (row["thoughts"], row["trace_edit"]) if text]
            known = thoughts_of(decision) == rows[0]["thoughts"] or decision["inner_consciousness"] in traces
            if seen.digest == claimed and decision["final_decision"] in ours and known:
                return Standing(decision, seen, self._outcome(seen))
            why = "was changed after review, or its person or situation were; it counts as unreviewed"
        else:
            why = "is marked as reviewed but has no judgement; it counts as unreviewed"
        return Standing(decision, fresh, self._outcome(fresh), finding("review.changed", fresh.row_id, why))

    def gone(self, present: Sequence[Row]) -> list[Finding]:
        """Pairs that are not among the decisions although no judgement drops them."""
        here = {row_id(row) for row in present}
        found = []
        for name, by_digest in sorted(self._all.items()):
            outcomes = [self._of(rows[0]["item"], digest) for digest, rows in by_digest.items()]
            if name not in here and not any(each.state == "dropped" for each in outcomes):
                why = "was judged but no longer exists; build it again, or its judgements stay as history"
                found.append(finding("review.gone", name, why, "warning"))
        return found

    def dropped(self) -> dict[str, Outcome]:
        """The pairs that were dropped, by row id."""
        found = {}
        for name, by_digest in sorted(self._all.items()):
            for digest, rows in by_digest.items():
                each = self._of(rows[0]["item"], digest)
                if each.state == "dropped":
                    found[name] = each
        return found

    def _of(self, item: str, digest: str) -> Outcome:
        return outcome(self._latest.get((item, digest), {}).values(), len(self._agreed.annotators))

    def _outcome(self, item: Item) -> Outcome:
        return self._of(item.name, item.digest)

    def _stale(self, fresh: Item) -> Finding | None:
        """Judgements of an earlier text of a decision that now reads otherwise."""
        known = self._all.get(fresh.row_id, {})
        if not known or fresh.digest in known:
            return None
        count = sum(map(len, known.values()))
        why = f"has changed since it was judged; {count} judgements of what it was are history"
        return finding("review.changed", fresh.row_id, why, "warning")


def apply(space: Workspace, review: Review) -> list[Finding]:
    """Bring the decisions up to what was judged; the workspace must be locked. Returns what is to be named."""
    findings: list[Finding] = []
    present: list[Row] = []
    table = review_tables(space.benchmark).judged
    for key in space.keys(table):
        before = list(space.rows(table, key))
        standings = [review.standing(row) for row in before]
        findings += [each.finding for each in standings if each.finding]
        after = [row for each in standings if (row := _decision(each))]
        present += after
        if after != before:
            space.write(table, after, key)
    return findings + review.gone(present)


def finding(code: str, where: str, why: str, severity: Severity = "error", field: str | None = None) -> Finding:
    """A finding of the review."""
    return Finding(code, "decisions", where, field, severity, None, None, why, SOURCE)


def _decision(standing: Standing) -> Row | None:
    """The decision as it shall be; None when it is dropped."""
    found, row = standing.outcome, standing.row
    if found.state == "dropped":
        return None
    if found.text is None:
        if row["review"]["digest"] is None:
            return row
        return _with(standing, standing.item.text, standing.item.shown["thoughts"], NOBODY)
    review = {"status": found.state, "annotators": found.people, "digest": standing.item.digest}
    return _with(standing, found.text, str(found.thoughts), review)


def _with(standing: Standing, text: str, thoughts: str, review: Mapping[str, object]) -> Row:
    """The decision with these words; where people wrote any of them, its provenance says so."""
    row, judged = standing.row, standing.item
    trace = row["inner_consciousness"]
    if thoughts_of(row) != thoughts:
        trace = {**trace, **(trace_of(thoughts) or {})}
    reworded = text != judged.text or thoughts != judged.shown["thoughts"]
    made = row["provenance"]
    if made and reworded:
        made = {**made, "origin": "reviewer"}
    elif made and made["origin"] == "reviewer":
        made = {**made, "origin": "built" if made["backend"] or made["prompt"] else "imported"}
    return {**row, "final_decision": text, "inner_consciousness": trace, "review": dict(review), "provenance": made}
