"""Items as Label Studio tasks with their labelling configuration, and answers read from its JSON export.

One project a person: tasks are that person's, in that person's order, and carry the code name, so that it
does not matter under which account they were answered. The configurations are ``forms/*.xml``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import orjson

from schemas.errors import RequestError
from schemas.records import vocabulary
from schemas.rows import write_whole
from validators.review.answers import FIELDS, Answer, Role
from validators.review.items import Item, Kind

NAMES = ("kind", "item", "digest", "annotator", "seal")
"""What a task holds beside what is shown."""

_FORMS = Path(__file__).parent / "forms"


def configuration(kind: Kind, role: Role) -> str:
    """The labelling configuration; reasons come from their vocabulary."""
    name = "arbitration" if role == "arbitrator" else kind
    reasons = "".join(
        f"<Choice alias={quoteattr(term['id'])} value={quoteattr(term['label'])}/>"
        for term in vocabulary("review_reasons")
    )
    return (_FORMS / f"{name}.xml").read_text("utf-8").replace("<!-- reasons -->", reasons)


def data(item: Item, person: str, swapped: bool, seal: str = "") -> dict[str, str]:
    """What a task holds: names, and what is shown. Nothing of ids, characters, expected scores."""
    first, second = item.text, item.other_text or ""
    if swapped:
        first, second = second, first
    names = {"kind": item.kind, "item": item.name, "digest": item.digest, "annotator": person, "seal": seal}
    return {**names, **item.shown, "text": first, **({"other_text": second} if item.other_text else {})}


def write_tasks(path: Path, tasks: Iterable[dict[str, str]]) -> None:
    """Write tasks for import into a project."""
    content = orjson.dumps([{"data": task} for task in tasks], option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    write_whole(path, [content])


def read_export(path: Path) -> list[Answer]:
    """The answers of a full JSON export, in order; tasks without an annotation are left out.

    Raises RequestError for a file that is missing, no JSON, or no export of tasks that we made.
    """
    try:
        tasks = orjson.loads(path.read_bytes())
    except FileNotFoundError:
        raise RequestError("missing file", path, fix="Check the path") from None
    except orjson.JSONDecodeError as error:
        raise RequestError("malformed JSON", path, expected=str(error), fix="Export the project again") from None
    if not isinstance(tasks, list):
        raise RequestError("no export", path, expected="a list of tasks", fix="Export the project as JSON")
    try:
        return [found for number, task in enumerate(tasks, 1) for found in _answers(task, f"{path}, task {number}")]
    except (KeyError, TypeError, AttributeError, IndexError):
        fix = "Export the project as JSON (not JSON-MIN), with the tasks that were imported"
        raise RequestError("no export of these tasks", path, expected="data and annotations", fix=fix) from None


def _answers(task: dict[str, Any], where: str) -> Iterator[Answer]:
    data = task["data"]
    for annotation in task["annotations"]:
        kind, item, digest, annotator = (str(data[name]) for name in ("kind", "item", "digest", "annotator"))
        given, cancelled = _given(annotation["result"]), bool(annotation.get("was_cancelled"))
        shown = {name: str(value) for name, value in data.items() if name not in NAMES}
        yield Answer(where, kind, item, digest, annotator, given, cancelled, str(data.get("seal", "")), shown)


def _given(results: list[dict[str, Any]]) -> dict[str, str]:
    known = {field for fields in FIELDS.values() for field in fields}
    given = {}
    for result in results:
        value = result["value"]
        if result["from_name"] not in known:
            continue
        if result["type"] == "rating":
            given[result["from_name"]] = str(value["rating"])
        else:
            parts = [str(part).strip() for part in value["choices" if result["type"] == "choices" else "text"]]
            if text := "\n".join(part for part in parts if part):
                given[result["from_name"]] = text
    return given
