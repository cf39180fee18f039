"""What of a user's preferences a task draws on, and which values of the same kind are not the user's."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from schemas.tables import Row

Menus = Mapping[tuple[str, str], Sequence[str]]
"""Values by domain and preference type."""


@dataclass(frozen=True)
class Slot:
    """One preference type of a task: the user's ``values``, and ``others`` of the same kind that are not the user's."""

    domain: str
    preference: str
    values: tuple[str, ...]
    others: tuple[str, ...]


def menus(preferences: Iterable[Row], users: Iterable[Row] = ()) -> Menus:
    """All values of each type: those offered, and those that any of ``users`` has."""
    found: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    for row in preferences:
        found[row["domain"], row["preference"]].update(dict.fromkeys(row["possible_values"]))
    for user in users:
        for entry in user["affinities"]:
            found[entry["domain"], entry["preference"]].update(dict.fromkeys(entry["values"]))
    return {place: tuple(values) for place, values in found.items()}


def slots(user: Row, task: Row, offered: Menus) -> tuple[Slot, ...]:
    """The slots of a task in which the user has a preference, in the order in which the task names them."""
    held = {(entry["domain"], entry["preference"]): tuple(entry["values"]) for entry in user["affinities"]}
    places = [
        (each["domain"], each["preference"]) for preference in task["preferences"] for each in preference["resolved"]
    ]
    return tuple(
        Slot(*place, held[place], _others(place, held[place], offered))
        for place in dict.fromkeys(places)
        if held.get(place)
    )


def _others(place: tuple[str, str], own: Sequence[str], offered: Menus) -> tuple[str, ...]:
    """Values that are not the user's, and neither hold one of them as words nor stand in one."""
    folded = [value.casefold() for value in own]
    return tuple(
        value
        for value in offered.get(place, ())
        if not any(_within(one, value.casefold()) or _within(value.casefold(), one) for one in folded)
    )


def _within(value: str, other: str) -> bool:
    return f" {value} " in f" {other} "
