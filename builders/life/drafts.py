"""A fact of a life before it has an id, and the ages it may cover. Used by ``builders.life.lives``."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

LAST = 50
"""The last age of a life that is planned, in years."""

_LONGEST_ROLE = 60  # schemas/records/ledgers.schema.json


@dataclass(frozen=True, eq=False)
class Draft:
    """A fact before it has an id; ``links`` are other drafts. Ages in years, both inclusive."""

    kind: str
    role: str
    name: str | None
    from_age: int
    to_age: int
    ends_by: str | None
    detail: str
    links: tuple[Draft, ...] = ()


def stretches(first: int, last: int, lengths: tuple[int, int], rng: random.Random) -> Iterator[tuple[int, int]]:
    """Intervals that cover ``first`` to ``last`` without gap or overlap; no rest shorter than the least length."""
    least = lengths[0]
    start = first
    while start <= last:
        end = start + rng.randint(*lengths) - 1
        if last - end < least:
            end = last
        yield start, end
        start = end + 1


def role_of(occupation: str) -> str:
    """``Freelance programmer`` -> ``freelance programmer``, but ``GP`` stays; one too long for a role is not named."""
    if len(occupation) > _LONGEST_ROLE:
        return "own line of work"
    return occupation if occupation[:2].isupper() else occupation[:1].lower() + occupation[1:]
