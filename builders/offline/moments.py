"""When a memory happens: a moment that its scene allows, and how it is said.

The plan proposes season, weekday and part of the day; a scene that cannot happen then (a lesson on a
Sunday) moves it to the nearest time it can. The phrase is picked by the memory's number, in mixed radix,
so that two memories of one scene are never opened with the same words. Banks: ``banks/moments.toml``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from builders.memories.plan import MemoryPlan
from builders.offline.banks import Scene, bank

WEEK = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
PARTS = ("morning", "midday", "afternoon", "evening", "night")
SEASONS = ("spring", "summer", "autumn", "winter")

_PART_OF_MONTH = ("early ", "mid-", "late ")
_NTH = ("first", "second", "third", "last")
_ABOUT = ("around", "about", "shortly before", "a little after")
# Times that others are measured by: "shortly before ten", but not "shortly before five to three".
_ROUND = ("o'clock", "half past", "noon", "midnight")


@dataclass(frozen=True)
class Moment:
    """A point in the calendar, and the number that decides how it is worded."""

    season: str
    weekday: str
    part: str
    term: bool
    child: bool
    number: int

    @property
    def dark(self) -> bool:
        """Whether there is no daylight: at night, and on evenings of autumn and winter."""
        return self.part == "night" or (self.part == "evening" and self.season in ("autumn", "winter"))

    def words(self, name: str) -> str | None:
        """The template behind a slot of time (``when``, ``later``, ``soon``, ``days`` …), or None."""
        said = bank("moments")
        match name:
            case "when":
                return _nth(said["forms"]["child" if self.child else "any"], self.number)
            case "mark":
                return _nth(said["mark"]["any"], self.number)
            case "weekday":
                return self.weekday
            case "month":
                return _nth(self._months(said), self.number)
            case "month_part":
                return _nth(_PART_OF_MONTH, self.number // 3) + _nth(self._months(said), self.number)
            case "nth":
                return _nth(_NTH, self.number // 3)
            case "about":
                by_the_hour = any(each in (self.words("clock") or "") for each in _ROUND)
                return _nth(_ABOUT if by_the_hour else _ABOUT[:2], self.number // 2)
            case "part":
                return str(said["parts"][self.part][0])
            case "clock":
                return _nth(said["clock"][self.part], self.number)
            case "ahead":
                return WEEK[(WEEK.index(self.weekday) + 2 + self.number % 4) % 7]
            case "later" | "soon" | "days":
                table = said[name]
                return "[" + "|".join(table.get("any") or table[self.part]) + "]"
        return None

    def _months(self, said: dict[str, Any]) -> Sequence[str]:
        if self.term and self.season in said["term"]:
            return list(said["term"][self.season])
        return list(said["months"][self.season])


def moment(plan: MemoryPlan, scene: Scene) -> Moment:
    """The moment of a memory: what the plan proposes where the scene allows it."""
    season = _allowed(plan.season, scene.seasons, SEASONS, plan.number)
    weekday = _allowed(plan.weekday, scene.days, WEEK, plan.number)
    part = _allowed(plan.part_of_day, scene.hours, PARTS, plan.number)
    return Moment(season, weekday, part, scene.term, scene.language == "child", plan.number)


def _allowed(proposed: str, allowed: Sequence[str], order: Sequence[str], number: int) -> str:
    if proposed in allowed:
        return proposed
    choices = [value for value in order if value in allowed]
    return choices[number % len(choices)]


def _nth(values: Sequence[str], index: int) -> str:
    return values[index % len(values)]
