"""Who a user is: demographics drawn from strata, and the traits that preferences follow.

PersonaLens 2.1 samples its users from a survey of real people; here shares and dependencies stand in
``seeds/demographics.toml`` and ``seeds/countries.toml``: employment, education, family and children follow from
age, ethnicity and religion from where somebody was born, English from that and the country of residence,
spending from employment, the rhythm of the day from age. A *trait* is a word that values of preferences and
switches of domains refer to, such as "thrifty" or "parent"; ``KINDS`` lists them.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

_SEEDS = Path(__file__).parents[1] / "seeds"

KINDS: Mapping[str, tuple[str, ...]] = {
    "spending": ("thrifty", "moderate", "lavish"),
    "rhythm": ("early", "steady", "late"),
    "company": ("alone", "company"),
    "diet": ("omnivore", "pescatarian", "vegetarian", "vegan", "halal", "kosher"),
    "work": ("employed", "student", "retired", "unemployed"),
    "family": ("partnered", "parent", "household"),
}
"""Traits by kind. A user has one of a kind, or several: of "company" both where neither is sought."""

SECRET = "N/A"
"""What stands for an answer that a user would rather not give."""

_WORK = {
    "Student": "student",
    "Retired": "retired",
    "Looking for work": "unemployed",
    "At home with family": "unemployed",
}
_PARTNERED = ("Married", "Living with a partner")


@dataclass(frozen=True)
class Person:
    """One user before any preference: what the table shows, and what only the builder knows."""

    demographics: Mapping[str, str]
    traits: frozenset[str]
    diet: str
    time_zone: str
    cities: tuple[str, ...]


@functools.cache
def strata() -> Mapping[str, Any]:
    """``seeds/demographics.toml``."""
    return tomllib.loads((_SEEDS / "demographics.toml").read_text("utf-8"))


@functools.cache
def places() -> Mapping[str, Any]:
    """``seeds/countries.toml``."""
    return tomllib.loads((_SEEDS / "countries.toml").read_text("utf-8"))


def draw_person(rng: Random) -> Person:
    """One person by the strata."""
    age = _entry(strata()["ages"], rng)
    employment, family = pick(age["employment"], rng), pick(age["family"], rng)
    home = pick({name: country["share"] for name, country in places()["countries"].items()}, rng)
    birth = _birth_country(home, rng)
    origin = places()["regions"][places()["countries"][birth]["region"]]
    religion = pick(origin["religions"], rng)
    diet = _diet(religion, rng)
    parent = rng.random() * 100 < age["children"]
    demographics = {
        "age": age["name"],
        "gender": pick(strata()["genders"], rng),
        "employment_status": employment,
        "education": pick(age["education"], rng),
        "marital_status": family,
        "english_proficiency": _english(birth, home, rng),
        "ethnicity": _answered("ethnicity", pick(origin["ethnicities"], rng), rng),
        "religion": _answered("religion", religion, rng),
        "birth_country": birth,
        "reside_country": home,
    }
    country = places()["countries"][home]
    traits = {
        _of_three("spending", employment, rng),
        _of_three("rhythm", age["name"], rng),
        *_company(rng),
        strata()["diets"][diet]["kind"],
        _WORK.get(employment, "employed"),
        *(["partnered"] if family in _PARTNERED else []),
        *(["parent"] if parent else []),
        *(["household"] if parent or family in _PARTNERED else []),
    }
    return Person(demographics, frozenset(traits), diet, country["time_zone"], tuple(country["cities"]))


def suits(allowed: Sequence[str], traits: frozenset[str]) -> bool:
    """Whether traits meet those that a value names: of every kind that is named, the user has one."""
    return all(not named or traits & named for named in (set(allowed) & set(kind) for kind in KINDS.values()))


def pick(shares: Mapping[str, float], rng: Random) -> str:
    """A name by its share."""
    return rng.choices(list(shares), list(shares.values()))[0]


def _entry(entries: Sequence[Mapping[str, Any]], rng: Random) -> Mapping[str, Any]:
    return rng.choices(entries, [entry["share"] for entry in entries])[0]


def _birth_country(home: str, rng: Random) -> str:
    if rng.random() * 100 >= places()["moved"]:
        return home
    return pick({name: each["share"] for name, each in places()["countries"].items() if name != home}, rng)


def _diet(religion: str, rng: Random) -> str:
    bound = strata()["religions"].get(religion, {})
    if rng.random() * 100 < sum(bound.values()):
        return pick(bound, rng)
    return pick({name: diet["share"] for name, diet in strata()["diets"].items()}, rng)


def _english(birth: str, home: str, rng: Random) -> str:
    countries = places()["countries"]
    if rng.random() * 100 < countries[birth]["native"]:
        return "Native"
    # Whoever lives among speakers of a language learns it.
    among = countries[home]["native"] >= 50
    return pick({"Fluent": 70, "Good": 25, "Basic": 5} if among else {"Fluent": 30, "Good": 45, "Basic": 25}, rng)


def _answered(question: str, answer: str, rng: Random) -> str:
    return SECRET if rng.random() * 100 < strata()["prefer_not_to_say"][question] else answer


def _of_three(kind: str, group: str, rng: Random) -> str:
    return str(rng.choices(KINDS[kind], strata()[kind][group])[0])


def _company(rng: Random) -> tuple[str, ...]:
    return tuple(rng.choices([("alone",), ("company",), ("alone", "company")], strata()["company"]["shares"])[0])
