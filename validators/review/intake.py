"""Answers against people, items and what was said before. What cannot be taken is refused by name.

Taking the same answers twice changes nothing. A person who says something else about the same text than
before is contradicting themself: the first judgement stands, unless the import says that judgements are
revised, and then both are kept and the last one counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from schemas.errors import RequestError, unknown
from schemas.findings import Finding
from schemas.tables import Row
from validators.review.answers import SAID, Answer, Role, UnusableError, judgement
from validators.review.gold import SOURCE
from validators.review.items import Item
from validators.review.labelstudio import data
from validators.review.rounds import Round


@dataclass
class Intake:
    """What became of the answers: new judgements, how many were known, what was refused."""

    taken: list[Row] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)


@dataclass(frozen=True)
class Desk:
    """What answers are held against.

    ``shown`` is every item that was ever shown; ``current`` the digests that stand now, by item; ``queue`` the
    items an arbitrator may rule on; ``known`` all judgements so far.
    """

    agreed: Round
    shown: Collection[Item]
    current: Mapping[str, Collection[str]]
    queue: Collection[str]
    known: Collection[Row]
    revise: bool = False

    def role(self, answer: Answer) -> Role:
        """The role of who answered. Raises RequestError for somebody who is not of this round."""
        if answer.annotator == self.agreed.arbitrator:
            return "arbitrator"
        if answer.annotator in self.agreed.annotators:
            return "annotator"
        everybody = [*self.agreed.annotators, *filter(None, [self.agreed.arbitrator])]
        raise unknown("annotator", answer.annotator, everybody, answer.where)

    def take_answers(self, answers: Iterable[Answer]) -> Intake:
        """Hold every answer against all that. Raises RequestError, before any is taken, for an unknown person."""
        everything = [(answer, self.role(answer)) for answer in answers]
        by_name = {(item.name, item.digest): item for item in self.shown}
        judged_before: dict[tuple[str, str, str], Row] = {}
        for row in sorted(self.known, key=lambda row: int(row["revision"])):
            judged_before[row["item"], row["digest"], row["annotator"]] = row
        done = Intake()
        for answer, role in everything:
            if not answer.given and not answer.cancelled and not self._changed(answer, by_name):
                continue
            try:
                self._one(answer, role, by_name, judged_before, done)
            except UnusableError as wrong:
                done.counts["refused"] += 1
                done.findings.append(_finding(wrong, answer, by_name))
        return done

    def _one(
        self,
        answer: Answer,
        role: Role,
        by_name: Mapping[tuple[str, str], Item],
        judged_before: dict[tuple[str, str, str], Row],
        done: Intake,
    ) -> None:
        if answer.cancelled:
            raise UnusableError("review.skipped", f"{answer.annotator} passed it over")
        item = self._item(answer, by_name)
        if not self.agreed.sealed(answer.seal, item.name, item.digest, answer.annotator):
            raise UnusableError("review.edited_annotator", f"this line was not given to {answer.annotator}")
        if changed := self._changed(answer, by_name):
            fix = "only the columns for answers are read, write it under edit"
            raise UnusableError("review.edited_shown", f"{changed} was changed, which is only shown: {fix}")
        row = judgement(answer, item, role, self.agreed.swapped(item.name, answer.annotator))
        key = (item.name, item.digest, answer.annotator)
        before = judged_before.get(key)
        if before and all(before[part] == row[part] for part in SAID):
            done.counts["known"] += 1
            return
        if item.digest not in self.current.get(item.name, ()):
            raise UnusableError("review.stale", "the text has changed since it was shown; export again")
        if before:
            row = self._revised(row, before)
        elif role == "arbitrator" and item.name not in self.queue:
            raise UnusableError(
                "review.not_queued", "is not for the arbitrator: the annotators have not all judged, or agree"
            )
        judged_before[key] = row
        done.taken.append(row)
        done.counts["taken"] += 1

    def _changed(self, answer: Answer, by_name: Mapping[tuple[str, str], Item]) -> str | None:
        """The column that reads otherwise than it was shown, if any; spaces and ends of lines do not count."""
        item = by_name.get((answer.item, answer.digest))
        if item is None:
            return None
        shown = data(item, answer.annotator, self.agreed.swapped(item.name, answer.annotator))
        columns = (name for name in shown if name in answer.shown)
        return next((name for name in columns if shown[name].split() != answer.shown[name].split()), None)

    def _item(self, answer: Answer, by_name: Mapping[tuple[str, str], Item]) -> Item:
        item = by_name.get((answer.item, answer.digest))
        if item:
            return item
        whose = next((name for name, digest in by_name if digest == answer.digest), None)
        if whose:
            raise UnusableError("review.edited_id", f"the digest is that of item {whose}: the id was edited")
        if any(name == answer.item for name, _ in by_name):
            raise UnusableError("review.edited_digest", f"digest {answer.digest[:12]!r} is of no text ever shown")
        raise UnusableError("review.unknown_item", "no item of this name was ever shown")

    def _revised(self, row: Row, before: Row) -> Row:
        if not self.revise:
            differing = ", ".join(part for part in SAID if before[part] != row[part])
            raise UnusableError(
                "review.contradictory",
                f"judged before, otherwise ({differing}); the first judgement counts, unless --revise",
            )
        return {**row, "revision": int(before["revision"]) + 1}


def check_kinds(answers: Iterable[Answer], kinds: Collection[str]) -> None:
    """Raise RequestError for an answer of a kind that does not exist."""
    for answer in answers:
        if answer.kind not in kinds:
            raise unknown("kind", answer.kind, kinds, answer.where)


def check_round(agreed: Round | None, kind: str) -> Round:
    """The round. Raises RequestError when nothing was ever exported."""
    if agreed is None:
        fix = f"Run first: python -m validators.review export --kind {kind} --annotators …"
        raise RequestError(f"no review of {kind}", expected="a round", fix=fix)
    return agreed


def _finding(wrong: UnusableError, answer: Answer, by_name: Mapping[tuple[str, str], Item]) -> Finding:
    item = by_name.get((answer.item, answer.digest))
    row = item.row_id if item else answer.item
    note = wrong.code == "review.skipped"
    message = f"{wrong} ({answer.annotator}, {answer.where})"
    return Finding(wrong.code, "reviews", row, None, "note" if note else "error", None, None, message, SOURCE)


def cut(path: str, gone: int, total: int) -> Finding:
    """The finding of a sheet that lacks lines."""
    some = f"{gone:,} of {total:,} lines are missing; what is there is taken"
    message = some if total else "no line is there: all are missing, or nothing was asked"
    return Finding("review.cut", "reviews", path, None, "warning", None, None, message, SOURCE)
