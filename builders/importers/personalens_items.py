"""One published PersonaLens item <-> one row, in both directions.

Maps keyed by domain become lists; stray asterisks around a domain and other spellings of a menu's
value are corrected, with the original in the row's ``published`` list. A situation repeats its task's
text; only what differs from the task is kept. Odd values pass as they are: the record schema judges.

    python -m builders.importers personalens --from PATH
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Any, Literal

import orjson

from builders.importers.documents import text
from builders.importers.staging import PROVENANCE, WHOLE, pick, published_value
from schemas.tables import Row, record_schema, term_ids, vocabulary

MULTI_DOMAIN = "Multi-Domain"

PREFERENCE_FIELDS = {
    "name": "preference",
    "description": "description",
    "is_categorical": "categorical",
    "has_multiple_values": "multiple",
    "possible_values": "possible_values",
}
TASK_FIELDS = {
    "Task Number": "number",
    "Task Description": "description",
    "User Intent": "intent",
    "Task Goal": "goal",
}
SITUATION_FIELDS = {
    "Location": "location",
    "Device": "device",
    "Time of Day": "time_of_day",
    "Day of the Week": "day_of_week",
    "Environment": "environment",
}

# The fields of a user's task that repeat the task itself.
REPEATED = ("Task Description", "User Intent", "Task Goal", "Relevant Domains", "Relevant Affinity Types")

Verdict = Literal["on", "spelling", "off"]


def preference_row(item: Any, domain: str) -> Row:
    """A row of ``preferences`` from an affinity of ``res/schema.json``."""
    row = pick(item, PREFERENCE_FIELDS)
    if not isinstance(row, dict):
        return row  # type: ignore[no-any-return]
    return {"domain": domain, **row, "published": [], "provenance": PROVENANCE}


def preference_item(row: Row) -> Any:
    """The published affinity of a row."""
    if (whole := published_value(row, WHOLE)) is not None:
        return whole
    return {theirs: row[ours] for theirs, ours in PREFERENCE_FIELDS.items()}


def task_row(item: Any, folder: str, listed: Mapping[str, set[str]]) -> Row:
    """A row of ``tasks`` from a line of ``data/task/<folder>/task.jsonl``.

    ``listed`` are the preference types by domain, to which the names a task uses are resolved.
    """
    row = pick(item, TASK_FIELDS)
    if not isinstance(row, dict):
        return row  # type: ignore[no-any-return]
    multi = folder == MULTI_DOMAIN
    if "number" in row:
        row["task_id"] = f"MD-task-{row['number']}" if multi else f"SD-{folder}-task-{row['number']}"
    if not multi:
        row["domains"] = [folder]
    elif "Relevant Domains" in item:
        row["domains"] = item["Relevant Domains"]
    names = item.get("Relevant Affinity Types")
    if isinstance(names, list):
        row["preferences"] = [{"name": name, "resolved": _resolved(name, row.get("domains"), listed)} for name in names]
    return {**row, "kind": "multi" if multi else "single", "published": [], "provenance": PROVENANCE}


def task_item(row: Row) -> Any:
    """The published task of a row."""
    if (whole := published_value(row, WHOLE)) is not None:
        return whole
    item = {theirs: row[ours] for theirs, ours in TASK_FIELDS.items()}
    if row["kind"] == "multi":
        item["Relevant Domains"] = row["domains"]
    return {**item, "Relevant Affinity Types": [preference["name"] for preference in row["preferences"]]}


def user_row(item: Any) -> Row:
    """A row of ``users`` from a ``profile.json``."""
    fields = record_schema("users")["properties"]
    row: Row = pick(item, ("demographics", "interests", "affinities", "interactions"))
    if not isinstance(row, dict):
        return row
    published: list[dict[str, str]] = []
    if isinstance(demographics := row.get("demographics"), dict):
        row |= pick(demographics, ("user_id",))
        row["demographics"] = pick(demographics, list(fields["demographics"]["properties"]))
    for name, entries in (("interests", _interests), ("affinities", _affinities), ("interactions", _interactions)):
        if isinstance(by_domain := row.get(name), dict):
            plain, noted = _plain_domains(name, by_domain)
            row[name] = list(entries(plain)) if _nested(name, plain) else by_domain
            published += noted
    return {**row, "published": published, "provenance": PROVENANCE}


def user_item(row: Row) -> Any:
    """The published profile of a row."""
    if (whole := published_value(row, WHOLE)) is not None:
        return whole
    renamed = {entry["field"]: orjson.loads(entry["value"]) for entry in row["published"]}
    affinities: dict[str, dict[str, Any]] = {}
    for entry in row["affinities"]:
        domain = renamed.get(f"affinities.{entry['domain']}", entry["domain"])
        values = entry["values"] if entry["multiple"] else entry["values"][0]
        affinities.setdefault(domain, {})[entry["preference"]] = values
    return {
        "affinities": affinities,
        "interactions": {
            renamed.get(f"interactions.{entry['domain']}", entry["domain"]): entry["summary"]
            for entry in row["interactions"]
        },
        "interests": {
            renamed.get(f"interests.{entry['domain']}", entry["domain"]): int(entry["active"])
            for entry in row["interests"]
        },
        "demographics": {"user_id": row["user_id"], **row["demographics"]},
    }


def situation_row(item: Any, user_id: str, task: Row | None) -> Row:
    """A row of ``situations`` from an item of a user's ``tasks.json`` or ``tasks_md.json``."""
    if not isinstance(item, dict):
        return item  # type: ignore[no-any-return]
    told = repeated(task)
    published = [
        {"field": name, "value": text(item[name])} for name in REPEATED if name in item and item[name] != told.get(name)
    ]
    row: Row = {"user_id": user_id, **pick(item, ("task_id",)), **_pick_situation(item.get("situations"))}
    for variable in term_ids("personalens_menus"):
        value = row.get(variable)
        if isinstance(value, str):
            row[variable], verdict = on_menu(variable, value)
            if verdict == "spelling":
                published.append({"field": variable, "value": text(value)})
    row["published"], row["provenance"] = published, PROVENANCE
    return row


def situation_item(row: Row, task: Row | None) -> Any:
    """The published item of a row; ``task`` is the row of its task, or None where there is none."""
    said = {entry["field"]: orjson.loads(entry["value"]) for entry in row["published"]}
    if WHOLE in said:
        return said[WHOLE]
    item = {**repeated(task), **{name: said[name] for name in REPEATED if name in said}}
    item["task_id"] = row["task_id"]
    item["situations"] = {theirs: said.get(ours, row[ours]) for theirs, ours in SITUATION_FIELDS.items()}
    return item


def repeated(task: Row | None) -> dict[str, Any]:
    """What every user's copy of a task says of the task."""
    if task is None:
        return {}
    item = {name: task[TASK_FIELDS[name]] for name in REPEATED if name in TASK_FIELDS}
    item["Relevant Domains"] = task["domains"]
    item["Relevant Affinity Types"] = [preference["name"] for preference in task["preferences"]]
    return item


@functools.cache
def on_menu(variable: str, value: str) -> tuple[str, Verdict]:
    """The value as its menu spells it, and whether it was on the menu, spelled otherwise, or off."""
    (menu,) = (term["values"] for term in vocabulary("personalens_menus") if term["id"] == variable)
    if value in menu:
        return value, "on"
    bare = value.strip().removeprefix("[").removesuffix("]").strip().casefold()
    for known in menu:
        if known.casefold() == bare:
            return known, "spelling"
    return value, "off"


def _resolved(name: Any, domains: Any, listed: Mapping[str, set[str]]) -> list[dict[str, str]]:
    """The preference types of the task's domains that are called, or also called, by a name."""
    if not (isinstance(name, str) and isinstance(domains, list)):
        return []
    also = {
        alias["domain"]: alias["preference"] for alias in vocabulary("personalens_aliases") if alias["name"] == name
    }
    found = []
    for domain in domains:
        known = listed.get(domain, set()) if isinstance(domain, str) else set()
        preference = name if name in known else also.get(domain) if isinstance(domain, str) else None
        if preference in known:
            found.append({"domain": domain, "preference": preference})
    return found


def _plain_domains(field: str, by_domain: Mapping[str, Any]) -> tuple[dict[str, Any], list[dict[str, str]]]:
    """The same map with stray asterisks stripped from its keys, and the keys this changed."""
    known = set(term_ids("personalens_domains"))
    plain, noted = {}, []
    for name, value in by_domain.items():
        bare = name.strip("* ")
        if name not in known and bare in known and bare not in by_domain and bare not in plain:
            noted.append({"field": f"{field}.{bare}", "value": text(name)})
            name = bare
        plain[name] = value
    return plain, noted


def _nested(name: str, by_domain: Mapping[str, Any]) -> bool:
    return name != "affinities" or all(isinstance(value, dict) for value in by_domain.values())


def _interests(by_domain: Mapping[str, Any]) -> Iterator[Row]:
    for domain, flag in by_domain.items():
        yield {"domain": domain, "active": bool(flag) if type(flag) is int and flag in (0, 1) else flag}


def _affinities(by_domain: Mapping[str, Any]) -> Iterator[Row]:
    for domain, preferences in by_domain.items():
        for preference, value in preferences.items():
            multiple = isinstance(value, list)
            values = value if multiple else [value]
            yield {"domain": domain, "preference": preference, "multiple": multiple, "values": values}


def _interactions(by_domain: Mapping[str, Any]) -> Iterator[Row]:
    for domain, summary in by_domain.items():
        yield {"domain": domain, "summary": summary}


def _pick_situation(situation: Any) -> dict[str, Any]:
    return pick(situation, SITUATION_FIELDS) if isinstance(situation, dict) else {}
