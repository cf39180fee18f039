"""What dialogues about a task are compared with: whose preference a value is, what a goal says, who a user is.

Values of a preference type are those that the catalogue offers and those that any user has. They are looked for as
whole words, the longest first, in the types that a task draws on.
"""

from __future__ import annotations

import functools
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from audits.subjects import Related
from audits.text.word_runs import Run, Span, word_runs
from schemas.tables import Row
from schemas.text.sentences import sentences as sentence_spans

IN_A_ROW = 7
_SHORTEST = 3  # letters of a demographic that can be recognised in running text

_LINE = re.compile(r"[^\n]+")

Place = tuple[str, str]
"""Domain and preference type."""


def sentences(text: str) -> Iterator[tuple[int, str]]:
    """The sentences of a text, each with its place; a line break ends one, as in a list."""
    for line in _LINE.finditer(text):
        for start, end in sentence_spans(line[0]):
            yield line.start() + start, line[0][start:end]


@dataclass(frozen=True)
class Menu:
    """The values of the types that a task draws on: where each, in lower case, belongs, and what finds them.

    Names of types are found as well and passed over: "a day" in "budget for a day" is no value.
    """

    places: Mapping[str, frozenset[Place]]
    found_by: re.Pattern[str]

    def values(self, text: str) -> Iterator[tuple[str, Span]]:
        """Values in a text, in lower case, with their places."""
        for found in self.found_by.finditer(text):
            if found[0].casefold() in self.places:
                yield found[0].casefold(), found.span()


@dataclass(frozen=True)
class Person:
    """A user before a task: ``own`` values of the task's domains, in lower case, by type."""

    own: Mapping[Place, Sequence[str]]
    menu: Menu
    intent: str

    def own_values(self, text: str) -> Iterator[tuple[str, Span]]:
        """The user's values of the task's types in a text."""
        mine = {value for values in self.own.values() for value in values}
        return ((value, span) for value, span in self.menu.values(text) if value in mine)

    def foreign_values(self, text: str) -> Iterator[tuple[str, Span]]:
        """Values of the task's types in a text that the user has in none of its domains."""
        mine = {value for values in self.own.values() for value in values}
        for value, span in self.menu.values(text):
            # "a double room" is no other taste where the user has "a double room with a view".
            if not any(_within(value, one) or _within(one, value) for one in mine):
                yield value, span

    def described(self, value: str) -> str:
        """What the user has instead of a value, in words."""
        parts = [
            f"{', '.join(self.own.get(place, ())) or 'nothing'} as {place[0]}: {place[1]}"
            for place in sorted(self.menu.places[value])
        ]
        return " and ".join(parts)


def _within(value: str, other: str) -> bool:
    """Whether a value is another or stands in it as whole words."""
    return f" {value} " in f" {other} "


class Profiles:
    """Users, tasks and the catalogue, looked up by id."""

    def __init__(self, users: Sequence[Row], tasks: Sequence[Row], preferences: Sequence[Row]) -> None:
        self._users = {row["user_id"]: row for row in users}
        self._tasks = {row["task_id"]: row for row in tasks}
        self._offered = _offered(users, preferences)
        self._menus: dict[str, Menu] = {}
        self._goals: dict[str, frozenset[Run]] = {}

    def of(self, user_id: Any, task_id: Any) -> Person | None:
        """A user before a task; None where one of them is unknown."""
        user, task = self._users.get(user_id), self._tasks.get(task_id)
        if user is None or task is None or not self._offered:
            return None
        own = {
            (entry["domain"], entry["preference"]): [value.casefold() for value in entry["values"]]
            for entry in user["affinities"]
            if entry["domain"] in task["domains"]
        }
        return Person(own, self._menu(task), task["intent"].casefold())

    def goal_runs(self, task_id: Any) -> frozenset[Run]:
        """Each seven words in a row of a task's goal that do not stand in its intent."""
        if task_id not in self._goals:
            task = self._tasks.get(task_id)
            goal, intent = (word_runs(task[name], IN_A_ROW) for name in ("goal", "intent")) if task else ({}, {})
            self._goals[task_id] = frozenset(goal) - frozenset(intent)
        return self._goals[task_id]

    def demographics(self, user_id: Any) -> list[str]:
        """The demographics of a user that can be recognised in running text, in lower case, each once."""
        user = self._users.get(user_id)
        values = user["demographics"].values() if user else ()
        folded = dict.fromkeys(value.casefold() for value in values)
        return [value for value in folded if len(value) > _SHORTEST]

    def _menu(self, task: Row) -> Menu:
        if task["task_id"] not in self._menus:
            places = [
                (each["domain"], each["preference"]) for entry in task["preferences"] for each in entry["resolved"]
            ]
            self._menus[task["task_id"]] = _menu_of(places, self._offered)
        return self._menus[task["task_id"]]


def profiles(related: Related) -> Profiles:
    """The profiles of the related tables; the same object for the same tables."""
    tables = [related.get(name, ()) for name in ("users", "tasks", "preferences")]
    return _cached(*map(_Same, tables))


class _Same:
    """A table as a key: the same only as itself."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = rows

    def __hash__(self) -> int:
        return id(self.rows)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.rows is self.rows


@functools.lru_cache(maxsize=4)
def _cached(users: _Same, tasks: _Same, preferences: _Same) -> Profiles:
    return Profiles(users.rows, tasks.rows, preferences.rows)


def _offered(users: Sequence[Row], preferences: Sequence[Row]) -> Mapping[Place, set[str]]:
    found: dict[Place, set[str]] = defaultdict(set)
    for row in preferences:
        found[row["domain"], row["preference"]].update(value.casefold() for value in row["possible_values"])
    for user in users:
        for entry in user["affinities"]:
            found[entry["domain"], entry["preference"]].update(value.casefold() for value in entry["values"])
    return found


def _menu_of(places: Sequence[Place], offered: Mapping[Place, set[str]]) -> Menu:
    by_value: dict[str, set[Place]] = defaultdict(set)
    for place in places:
        for value in offered.get(place, ()):
            by_value[value].add(place)
    words = by_value.keys() | {name.casefold() for _, name in places}
    listed = "|".join(map(re.escape, sorted(words, key=lambda value: (-len(value), value))))
    found_by = re.compile(rf"(?<!\w)(?:{listed})(?!\w)" if listed else r"(?!)", re.IGNORECASE)
    return Menu({value: frozenset(found) for value, found in by_value.items()}, found_by)
