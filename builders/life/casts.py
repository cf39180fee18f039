"""Names and traits of the people, pets and places in a character's life, each handed out once.

Characters draw from different slices of the lists (by the number in their id), so that the casts of
a benchmark's characters do not overlap: a reader, or a model, must not meet the same Ingrid in two lives.
The lists are data, ``seeds/life/*.toml``.
"""

from __future__ import annotations

import functools
import random
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from builders.ids import character_number
from schemas.tables import Row

_LISTS = Path(__file__).parents[1] / "seeds" / "life"
_SLICES = 12
_GENDERS = ("f", "m")

Pronoun = Literal["she", "he", "they", "it"]

# Kinds of facts that are people; every other kind is a thing, a place, an animal or a state.
PEOPLE = frozenset({"family", "friend", "partner", "child", "teacher", "colleague", "neighbour"})


@functools.cache
def lists(name: str) -> dict[str, Any]:
    """One of the data files of ``seeds/life``, by its stem."""
    return tomllib.loads((_LISTS / f"{name}.toml").read_text("utf-8"))


def pronoun(fact: Row) -> Pronoun:
    """How to refer to a fact of the ledger a second time: by role, by title, by given name."""
    if fact["kind"] not in PEOPLE:
        return "it"
    by_word = lists("circle")["pronouns"]
    name = (fact["name"] or "").split(" ")[0]
    if fact["kind"] == "partner":
        return "they"
    known: Pronoun = by_word.get(fact["role"]) or by_word.get(name) or _by_given_name().get(name) or "they"
    return known


@functools.cache
def _by_given_name() -> dict[str, Pronoun]:
    said: dict[str, Pronoun] = {"f": "she", "m": "he"}
    return {
        name: said[gender]
        for culture in lists("names")["given"].values()
        for gender in _GENDERS
        for name in culture[gender]
    }


class Cast:
    """The names and details still free for one character."""

    def __init__(self, character_id: str, rng: random.Random) -> None:
        self._rng = rng
        self._slice = int(character_number(character_id)) % _SLICES
        self._decks: dict[str, list[str]] = {}

    def given(self, gender: str | None = None) -> str:
        """A given name; ``gender`` "f" or "m", either when None, of what there is more left."""
        if gender is None:
            first, second = self._rng.sample(_GENDERS, 2)
            gender = first if len(self._deck_of(first)) >= len(self._deck_of(second)) else second
        return self._deck_of(gender).pop()

    def name(self, what: str) -> str:
        """A name of one of the plain lists: partners, surnames, pets, streets, words."""
        return self._deck(what, lists("names")[what]["any"]).pop()

    def titled(self) -> str:
        """A surname with a title: ``Ms Horvath``."""
        return f"{self._rng.choice(('Ms', 'Mr'))} {self.name('surnames')}"

    def filled(self, pattern: str, **more: str) -> str:
        """A pattern with ``{word}`` and ``{surname}`` filled in, a new one each time."""
        while "{word}" in pattern:
            pattern = pattern.replace("{word}", self.name("words"), 1)
        while "{surname}" in pattern:
            pattern = pattern.replace("{surname}", self.name("surnames"), 1)
        return pattern.format(**more) if more else pattern

    def one_of(self, what: str, options: Sequence[str]) -> str:
        """One of the options, none a second time before all have been dealt; ``what`` names the deck."""
        deck = self._decks.get(what)
        if not deck:
            deck = self._decks[what] = self._rng.sample(options, len(options))
        return deck.pop()

    def _deck_of(self, gender: str) -> list[str]:
        names = [name for culture in lists("names")["given"].values() for name in culture[gender]]
        return self._deck(f"given-{gender}", names)

    def _deck(self, what: str, options: Sequence[str]) -> list[str]:
        """What is left of a list, dealt from the end; the character's own slice of it comes first."""
        if what not in self._decks:
            own = options[self._slice :: _SLICES]
            rest = [option for option in options if option not in set(own)]
            self._decks[what] = self._rng.sample(rest, len(rest)) + self._rng.sample(own, len(own))
        return self._decks[what]
