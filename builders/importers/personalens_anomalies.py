"""What is wrong with a published PersonaLens: profiles, tasks and situations against each other,
against the lists they were made from, and against the paper.

    python -m builders.importers personalens --from PATH
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from builders.importers.personalens_items import REPEATED, on_menu
from builders.importers.staging import Stage
from schemas.tables import Row, term_ids, vocabulary

# What profiles say for the paper's "prefer not to say".
WITHHELD = "N/A"

_PLACEHOLDER = re.compile(r"\[[^\]]*\]")

_NAMED = 3  # ids that a message lists


def find_anomalies(staged: Stage, domains: Sequence[str]) -> None:
    """Note the anomalies of accepted rows; ``domains`` are those of the schema file."""
    _preferences(staged)
    for row_id, row in staged.rows["tasks"].items():
        _task(staged, row_id, row)
    for row_id, row in staged.rows["users"].items():
        _user(staged, row_id, row, domains)
    _run_of_users(staged)
    for row_id, row in staged.rows["situations"].items():
        _situation(staged, row_id, row)


def find_user_anomalies(staged: Stage, folder: str, row_id: str, held: Iterable[str]) -> None:
    """Note what is wrong between one user's profile and tasks; ``held`` are the ids of the user's situations."""
    user = staged.rows["users"].get(row_id)
    if user is None:
        return
    if user["user_id"] != folder:
        staged.find("user_id_differs", "users", row_id, "user_id", f"it lies in {folder}", user["user_id"])
    tasks, active = staged.rows["tasks"], {entry["domain"] for entry in user["interests"] if entry["active"]}
    due = {task_id for task_id, task in tasks.items() if active.issuperset(task["domains"])}
    given = {staged.rows["situations"][name]["task_id"]: name for name in held if name in staged.rows["situations"]}
    for task_id, name in given.items():
        if task_id in tasks and task_id not in due:
            off = ", ".join(sorted(set(tasks[task_id]["domains"]) - active))
            staged.find("task_masked", "situations", name, "task_id", f"{off} is switched off", task_id)
    for task_id in sorted(due - given.keys()):
        staged.find("task_absent", "users", row_id, None, f"no {task_id}, although its domains are on", task_id)


def _preferences(staged: Stage) -> None:
    known = {
        f"{domain['id']}/{preference['id']}": preference
        for domain in vocabulary("personalens_domains")
        for preference in domain["preferences"]
    }
    rows = staged.rows["preferences"]
    for row_id in sorted(known.keys() | rows.keys()):
        if row_id not in rows:
            staged.find("preference_differs", "preferences", row_id, None, "is in the vocabulary and not in the file")
        elif row_id not in known:
            staged.find("preference_differs", "preferences", row_id, None, "is in the file and not in the vocabulary")
        else:
            _preference(staged, row_id, rows[row_id], known[row_id]["categorical"], known[row_id])
    for row_id, row in rows.items():
        for value in _repeated(row["possible_values"]):
            staged.find("possible_value_repeated", "preferences", row_id, "possible_values", "is listed twice", value)


def _preference(staged: Stage, row_id: str, row: Row, categorical: bool, known: Row) -> None:
    for field in ("categorical", "multiple"):
        if row[field] != known[field]:
            message = f"{row[field]} here, {known[field]} in the vocabulary"
            staged.find("preference_differs", "preferences", row_id, field, message, str(row[field]))
    possible = len(set(row["possible_values"]))
    if categorical and possible != known["possible"]:
        message = f"{possible} different values here, {known['possible']} in the vocabulary"
        staged.find("preference_differs", "preferences", row_id, "possible_values", message, str(possible))


def _task(staged: Stage, row_id: str, row: Row) -> None:
    listed = staged.rows["preferences"]
    for position, preference in enumerate(row["preferences"]):
        name, resolved = preference["name"], preference["resolved"]
        if any(entry["preference"] == name for entry in resolved):
            continue
        if resolved:
            meant = ", ".join(f"{entry['preference']} of {entry['domain']}" for entry in resolved)
            message = f"{name} is taken for {meant}"
        else:
            others = ", ".join(r["domain"] for r in listed.values() if r["preference"] == name)
            message = f"{name} belongs to no domain of the task" + (f", only to {others}" if others else "")
        staged.find("preference_unlisted", "tasks", row_id, f"preferences.{position}", message, name)


def _user(staged: Stage, row_id: str, row: Row, domains: Sequence[str]) -> None:
    for entry in row["published"]:
        field, _, domain = entry["field"].partition(".")
        if domain:
            staged.find("stray_key", "users", row_id, field, f"published as {entry['value']}", entry["value"])
    off = {entry["domain"] for entry in row["interests"] if not entry["active"]}
    for field in ("interests", "affinities", "interactions"):
        has = {entry["domain"] for entry in row[field]} | (off if field != "interests" else set())
        for domain in domains:
            if domain not in has:
                staged.find("domain_absent", "users", row_id, field, f"without {domain}", domain)
    if kept := off & {entry["domain"] for field in ("affinities", "interactions") for entry in row[field]}:
        message = f"{len(kept)} of {len(off)} domains that are off are kept: {', '.join(sorted(kept))}"
        staged.find("mask_not_applied", "users", row_id, "affinities", message)
    for field, value in row["demographics"].items():
        if value == WITHHELD:
            staged.find("answer_withheld", "users", row_id, f"demographics.{field}", f"{value} for no answer", value)
    _affinities(staged, row_id, row)


def _affinities(staged: Stage, row_id: str, row: Row) -> None:
    listed = staged.rows["preferences"]
    named = {f"{entry['domain']}/{entry['preference']}" for entry in row["affinities"]}
    present = {entry["domain"] for entry in row["affinities"]}
    for name, preference in listed.items():
        if name not in named and preference["domain"] in present:
            staged.find("preference_absent", "users", row_id, "affinities", f"without {name}", name)
    for entry in row["affinities"]:
        name, values = f"{entry['domain']}/{entry['preference']}", entry["values"]
        field = f"affinities.{name.replace('/', '.')}"
        for value in _repeated(values):
            staged.find("value_repeated", "users", row_id, field, "is named twice", value)
        if not values:
            staged.find("empty_list", "users", row_id, field, "no value")
        if name not in listed:
            staged.find("preference_unknown", "users", row_id, field, f"{entry['domain']} lists no such type", name)
        else:
            _values(staged, row_id, field, entry, listed[name])


def _values(staged: Stage, row_id: str, field: str, entry: Row, preference: Row) -> None:
    if entry["multiple"] != preference["multiple"]:
        message = "a list for one value" if entry["multiple"] else "one value for a list"
        staged.find("multiplicity_differs", "users", row_id, field, message)
    if not preference["categorical"]:
        return
    possible = preference["possible_values"]
    for value in entry["values"]:
        if value not in possible:
            twin = next((known for known in possible if known.casefold() == value.casefold()), None)
            if twin is None:
                staged.find("value_outside", "users", row_id, field, f"{value} is not offered", value)
            else:
                staged.find("value_spelling", "users", row_id, field, f"{value} is offered as {twin}", value)


def _run_of_users(staged: Stage) -> None:
    numbers = {int(row["user_id"].removeprefix("user")) for row in staged.rows["users"].values()}
    numbers |= {
        int(record["row_id"].removeprefix("user"))
        for record in staged.rejected["users"]
        if re.fullmatch("user[0-9]+", record["row_id"])
    }
    if numbers and (missing := max(numbers) - min(numbers) + 1 - len(numbers)):
        gaps = (number for number in range(min(numbers), max(numbers)) if number not in numbers)
        first = [f"user{number}" for number, _ in zip(gaps, range(_NAMED), strict=False)]
        message = f"{missing} missing between user{min(numbers)} and user{max(numbers)}: {', '.join(first)}"
        message += ", …" if missing > _NAMED else ""
        staged.find("user_absent", "users", first[0], "user_id", message)


def _situation(staged: Stage, row_id: str, row: Row) -> None:
    if row["published"]:
        _changes(staged, row_id, row)
    for variable in _variables():
        if on_menu(variable, row[variable])[1] == "off":
            message = f"{row[variable]} is on no menu of {variable}"
            staged.find("off_menu", "situations", row_id, variable, message, row[variable])
    if "[" in row["location"] and (found := _PLACEHOLDER.search(row["location"])):
        staged.find("placeholder", "situations", row_id, "location", f"{found[0]} is no place", row["location"])
    if row["task_id"] not in staged.rows["tasks"]:
        staged.find("task_unknown", "situations", row_id, "task_id", "no task file has it", row["task_id"])


def _changes(staged: Stage, row_id: str, row: Row) -> None:
    """What the ``published`` list of a situation says."""
    known = row["task_id"] in staged.rows["tasks"]
    for entry in row["published"]:
        field = entry["field"]
        if field in _variables():
            message = f"{entry['value']} is {row[field]} on the menu"
            staged.find("menu_spelling", "situations", row_id, field, message, entry["value"])
        elif field in REPEATED and known:
            staged.find("task_text_differs", "situations", row_id, field, f"{field} is not the task's", entry["value"])


@functools.cache
def _variables() -> tuple[str, ...]:
    return term_ids("personalens_menus")


def _repeated(values: Sequence[str]) -> list[str]:
    return (
        sorted(value for value, times in Counter(values).items() if times > 1) if len(set(values)) < len(values) else []
    )
