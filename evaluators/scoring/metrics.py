"""What a score is: its unit, its scale, and how scores become one figure. Data, read from rubrics and headers.

A metric travels in the header beside its score rows, so that figures can be made again from the two files alone.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

UnitName = Literal["sentence", "message", "turn", "prefix", "dialogue", "session", "note", "pair", "item"]
Kind = Literal["integers", "boolean", "labels", "pairwise"]
Method = Literal["mean", "atomic", "traits"]
State = Literal["scored", "not_applicable", "unscored", "refused", "failed"]
"""scored: a value was given; not_applicable: the judge says that the metric does not apply; unscored: a reply came
and holds no value, or the judge declined; refused: the model declined; failed: no reply came. Only
``scored`` has a value."""

TRAIT_GROUPS = ("character_id", "trait", "truth", "keyed", "statement_id", "wording", "order")
"""Groups that rows of agreement with statements have, for the method ``traits``."""

UNITS: tuple[UnitName, ...] = get_args(UnitName)
KINDS: tuple[Kind, ...] = get_args(Kind)
METHODS: tuple[Method, ...] = get_args(Method)
STATES: tuple[State, ...] = get_args(State)
LISTS = ("within", "clusters", "by", "sets", "only", "segments", "of")
"""The settings of an aggregation that are lists."""


@dataclass(frozen=True)
class Scale:
    """Which values a score may have.

    ``integers``: ``least`` to ``most``. ``boolean``: 0 and 1. ``labels``: the place of a label from 0. ``pairwise``:
    1 the first is better, 0 the second, 0.5 a tie.
    """

    kind: Kind
    least: int = 0
    most: int = 1
    labels: tuple[str, ...] = ()

    @functools.cached_property
    def values(self) -> tuple[float, ...]:
        """All values, in order."""
        if self.kind == "pairwise":
            return (0.0, 0.5, 1.0)
        if self.kind == "labels":
            return tuple(float(place) for place in range(len(self.labels)))
        return tuple(float(value) for value in range(self.least, self.most + 1))

    def in_words(self) -> str:
        """The values, for people."""
        if self.kind == "labels":
            return ", ".join(f"{place} {label}" for place, label in enumerate(self.labels))
        if self.kind == "integers":
            return f"a whole number from {self.least} to {self.most}"
        if self.kind == "boolean":
            return "true or false"
        return ", ".join(f"{value:g}" for value in self.values)


@dataclass(frozen=True)
class Aggregation:
    """How scores become one figure.

    ``mean``: a mean over ``within``, from the finest group to the coarsest, then over the coarsest. ``atomic``: persona
    fidelity (``fidelity``): sentences within responses within runs within sets, against the level in the
    group ``target``. ``traits``: agreement with keyed statements as trait values against the truth that rows hold
    (``psychometrics.figures``). ``clusters`` are the groups drawn anew for intervals; ``by`` the groups that figures
    are broken down by. All are names of groups of the score rows; ``item`` is the item itself. ``only`` is a group and
    the value that items need to count: the others are counted and left out. ``series`` is the group in whose order
    scores are a series with a trend, over all of it and between ``segments``, places from 1. A metric with ``of`` has
    no rows of its own: it is the mean of those metrics of the same item and judge, divided by ``over``.
    """

    method: Method = "mean"
    within: tuple[str, ...] = ()
    clusters: tuple[str, ...] = ("item",)
    by: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()
    target: str | None = None
    only: tuple[str, ...] = ()
    series: str | None = None
    segments: tuple[int, ...] = ()
    of: tuple[str, ...] = ()
    over: float = 1.0

    @property
    def groups(self) -> tuple[str, ...]:
        """Every group that is named, once."""
        traits = TRAIT_GROUPS if self.method == "traits" else ()
        named = (*traits, *self.within, *self.clusters, *self.by, *self.sets, *self.only[:1])
        named = (*named, *(one for one in (self.target, self.series) if one))
        return tuple(dict.fromkeys(name for name in named if name != "item"))


@dataclass(frozen=True)
class Metric:
    """A metric of score rows; ``rubric`` is its id and version, ``digest`` the SHA-256 of its file."""

    name: str
    unit: UnitName
    scale: Scale
    aggregation: Aggregation
    rubric: str | None = None
    digest: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """As it stands in a header."""
        return asdict(self)


def too_few(states: Mapping[str, int]) -> bool:
    """Whether of the items that the metric applies to fewer than half have a score: no figure is shown of those."""
    applies = sum(count for state, count in states.items() if state != "not_applicable")
    return 2 * states["scored"] < applies


def metric_of(value: Mapping[str, Any]) -> Metric:
    """A metric from a header. Raises TypeError or KeyError for one that is malformed."""
    scale, aggregation = dict(value["scale"]), dict(value["aggregation"])
    scale["labels"] = tuple(scale["labels"])
    for name in LISTS:
        aggregation[name] = tuple(aggregation.get(name, ()))
    return Metric(**{**value, "scale": Scale(**scale), "aggregation": Aggregation(**aggregation)})


def close(one: Any, other: Any) -> bool:
    """Whether two JSON values are the same, numbers but for the last digits that machines differ in."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(close(one[key], other[key]) for key in one)
    if isinstance(one, Sequence) and isinstance(other, Sequence) and not isinstance(one, str):
        return len(one) == len(other) and all(close(a, b) for a, b in zip(one, other, strict=True))
    if isinstance(one, float | int) and isinstance(other, float | int) and not isinstance(one, bool):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
    return bool(one == other)
