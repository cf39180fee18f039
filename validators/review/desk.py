"""A round of review on a workspace: exporting what is to be judged, taking judgements in, naming what is wrong.

Used by ``python -m validators.review``. The workspace must be locked for ``export`` and ``take``.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from schemas.errors import RequestError
from schemas.findings import Finding
from schemas.rows import write_whole
from schemas.tables import Row
from schemas.workspace import Workspace
from validators.review import labelstudio, rounds
from validators.review.answers import Answer, Role
from validators.review.consensus import Outcome, disagreement
from validators.review.gold import Review, Standing, apply
from validators.review.intake import Desk, Intake, check_round
from validators.review.items import Item, Kind, from_file
from validators.review.rounds import Round
from validators.review.sheets import read_sheet, write_sheet
from validators.review.tables import review_tables


@dataclass(frozen=True)
class Asked:
    """What an export was asked for; None: what the round already says."""

    kind: Kind
    annotators: Sequence[str] | None
    arbitrator: str | None
    seed: int
    limit: int | None
    items: Path | None


def export(space: Workspace, asked: Asked) -> tuple[Round, dict[str, int]]:
    """Write every person's files; returns the round, and by person how many items wait.

    Raises RequestError for people that do not fit the round, and for a malformed file of items.
    """
    agreed = _agreed(space, asked)
    judged = rounds.judgements(space, agreed.kind)
    current = _current(space, agreed, judged, from_file(asked.items, agreed.kind) if asked.items else None)
    items = agreed.selected([standing.item for standing in current])
    open_names = {each.item.name for each in current if each.outcome.state == "open"}
    queued = [each for each in current if each.outcome.state == "queued"]
    latest = rounds.latest(judged)
    _nothing_lost(space, agreed, judged)
    rounds.write_round(space, agreed)
    rounds.remember(space, agreed.kind, items)
    waiting = {}
    for person in agreed.annotators:
        due = [i for i in items if i.name in open_names and person not in latest.get((i.name, i.digest), {})]
        tasks = _tasks(agreed, agreed.shuffled(due, person), person)
        waiting[person] = _write(space, agreed.kind, "annotator", person, tasks)
    if agreed.arbitrator:
        by_name = {each.item.name: each.item for each in queued}
        shuffled = agreed.shuffled(list(by_name.values()), agreed.arbitrator)
        hardest = sorted(shuffled, key=lambda item: -disagreement(latest[item.name, item.digest].values()))
        tasks = [
            {**task, "judgements": _said(agreed, item, latest[item.name, item.digest])}
            for task, item in zip(_tasks(agreed, hardest, agreed.arbitrator), hardest, strict=True)
        ]
        waiting[agreed.arbitrator] = _write(space, agreed.kind, "arbitrator", agreed.arbitrator, tasks)
    return agreed, waiting


def _tasks(agreed: Round, items: Sequence[Item], person: str) -> list[dict[str, str]]:
    """Items as a person's tasks, in this order, each sealed as theirs."""
    return [
        labelstudio.data(
            item,
            person,
            agreed.swapped(item.name, person),
            agreed.seal(item.name, item.digest, person, place, len(items)),
        )
        for place, item in enumerate(items, 1)
    ]


def take_answers(space: Workspace, answers: Sequence[Answer], revise: bool) -> Intake:
    """Take answers in, kind by kind, and carry decisions' outcomes into their table.

    Without answers, what was judged is carried in again (after a rebuild). Raises RequestError, before
    anything is written, for a person who is not of the round, and when nothing was ever exported.
    """
    kinds = dict.fromkeys([answer.kind for answer in answers] or ["decisions"])
    done, kept = Intake(), []
    for name in kinds:
        agreed = check_round(rounds.read_round(space, name), name)  # type: ignore[arg-type]  # checked before
        before = rounds.judgements(space, agreed.kind)
        mine = [answer for answer in answers if answer.kind == name]
        taken = _taken(space, agreed, before, mine, revise)
        done.counts.update(taken.counts)
        done.findings += taken.findings
        kept.append((agreed, [*before, *taken.taken], taken.taken))
    for agreed, judged, new in kept:
        if new:
            space.write(review_tables(space.benchmark).reviews, judged, agreed.kind)
        if agreed.kind == "decisions":
            done.findings += apply(space, Review(space, agreed, judged))
    space.write_findings("reviews", done.findings)
    return done


def findings(space: Workspace, agreed: Round, judged: Sequence[Row]) -> list[Finding]:
    """What is wrong with what was judged, as things stand: texts that have changed, decisions that are gone."""
    if agreed.kind != "decisions":
        return []
    review = Review(space, agreed, judged)
    rows = list(space.rows(review_tables(space.benchmark).judged))
    standings = [review.standing(row) for row in rows]
    return [each.finding for each in standings if each.finding] + review.gone(rows)


def untouched(space: Workspace, agreed: Round, judged: Sequence[Row]) -> int:
    """How many items of a round nobody has judged."""
    done = {(row["item"], row["digest"]) for row in judged}
    items = agreed.selected([each.item for each in _current(space, agreed, judged, None)])
    return sum((item.name, item.digest) not in done for item in items)


def _agreed(space: Workspace, asked: Asked) -> Round:
    before = rounds.read_round(space, asked.kind)
    if before is None:
        rounds.check_people(asked.kind, asked.annotators or (), asked.arbitrator)
        return Round(asked.kind, tuple(asked.annotators or ()), asked.arbitrator, asked.seed, asked.limit)
    named = (tuple(asked.annotators or before.annotators), asked.arbitrator or before.arbitrator)
    if named != (before.annotators, before.arbitrator):
        who = ", ".join([*before.annotators, *filter(None, [before.arbitrator])])
        fix = "Leave --annotators and --arbitrator out, or use another --workspace"
        raise RequestError("the round has other people", rounds.folder(space, asked.kind), expected=who, fix=fix)
    return replace(before, limit=asked.limit or before.limit)


def _taken(space: Workspace, agreed: Round, before: Sequence[Row], answers: Sequence[Answer], revise: bool) -> Intake:
    """Annotators first, so that the arbitrator's queue is that of the same import."""
    counter = Desk(agreed, (), {}, (), ())
    by_role: dict[Role, list[Answer]] = {"annotator": [], "arbitrator": []}
    for answer in answers:
        by_role[counter.role(answer)].append(answer)
    shown, done, known = rounds.shown_items(space, agreed.kind), Intake(), list(before)
    for some in by_role.values():
        current = _current(space, agreed, known, None)
        queue = {each.item.name for each in current if each.outcome.state == "queued"}
        part = Desk(agreed, shown, _digests(space, agreed, known, current), queue, known, revise).take_answers(some)
        known += part.taken
        done.taken += part.taken
        done.counts.update(part.counts)
        done.findings += part.findings
    return done


def _current(space: Workspace, agreed: Round, judged: Sequence[Row], given: Sequence[Item] | None) -> list[Standing]:
    """Every item as it stands now; of pairs and ratings those given, or those last shown."""
    if agreed.kind == "decisions":
        review = Review(space, agreed, judged)
        return [review.standing(row) for row in space.rows(review_tables(space.benchmark).judged)]
    last = {item.name: item for item in (given or rounds.shown_items(space, agreed.kind))}
    return [Standing({}, item, Outcome("open", 0)) for item in last.values()]


def _digests(
    space: Workspace, agreed: Round, judged: Sequence[Row], current: Sequence[Standing]
) -> dict[str, Collection[str]]:
    """By item the digests an answer may be given to: the one that stands, and of dropped pairs those judged."""
    found: dict[str, Collection[str]] = {each.item.name: {each.item.digest} for each in current}
    if agreed.kind == "decisions":
        dropped = Review(space, agreed, judged).dropped()
        for row in judged:
            if row["row_id"] in dropped and row["item"] not in found:
                found[row["item"]] = {each["digest"] for each in judged if each["item"] == row["item"]}
    return found


def _nothing_lost(space: Workspace, agreed: Round, judged: Sequence[Row]) -> None:
    """Raise RequestError when a sheet that would be written over holds answers that no import has taken as they are."""
    known = {(row["item"], row["digest"], row["annotator"]) for row in judged}
    for person in [*agreed.annotators, *filter(None, [agreed.arbitrator])]:
        path = rounds.folder(space, agreed.kind) / f"{person}.csv"
        given = [answer for answer in (read_sheet(path) if path.is_file() else ()) if answer.given]
        new = [answer.item for answer in given if (answer.item, answer.digest, answer.annotator) not in known]
        changed = [] if new else [row["item"] for row in _taken(space, agreed, judged, given, revise=True).taken]
        if new or changed:
            what = "that were not imported" if new else "that were changed since they were imported"
            fix = "Import the sheet first, or move it away" if new else "Import it with --revise, or move it away"
            raise RequestError(f"sheet with answers {what}", path, row=(new or changed)[0], fix=fix)


def _write(space: Workspace, kind: Kind, role: Role, person: str, tasks: Sequence[dict[str, str]]) -> int:
    folder = rounds.folder(space, kind)
    labelstudio.write_tasks(folder / f"{person}.tasks.json", tasks)
    write_sheet(folder / f"{person}.csv", tasks, kind, role)
    name = "arbitration" if role == "arbitrator" else "labelling"
    write_whole(folder / f"{name}.xml", [labelstudio.configuration(kind, role).encode()])
    return len(tasks)


def _said(agreed: Round, item: Item, people: dict[str, Row]) -> str:
    """The annotators' judgements for the arbitrator, in an order of the item's own, without their names."""
    rows = [people[person] for person in agreed.annotators if person in people]
    order = agreed.shuffled([replace(item, row_id=str(place)) for place in range(len(rows))], item.name)
    parts_of_all = []
    for number, place in enumerate((int(each.row_id) for each in order), 1):
        row = rows[place]
        verdicts = (str(row[name]).replace("_", " ") for name in ("verdict", "trace_verdict"))
        parts = ["Annotator {}: decision {}, inner trace {}".format(number, *verdicts)]
        parts += [f"why: {row['rationale']}"] if row["rationale"] else []
        parts += [f"would write: {row['edit']}"] if row["edit"] else []
        parts += [f"would have it go on as: {row['trace_edit']}"] if row["trace_edit"] else []
        parts_of_all.append("\n".join(parts))
    return "\n\n".join(parts_of_all)
