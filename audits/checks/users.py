"""Audit users: preferences that contradict each other, and profiles that cannot be used as they are.

``users.toml`` lists conflicts, between preferences of one domain, of two, and with demographics
(PersonaLens 2.4 and appendix A.4, which asks a model; this is the part that rules can answer). Domains
that the user's mask switches off are held to the same rules, but what concerns one is only a note: no
task ever shows it. The rest is about shape that record schemas cannot express: the mask names every
domain once, domains that are on have preferences and a summary, spellings agree with the menu,
and a summary tells of the user it belongs to.

    python -m audits --benchmark personalens-published --table users
"""

from __future__ import annotations

import functools
import tomllib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from audits.checks.stated_ages import ages
from audits.subjects import Related, Subject, at_row, at_words, entries, values_of
from schemas.findings import Finding, Severity
from schemas.tables import Row, term_ids

_SOURCE = "PersonaLens 2.4, appendix A.4"
_MASK = "PersonaLens 2.1"
EVERY = "*"
"""The place of parts that are held against each of the user's preferences in turn."""

_FORMS = ("any", "only", "lacks", "besides")

Values = Mapping[str, Sequence[str]]
"""A user's values by "Domain: Preference" and by demographic field."""

Folded = Mapping[str, Set[str]]
"""The same in lower case."""


@dataclass(frozen=True)
class Part:
    """A part of a conflict: what the values of one preference or field must be like; letter case does not count."""

    place: str
    any: frozenset[str]
    only: frozenset[str]
    lacks: frozenset[str]
    besides: frozenset[str]

    def holds(self, values: Folded) -> bool:
        """Whether a user's values are like that; never without values."""
        seen = values.get(self.place, frozenset())
        if self.besides:
            return bool(seen - self.besides)
        return bool(seen) and (
            bool(seen & self.any) if self.any else seen <= self.only if self.only else seen.isdisjoint(self.lacks)
        )

    @property
    def domain(self) -> str | None:
        """The domain of a preference; None for a demographic field."""
        return self.place.split(": ")[0] if ": " in self.place else None


@dataclass(frozen=True)
class Conflict:
    """Parts that exclude each other; ``hits`` and ``misses`` are users by "Domain: Preference" and field."""

    code: str
    name: str
    why: str
    parts: tuple[Part, ...]
    hits: tuple[Mapping[str, Any], ...]
    misses: tuple[Mapping[str, Any], ...]


def audit(
    read: Sequence[Subject], judged: Sequence[Subject], related: Related, wanted: frozenset[str]
) -> list[Finding]:
    """Findings of each user; ``related["preferences"]`` is the menu that spellings are compared with."""
    menu = _menu(related.get("preferences", ()))
    return [finding for subject in read for finding in _user(subject, menu)]


def not_checked(rows: Sequence[Row], related: Related, wanted: Collection[str]) -> Iterator[str]:
    """What of the wanted codes was not looked for, and why: one line each."""
    if "preference.spelling" in wanted and not related.get("preferences"):
        fix = "name a --workspace or --release that has them"
        yield f"preference.spelling not checked: no preferences to compare the spelling with; {fix}"


@functools.cache
def conflicts() -> tuple[Conflict, ...]:
    """The conflicts of ``users.toml``, in its order."""
    document = tomllib.loads(Path(__file__).with_name("users.toml").read_text("utf-8"))
    return tuple(_conflict(entry) for entry in document["conflicts"])


def _conflict(entry: Mapping[str, Any]) -> Conflict:
    parts = tuple(
        Part(
            place=part["in"] if "in" in part else part["field"],
            **{form: frozenset(map(str.casefold, part.get(form, ()))) for form in _FORMS},
        )
        for part in entry["all"]
    )
    return Conflict(entry["code"], entry["name"], entry["why"], parts, tuple(entry["hits"]), tuple(entry["misses"]))


def _menu(preferences: Sequence[Row]) -> Mapping[str, Mapping[str, str]]:
    """The offered spelling by place and folded spelling, for preferences that have a closed list."""
    return {
        f"{row['domain']}: {row['preference']}": {value.casefold(): value for value in row["possible_values"]}
        for row in preferences
        if row["categorical"]
    }


def _user(subject: Subject, menu: Mapping[str, Mapping[str, str]]) -> Iterator[Finding]:
    values, active = _values(subject.row), _mask(subject.row)
    folded = {place: {value.strip().casefold() for value in held} for place, held in values.items()}
    for conflict in (each for number in range(len(conflicts())) for each in _conflicts_at(number, values)):
        if all(part.holds(folded) for part in conflict.parts):
            yield _conflict_finding(subject, conflict, values, active)
    yield from _spellings(subject, values, menu)
    yield from _masks(subject, values)
    yield from _summaries(subject, values)


def _conflicts_at(number: int, values: Values) -> Sequence[Conflict]:
    """A conflict for each of a user's preferences, where it is about every one; else itself."""
    conflict = conflicts()[number]
    if all(part.place != EVERY for part in conflict.parts):
        return [conflict]
    return [_conflict_at(number, place) for place in values if ": " in place]


@functools.lru_cache(maxsize=10_000)
def _conflict_at(number: int, place: str) -> Conflict:
    conflict = conflicts()[number]
    return replace(conflict, parts=tuple(replace(part, place=place) for part in conflict.parts))


def _conflict_finding(subject: Subject, conflict: Conflict, values: Values, active: Mapping[str, bool]) -> Finding:
    places = list(dict.fromkeys(part.place for part in conflict.parts))
    off = [part.domain for part in conflict.parts if part.domain and not active.get(part.domain, True)]
    severity: Severity = "note" if off else "warning"
    message = f"{conflict.name}: {conflict.why}" + (f" ({off[0]} is switched off)" if off else "")
    shown = "; ".join(f"{place}: {', '.join(values[place])}" for place in places)
    field = "affinities" if any(part.domain for part in conflict.parts) else "demographics"
    return at_row(subject, conflict.code, severity, message, field, shown, _SOURCE)


def _spellings(subject: Subject, values: Values, menu: Mapping[str, Mapping[str, str]]) -> Iterator[Finding]:
    for place, held in values.items():
        names = [value.strip().casefold() for value in held]
        offered = menu.get(place, {})
        for value, name in zip(held, names, strict=True):
            if (spelled := offered.get(name, value)) != value:
                message = f"{place}: the menu spells it {spelled!r}; measured as another value"
                yield at_row(subject, "preference.spelling", "warning", message, "affinities", value, "PersonaLens 2.4")
        if len(set(names)) == len(names):
            continue
        folded: dict[str, list[str]] = defaultdict(list)
        for value, name in zip(held, names, strict=True):
            folded[name].append(value)
        for value, named in folded.items():
            if len(named) > 1:
                forms = list(dict.fromkeys(named))
                ways = f", as {' and '.join(map(repr, forms))}" if len(forms) > 1 else ""
                message = f"{place}: named {len(named)} times{ways}"
                yield at_row(subject, "preference.repeated", "warning", message, "affinities", value, "PersonaLens 2.4")


def _masks(subject: Subject, values: Values) -> Iterator[Finding]:
    named = Counter(values_of(subject.row, "interests", "domain"))
    for domain in term_ids("personalens_domains"):
        if named[domain] != 1:
            message = f"{domain} is named {named[domain]} times, once expected"
            yield at_row(subject, "mask.domain", "error", message, "interests", domain, _MASK)
    active = [domain for domain, on in _mask(subject.row).items() if on]
    if not active:
        yield at_row(subject, "mask.empty", "error", "no domain is on: no task can be given", "interests", source=_MASK)
    with_values = {place.split(": ")[0] for place, held in values.items() if ": " in place and held}
    described = {entry.get("domain") for entry in entries(subject.row, "interactions")}
    for domain in active:
        if domain not in with_values:
            message = f"{domain} is on, and has no preference"
            yield at_row(subject, "mask.unfilled", "error", message, "affinities", domain, _MASK)
        if domain not in described:
            message = f"{domain} is on, and has no summary of interactions"
            yield at_row(subject, "mask.unfilled", "error", message, "interactions", domain, _MASK)


def _summaries(subject: Subject, values: Values) -> Iterator[Finding]:
    by_domain: dict[str, list[str]] = defaultdict(list)
    for place, held in values.items():
        by_domain[place.split(": ")[0]] += [value.casefold() for value in held]
    own = [years for text in values.get("age", ()) for _, years in ages(text)]
    for number, entry in enumerate(entries(subject.row, "interactions")):
        domain, text = str(entry.get("domain")), entry.get("summary")
        if not isinstance(text, str):
            continue
        field, folded = f"interactions.{number}.summary", text.casefold()
        here = Subject(subject.table, subject.id, {"interactions": {str(number): {"summary": text}}})
        if by_domain[domain] and not any(value in folded for value in by_domain[domain]):
            message = f"mentions none of the user's preferences in {domain}"
            yield at_words(here, "summary.silent", "warning", field, (0, len(text)), message, _SOURCE)
        for words, (low, high) in ages(text) if own else ():
            if all(high < least or low > most for least, most in own):
                message = f"the user is {values['age'][0]}"
                yield at_words(here, "summary.age", "warning", field, words, message, _SOURCE)


def affinities(row: Mapping[str, Any]) -> Iterator[tuple[str, str, list[str]]]:
    """The domain, the type and the values of each preference of a user, those that are text."""
    for entry in entries(row, "affinities"):
        held = entry.get("values")
        texts = [value for value in held if isinstance(value, str)] if isinstance(held, list) else []
        yield str(entry.get("domain")), str(entry.get("preference")), texts


def _values(row: Mapping[str, Any]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for domain, preference, texts in affinities(row):
        found.setdefault(f"{domain}: {preference}", []).extend(texts)
    demographics = row.get("demographics")
    if isinstance(demographics, Mapping):
        found.update({str(name): [value] for name, value in demographics.items() if isinstance(value, str)})
    return found


def _mask(row: Mapping[str, Any]) -> dict[str, bool]:
    return {str(entry.get("domain")): entry.get("active") is True for entry in entries(row, "interests")}
