"""PersTurnBench as its authors publish it <-> workspace tables.

``data/<user>/<task>/<n>.json``, task folders with Chinese names; every file is a conversation with its ratings. The
data are the authors': they stay in the workspace. Files without ``history`` hold no conversation and are only noted.

    python -m builders.importers persturn --from PATH
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import orjson

from builders.importers import persturn_items as items
from builders.importers.archives import Layout, Published
from builders.importers.documents import parse, same
from builders.importers.staging import FILES, Stage, Tables, where
from schemas.errors import RequestError, unknown

BENCHMARK = "persturn-published"

LAYOUT = Layout(
    "PersTurnBench",
    re.compile(r"data/[A-Za-z][A-Za-z0-9]*(?:_[0-9]{1,6})?/[^/]+/[0-9]{1,4}\.json"),
    ("data/User_0/旅行规划/0.json", "data/User_0/礼物准备/0.json"),
)

_PARTS = ("profile", "history", *items.CONVERSATION_FIELDS)


def stage(published: Published) -> Stage:
    """All rows and findings of a published PersTurnBench.

    Raises RequestError for a malformed file, a folder that is no task family, and a file of another shape.
    """
    staged = Stage(BENCHMARK)
    profiles: dict[str, Any] = {}
    tasks: dict[str, set[str]] = defaultdict(set)
    for name in sorted(published.files, key=_place):
        content = published.files.pop(name)
        document = parse(content, where(published, name))
        if not isinstance(document, dict):
            raise _other_shape(name, "an object")
        _, rater_id, folder, file = name.split("/")
        if folder not in items.folders():
            raise unknown("task folder", folder, items.folders(), where(published, name))
        if not isinstance(document.get("history"), list):
            staged.add_file(name, content, {"document": document})
            staged.find("no_conversation", FILES, name, "outline", "has no history")
            continue
        tasks[rater_id].add(items.folders()[folder])
        outline = _conversation(staged, name, document, rater_id, int(file.removesuffix(".json")))
        outline["profile"] = _profile(staged, name, document, rater_id, profiles)
        staged.add_file(name, content, outline)
    for rater_id, own in tasks.items():
        if len(own) < 2:
            message = f"has conversations in {', '.join(own)} alone: no target task has a history"
            staged.find("one_task_family", "raters", rater_id, None, message)
    return staged


def export(tables: Tables) -> Iterator[tuple[str, Any]]:
    """The published files again, by name."""
    for name, file in tables[FILES].items():
        outline = orjson.loads(file["outline"])
        if "document" in outline:
            yield name, outline["document"]
        elif outline["conversation"] in tables["conversations"]:
            yield name, _document(outline, tables)


def _document(outline: dict[str, Any], tables: Tables) -> dict[str, Any]:
    made = items.conversation_item(tables["conversations"][outline["conversation"]])
    ratings, history = iter(outline["ratings"]), []
    for message in made["history"]:
        rating = next(ratings) if isinstance(message, dict) and message.get("role") == "assistant" else None
        row = tables["ratings"].get(rating) if rating else None
        history.append({**message, **items.rating_item(row)} if row else message)
    profile = outline["profile"]
    known = tables["raters"].get(profile["rater_id"]) if profile.get("rater_id") else None
    shown = {"profile": items.rater_item(known)} if known else profile.get("published", {})
    return {**made, "history": history, **shown, **outline["rest"]}


def _conversation(staged: Stage, name: str, document: dict[str, Any], rater_id: str, number: int) -> dict[str, Any]:
    """Stage a conversation and its ratings; what the file's outline says of them."""
    task = items.folders()[name.split("/")[2]]
    history, marks = [], []
    for message in document["history"]:
        spoken = isinstance(message, dict) and message.get("role") == "assistant"
        kept = {key: message[key] for key in ("role", "content") if key in message} if spoken else message
        history.append(kept)
        if spoken:
            marks.append({key: value for key, value in message.items() if key not in ("role", "content")})
    item = {**{key: document[key] for key in items.CONVERSATION_FIELDS if key in document}, "history": history}
    row = items.conversation_row(item, rater_id, task, number)
    row_id = staged.add({"conversations": row}, name, item, items.conversation_item)
    ratings = [_rating(staged, name, mark, row, turn) for turn, mark in enumerate(marks)]
    rest = {key: value for key, value in document.items() if key not in _PARTS}
    return {"conversation": row_id, "ratings": ratings, "rest": rest}


def _rating(staged: Stage, name: str, item: dict[str, Any], conversation: dict[str, Any], turn: int) -> str | None:
    place = f"{conversation['conversation_id']}.json__turn_{turn}"
    if "satisfaction" not in item:
        staged.find("turn_unrated", "conversations", conversation["conversation_id"], "messages", f"turn {turn}", place)
        return None
    row_id = staged.add({"ratings": items.rating_row(item, conversation, turn)}, name, item, items.rating_item)
    score, reason = item["satisfaction"], item.get("reason")
    if row_id in staged.rows["ratings"] and not items.is_valid_pair(score, reason):
        message = f"{reason if reason is not None else 'no reason'} for a score of {score}"
        staged.find("reason_normalised", "ratings", row_id, "reason", message, None if reason is None else str(reason))
    return row_id


def _profile(
    staged: Stage, name: str, document: dict[str, Any], rater_id: str, profiles: dict[str, Any]
) -> dict[str, Any]:
    """Stage the profile of a rater's first file; a later one that differs stays in the file's outline."""
    if "profile" not in document:
        staged.find("profile_absent", FILES, name, "outline", "has no profile")
        return {}
    profile = document["profile"]
    if rater_id not in profiles:
        profiles[rater_id] = profile
        staged.add({"raters": items.rater_row(profile, rater_id)}, name, profile, items.rater_item)
        if isinstance(profile, dict) and not items.known_gender(profile.get("gender", "Male")):
            staged.find("gender_other", "raters", rater_id, "gender", f"{profile['gender']!r} is taken for male")
    if same(profile, profiles[rater_id]) and rater_id in staged.rows["raters"]:
        return {"rater_id": rater_id}
    if not same(profile, profiles[rater_id]):
        staged.find("profile_differs", "raters", rater_id, None, f"another profile in {name}")
    return {"published": {"profile": profile}}


def _place(name: str) -> tuple[str, str, int]:
    _, rater_id, folder, file = name.split("/")
    return rater_id, folder, int(file.removesuffix(".json"))


def _other_shape(name: str, expected: str) -> RequestError:
    return RequestError(
        "a file of another shape", name, expected=expected, fix="Give PersTurnBench as its authors publish it"
    )
