"""Life ledgers: what must stay true of a character, planned before any memory is written.

Each fact (a relative, a home, a job, a friend, an illness, a thing) has the ages at which it holds. A
memory mentions only what holds at its age and lists what it mentions, and the audits check it: a
grandmother who died in the character's fourteenth year is not at the table in the twentieth. None of the
published systems has this; without it a thousand memories written apart contradict each other.

    python -m builders.personas --benchmark heart
"""

from __future__ import annotations

from collections.abc import Sequence

from builders.ids import fact_id
from builders.life.casts import pronoun
from builders.life.drafts import Draft
from builders.life.lives import Life
from builders.pipeline.edits import is_unedited, write_tracked
from builders.pipeline.streams import Streams
from schemas.tables import Row, term_ids
from schemas.workspace import Workspace

__all__ = ["current_ledger", "ledger", "pronoun", "valid_at", "write_ledger"]


def ledger(character: Row, streams: Streams) -> list[Row]:
    """The life of a character as rows of ``ledgers``, in order of id (that is: of the age at which they begin)."""
    who = character["character_id"]
    drafts = Life(character, streams.rng("ledgers", who)).draw()
    kinds = term_ids("fact_kinds")
    drafts.sort(key=lambda draft: (draft.from_age, kinds.index(draft.kind), draft.role, draft.name or ""))
    ids = {id(draft): fact_id(who, number) for number, draft in enumerate(drafts, 1)}
    return [_row(draft, who, ids) for draft in drafts]


def valid_at(facts: Sequence[Row], age: int) -> list[Row]:
    """The facts that hold at an age (years), in their order."""
    return [fact for fact in facts if fact["from_age"] <= age <= fact["to_age"]]


def current_ledger(space: Workspace, character: Row, streams: Streams) -> list[Row]:
    """The ledger of a character in a workspace: the one a person has changed or given, else the one that is drawn."""
    who = character["character_id"]
    if space.path("ledgers", who).is_file() and not is_unedited(space, "ledgers", who):
        return list(space.rows("ledgers", who))
    return ledger(character, streams)


def write_ledger(space: Workspace, character: Row, streams: Streams) -> list[Row]:
    """Write the drawn ledger, unless a person has changed it; returns the current one. The workspace must be locked."""
    facts = current_ledger(space, character, streams)
    who = character["character_id"]
    if not space.path("ledgers", who).is_file() or is_unedited(space, "ledgers", who):
        write_tracked(space, "ledgers", facts, who)
    return facts


def _row(draft: Draft, who: str, ids: dict[int, str]) -> Row:
    return {
        "fact_id": ids[id(draft)],
        "character_id": who,
        "kind": draft.kind,
        "role": draft.role,
        "name": draft.name,
        "from_age": draft.from_age,
        "to_age": draft.to_age,
        "ends_by": draft.ends_by,
        "detail": draft.detail,
        "linked_to": sorted(ids[id(link)] for link in draft.links),
    }
