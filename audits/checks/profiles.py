"""Profiles: each on its own, and whether together they are as different as they are meant to be.

LikeBench 4.2, D.1, Table 12 and Figure 11. The codes, with examples, stand in ``profiles.toml``.

    python -m audits --benchmark likebench --table profiles
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from audits.subjects import Related, Subject, at_row, entries, values_of
from schemas.evenness import evenness
from schemas.findings import Finding
from schemas.records import record_schema, term_ids, vocabulary
from schemas.tables import Row
from schemas.text.sentences import sentences

CLOSEST = 0.25
LEAST_EVENNESS = 0.7
ENOUGH = 30
"""Profiles from which on evenness says something of the draw."""


def audit(
    read: Sequence[Subject], judged: Sequence[Subject], related: Related, wanted: frozenset[str]
) -> list[Finding]:
    """Findings of each profile by itself."""
    return [finding for subject in read for check in _CHECKS for finding in check(subject)]


def coverage(read: Sequence[Subject], related: Related) -> list[Finding]:
    """Findings of all profiles together: names they share, pairs too much alike, levels and options too rare."""
    return [*_shared_names(read), *_alike(read), *_uneven(read)]


def diversity(rows: Sequence[Row]) -> Row:
    """How different profiles are: evenness by facet and by dimension of style, distances between pairs.

    ``evenness`` is the entropy of the levels or options over that of an even spread of all there are;
    ``distance`` has minimum, mean and the ids of the closest pair (None with fewer than two profiles).
    """
    pairs = sorted((distance(a, b), a["persona_id"], b["persona_id"]) for a, b in itertools.combinations(rows, 2))
    measured = {"minimum": pairs[0][0], "mean": math.fsum(pair[0] for pair in pairs) / len(pairs)} if pairs else {}
    return {
        "profiles": len(rows),
        "types": dict(Counter(row["type"] for row in rows)),
        "evenness": dict(_evenness(rows)),
        "distance": {**measured, "closest": list(pairs[0][1:])} if pairs else None,
    }


def distance(first: Row, second: Row) -> float:
    """0 for the same facets and style, 1 for opposite ones: mean over 35 facets and 9 dimensions."""
    levels = {level["id"]: level["value"] for level in vocabulary("facet_levels")}
    parts = []
    here, there = _by(first, "facets", "facet", "level"), _by(second, "facets", "facet", "level")
    for facet in here.keys() & there.keys():
        parts.append(abs(levels.get(here[facet], 3) - levels.get(there[facet], 3)) / 4)
    here, there = _by(first, "styles", "dimension", "option"), _by(second, "styles", "dimension", "option")
    parts += [float(here[dimension] != there[dimension]) for dimension in here.keys() & there.keys()]
    return math.fsum(parts) / len(parts) if parts else 1.0


def _by(row: Mapping[str, Any], field: str, name: str, value: str) -> dict[str, str]:
    return {str(each.get(name)): str(each.get(value)) for each in entries(row, field)}


def _facets(subject: Subject) -> Iterator[Finding]:
    counted = Counter(values_of(subject.row, "facets", "facet"))
    for facet in term_ids("personality_facets"):
        if counted[facet] != 1:
            message = f"{facet} occurs {counted[facet]} times, once expected"
            yield at_row(subject, "profile.facet", "error", message, "facets", facet)
    texts = {facet["id"]: facet["levels"] for facet in vocabulary("personality_facets")}
    for each in entries(subject.row, "facets"):
        wanted = texts.get(each.get("facet"), {}).get(each.get("level"))
        if wanted is not None and each.get("descriptor") != wanted:
            message = f"{each['facet']}, {each['level']}: changed from {wanted!r}"
            yield at_row(subject, "profile.descriptor", "error", message, "facets", each.get("descriptor"))


def _styles(subject: Subject) -> Iterator[Finding]:
    options = {option["id"]: option for option in vocabulary("style_options")}
    counted = Counter(values_of(subject.row, "styles", "dimension"))
    for dimension in term_ids("style_dimensions"):
        if counted[dimension] != 1:
            message = f"{dimension} occurs {counted[dimension]} times, once expected"
            yield at_row(subject, "profile.style", "error", message, "styles", dimension)
    for each in entries(subject.row, "styles"):
        option = options.get(str(each.get("option")))
        if option is None:
            continue  # the record schema names it
        if option["dimension"] != each.get("dimension"):
            message = f"{option['id']} is not an option of {each.get('dimension')}"
            yield at_row(subject, "profile.style", "error", message, "styles", option["id"])
        if each.get("descriptor") != option["text"]:
            message = f"{option['id']}: changed from {option['text']!r}"
            yield at_row(subject, "profile.descriptor", "error", message, "styles", each.get("descriptor"))


def _archetype(subject: Subject) -> Iterator[Finding]:
    types = {each["id"]: each["type"] for each in vocabulary("profile_archetypes")}
    kind = types.get(subject.text("archetype"))
    if kind is not None and kind != subject.text("type"):
        message = f"an archetype of type {kind} in a profile of type {subject.text('type')}"
        yield at_row(subject, "profile.archetype", "error", message, "archetype", subject.text("archetype"))


def _subjects(subject: Subject) -> Iterator[Finding]:
    paths = {leaf["id"]: leaf["path"] for leaf in vocabulary("interests")}
    held = entries(subject.row, "subjects")
    sets = [str(each.get("set")) for each in held]
    if not 3 <= len(held) <= 5 or sets != [f"set_{number}" for number in range(1, len(held) + 1)]:
        yield at_row(subject, "profile.subjects", "error", "three to five sets from set_1 on", "subjects", sets)
    for each in held:
        wanted = paths.get(str(each.get("interest")))
        if wanted is not None and each.get("path") != wanted:
            message = f"{each['interest']}: its path is {' > '.join(wanted)}"
            yield at_row(subject, "profile.subjects", "error", message, "subjects", each.get("path"))
    count = subject.number("entity_count")
    if count is not None and not 2 <= count <= 5:
        yield at_row(subject, "profile.entities", "error", "2 to 5 entities a set", "entity_count", count)
    for field, code in (("entities", "profile.entities"), ("knowledge", "profile.knowledge")):
        found = sorted(map(str, values_of(subject.row, field, "set")))
        if found != sorted(sets):
            yield at_row(subject, code, "error", f"the sets are {', '.join(sets)}", field, found)
    for each in entries(subject.row, "entities"):
        items = each.get("items")
        if isinstance(items, list) and count is not None and not len(items) == len(set(map(str, items))) == count:
            message = f"{each.get('set')}: {count:g} different entities expected"
            yield at_row(subject, "profile.entities", "error", message, "entities", items)


def _missing(subject: Subject) -> Iterator[Finding]:
    properties = record_schema("profiles")["properties"]
    nested = {name: node["properties"] for name, node in properties.items() if name in ("background", "behaviors")}
    for field in sorted(properties.keys() - subject.row.keys()):
        yield at_row(subject, "profile.missing", "error", "missing: use null for no value", field)
    for name, parts in nested.items():
        held = subject.row.get(name)
        for part in sorted(parts.keys() - held.keys()) if isinstance(held, Mapping) else ():
            yield at_row(subject, "profile.missing", "error", "missing: use null for no value", f"{name}.{part}")


def _age(subject: Subject) -> Iterator[Finding]:
    age = subject.number("age")
    bands = {band["id"]: band for band in vocabulary("age_bands")}
    band = bands.get(subject.text("age_band"))
    if age is None:
        return
    if band is not None and not band["from_age"] <= age <= band["to_age"]:
        message = f"{band['id']} is {band['from_age']} to {band['to_age']}"
        yield at_row(subject, "profile.age", "error", message, "age", age)
    for years in values_of(subject.row, "life_events", "age"):
        if isinstance(years, int) and years > age:
            message = f"happens at {years} to a person of {age:g}"
            yield at_row(subject, "profile.age", "error", message, "life_events", years)


def _names(subject: Subject) -> Iterator[Finding]:
    counted = Counter([subject.text("name"), *map(str, values_of(subject.row, "relations", "name"))])
    for name, times in counted.items():
        if times > 1:
            yield at_row(subject, "profile.names", "error", f"{name} names {times} of them", "relations", name)
    for each in entries(subject.row, "details"):
        keyword, mention = str(each.get("keyword")), str(each.get("mention"))
        if keyword.lower() not in mention.lower():
            message = f"the keyword does not occur in {mention!r}"
            yield at_row(subject, "profile.names", "error", message, "details", keyword)


def _summary(subject: Subject) -> Iterator[Finding]:
    text, name = subject.text("persona_summary"), subject.text("name")
    count = len(sentences(text))
    if text and not 4 <= count <= 5:
        message = f"{count} sentences, four or five expected"
        yield at_row(subject, "profile.summary", "warning", message, "persona_summary", count)
    if text and name and name not in text:
        yield at_row(subject, "profile.summary", "warning", f"{name} is not named", "persona_summary")


def _shared_names(read: Sequence[Subject]) -> Iterator[Finding]:
    counted = Counter(subject.text("name") for subject in read)
    for subject in read:
        name = subject.text("name")
        if name and counted[name] > 1:
            message = f"{counted[name]} profiles are called that"
            yield at_row(subject, "profile.shared_name", "warning", message, "name", name)


def _alike(read: Sequence[Subject]) -> Iterator[Finding]:
    for first, second in itertools.combinations(read, 2):
        apart = distance(dict(first.row), dict(second.row))
        if apart < CLOSEST:
            message = f"{apart:.2f} from {first.id}; at least {CLOSEST} expected"
            yield at_row(second, "profile.alike", "warning", message, "facets", first.id)


def _uneven(read: Sequence[Subject]) -> Iterator[Finding]:
    if len(read) < ENOUGH:
        return
    whole = Subject("profiles", "*", {})
    for name, even in _evenness([dict(subject.row) for subject in read]):
        if even < LEAST_EVENNESS:
            message = f"{name}: {even:.2f} of an even spread; at least {LEAST_EVENNESS} expected"
            yield at_row(whole, "profile.uneven", "warning", message, None, name)


def _evenness(rows: Sequence[Row]) -> Iterator[tuple[str, float]]:
    levels = len(term_ids("facet_levels"))
    facets = [_by(row, "facets", "facet", "level") for row in rows]
    for facet in term_ids("personality_facets"):
        yield facet, _share_of_entropy([each[facet] for each in facets if facet in each], levels)
    styles = [_by(row, "styles", "dimension", "option") for row in rows]
    sizes = Counter(option["dimension"] for option in vocabulary("style_options"))
    for dimension in term_ids("style_dimensions"):
        yield dimension, _share_of_entropy([each[dimension] for each in styles if dimension in each], sizes[dimension])


def _share_of_entropy(values: Sequence[str], possible: int) -> float:
    return evenness(Counter(values).values(), possible) or 0.0


_CHECKS = (_facets, _styles, _archetype, _subjects, _missing, _age, _names, _summary)
