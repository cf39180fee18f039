"""PersonaLens as its authors publish it <-> workspace tables.

``res/schema.json`` lists domains and preference types, ``data/task/<Domain>/task.jsonl`` the tasks,
and ``data/profile/<user>/`` holds a profile and the user's tasks, single- and multi-domain, each
with its situation. The data are CC-BY-NC: they stay in the workspace.

    python -m builders.importers personalens --from PATH
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import orjson

from builders.importers import personalens_items as items
from builders.importers.archives import Layout, Published
from builders.importers.documents import parse, parse_lines
from builders.importers.personalens_anomalies import find_anomalies, find_user_anomalies
from builders.importers.staging import FILES, Stage, Tables, require, where
from schemas.errors import RequestError
from schemas.tables import Row

BENCHMARK = "personalens-published"

SCHEMA = "res/schema.json"
USER_FILES = ("profile.json", "tasks.json", "tasks_md.json")

LAYOUT = Layout(
    "PersonaLens",
    re.compile(
        r"res/schema\.json|data/task/[A-Za-z -]+/task\.jsonl|data/profile/user[0-9]+/(?:profile|tasks|tasks_md)\.json"
    ),
    (SCHEMA, "data/task/Books/task.jsonl", "data/profile/user0/profile.json"),
)


def stage(published: Published) -> Stage:
    """All rows and findings of a published PersonaLens.

    Raises RequestError for a missing or malformed file, a file of another shape, and a repeated id.
    The published files are let go one by one.
    """
    staged = Stage(BENCHMARK)
    require(published, (SCHEMA,))
    domains = _preferences(staged, published)
    listed = {domain: {row["preference"] for row in _rows(staged, domain)} for domain in domains}
    users = _users(published)
    require(published, [_task_file(folder) for folder in (*domains, items.MULTI_DOMAIN)])
    require(published, [f"data/profile/{user}/{name}" for user in users for name in USER_FILES])
    for name in sorted(name for name in published.files if name.startswith("data/task/")):
        _tasks(staged, published, name, listed)
    for user in users:
        _user(staged, published, user)
    find_anomalies(staged, domains)
    return staged


def export(tables: Tables) -> Iterator[tuple[str, Any]]:
    """The published files again, by name."""
    preferences, tasks = tables["preferences"], tables["tasks"]
    for name, file in tables[FILES].items():
        outline = orjson.loads(file["outline"])
        if name == SCHEMA:
            yield name, [_domain(entry, preferences) for entry in outline]
        elif name.startswith("data/task/"):
            yield name, [items.task_item(tasks[row_id]) for row_id in outline if row_id in tasks]
        elif name.endswith("/profile.json"):
            if outline in tables["users"]:
                yield name, items.user_item(tables["users"][outline])
        else:
            rows = {label: tables["situations"].get(row_id) for label, row_id in outline.items()}
            yield (
                name,
                {
                    label: items.situation_item(row, tasks.get(row["task_id"]))
                    for label, row in rows.items()
                    if row is not None
                },
            )


def _domain(entry: dict[str, Any], preferences: dict[str, Row]) -> dict[str, Any]:
    listed = [items.preference_item(preferences[row_id]) for row_id in entry["affinities"] if row_id in preferences]
    return {**entry, "affinities": listed}


def _take(published: Published, name: str) -> bytes:
    """The content of a file, which is let go."""
    return published.files.pop(name)


def _task_file(folder: str) -> str:
    return f"data/task/{folder}/task.jsonl"


def _users(published: Published) -> list[str]:
    """The users' folders, in order of number."""
    found = {name.split("/")[2] for name in published.files if name.startswith("data/profile/")}
    if not found:
        require(published, ("data/profile/user0/profile.json",))
    return sorted(found, key=lambda user: (int(user.removeprefix("user")), user))


def _preferences(staged: Stage, published: Published) -> list[str]:
    """Stage the preference types; the domains in order."""
    content = _take(published, SCHEMA)
    document = parse(content, where(published, SCHEMA))
    if not isinstance(document, list):
        raise _other_shape(SCHEMA, "a list of domains")
    outline, domains = [], []
    for entry in document:
        if not (isinstance(entry, dict) and isinstance(entry.get("domain"), str)):
            raise _other_shape(SCHEMA, "objects with a domain")
        if not isinstance(entry.get("affinities"), list):
            raise _other_shape(SCHEMA, f"a list of affinities for {entry['domain']}")
        row_ids = [
            staged.add(
                {"preferences": items.preference_row(item, entry["domain"])}, SCHEMA, item, items.preference_item
            )
            for item in entry["affinities"]
        ]
        outline.append({**entry, "affinities": row_ids})
        domains.append(entry["domain"])
    staged.add_file(SCHEMA, content, outline)
    return domains


def _rows(staged: Stage, domain: str) -> list[Row]:
    return [row for row in staged.rows["preferences"].values() if row["domain"] == domain]


def _tasks(staged: Stage, published: Published, name: str, listed: dict[str, set[str]]) -> None:
    content, folder = _take(published, name), name.split("/")[2]
    outline = [
        staged.add({"tasks": items.task_row(item, folder, listed)}, name, item, items.task_item)
        for item in parse_lines(content, where(published, name))
    ]
    staged.add_file(name, content, outline)


def _user(staged: Stage, published: Published, user: str) -> None:
    """Stage one user's profile and situations."""
    name, tasks = f"data/profile/{user}/profile.json", staged.rows["tasks"]
    content = _take(published, name)
    item = parse(content, where(published, name))
    row = items.user_row(item)
    row_id = staged.add({"users": row}, name, item, items.user_item)
    staged.add_file(name, content, row_id)
    held: list[str] = []
    for file in (f"data/profile/{user}/{kind}" for kind in USER_FILES[1:]):
        content = _take(published, file)
        document = parse(content, where(published, file))
        if not isinstance(document, dict):
            raise _other_shape(file, "an object of tasks")
        outline = {}
        for label, item in document.items():
            task = tasks.get(str(item.get("task_id"))) if isinstance(item, dict) else None
            row = items.situation_row(item, user, task)
            outline[label] = staged.add(
                {"situations": row}, file, item, lambda row, task=task: items.situation_item(row, task)
            )
        staged.add_file(file, content, outline)
        held += outline.values()
        if list(document) != [f"Task {number}" for number in range(1, len(document) + 1)]:
            staged.find(
                "task_label_differs", FILES, file, "outline", f"the labels begin {', '.join(list(document)[:3])}"
            )
    find_user_anomalies(staged, user, row_id, held)


def _other_shape(name: str, expected: str) -> RequestError:
    return RequestError(
        "a file of another shape", name, expected=expected, fix="Give PersonaLens as its authors publish it"
    )
