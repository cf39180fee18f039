"""What a record's rows must keep beyond the types of their fields; a module a noun of the data.

``rules_of`` are checked on one table (``frames.Rule``), ``crossings_of`` on rows beside the rows they
name (``frames.Crossing``). They go by the record of a table, whatever it is called; a record schema of a
benchmark's own folder has none of them. Only rows that fit their record schema get this far.
"""

from __future__ import annotations

from collections.abc import Callable

from schemas.tables import Table
from validators.frames import Crossing, Rule, unique_key
from validators.rules import (
    activations,
    characters,
    exclusions,
    ledgers,
    memories,
    questions,
    reviews,
    scenarios,
    separation,
    tasks,
    users,
)

_RULES = {
    "characters": characters.rules,
    "ledgers": ledgers.rules,
    "memories": memories.rules,
    "scenarios": scenarios.rules,
    "exclusions": exclusions.rules,
    "activations": activations.rules,
    "decisions": questions.decision_rules,
    "reviews": reviews.rules,
    "mcqs": questions.mcq_rules,
    "mcq_keys": questions.key_rules,
    "preferences": tasks.preference_rules,
    "tasks": tasks.task_rules,
    "users": users.rules,
}

_CROSSINGS: dict[str, Callable[[], tuple[Crossing, ...]]] = {
    "ledgers": ledgers.crossings,
    "activations": activations.crossings,
    "decisions": questions.decision_crossings,
    "mcqs": questions.mcq_crossings,
    "tasks": tasks.task_crossings,
    "users": users.crossings,
    "situations": tasks.situation_crossings,
}


def rules_of(table: Table) -> tuple[Rule, ...]:
    """The rules of a table; that its key is unique is always the first."""
    made = _RULES.get(table.record) if table.shipped else None
    return (unique_key(table), *(made() if made else ()))


def crossings_of(table: Table, separation: float = separation.THRESHOLD) -> tuple[Crossing, ...]:
    """The crossings of a table with others, or with other rows of its own; ``separation`` is one of characters."""
    if not table.shipped:
        return ()
    if table.record == "characters":
        return characters.crossings(separation)
    made = _CROSSINGS.get(table.record)
    return made() if made else ()
