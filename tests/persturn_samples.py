"""Built rows of a few raters, and the published layout of PersTurnBench written from them."""

import functools

from builders.conversations.plan import planned_conversations
from builders.conversations.step import of_rater, rating_rows
from builders.pipeline.streams import Streams
from builders.raters.parameters import scale_of
from builders.raters.step import rater_rows
from models.offline import drive
from schemas.tables import vocabulary

FOLDERS = {term["id"]: term["published"] for term in vocabulary("planning_tasks")}
REASONS = {term["id"]: term["published"] for term in vocabulary("dissatisfaction_reasons")}
PROFILE = (
    "age", "occupation", "background", "personality", "daily_interests", "travel_habits", "dining_preferences",
    "spending_habits", "other_aspects",
)  # fmt: skip


@functools.cache
def built_rows(raters: int = 6, seed: int = 7) -> dict[str, list[dict]]:
    """Raters, conversations and ratings as the builder makes them offline."""
    streams = Streams(seed, "persturn")
    rows = {"raters": rater_rows(raters, streams), "conversations": [], "ratings": []}
    planned = list(planned_conversations({r["rater_id"]: scale_of(r["planted"]) for r in rows["raters"]}, streams))
    for rater in rows["raters"]:
        own = [each for each in planned if each.rater_id == rater["rater_id"]]
        conversations, failures = drive(of_rater(rater, own, streams, "offline"))
        assert not failures
        rows["conversations"] += conversations
        rows["ratings"] += rating_rows(own, seed)
    return rows


def published_documents(rows) -> dict[str, dict]:
    """The files ``data/<user>/<task>/<n>.json`` of built rows."""
    raters = {row["rater_id"]: row for row in rows["raters"]}
    ratings = {row["sample_id"]: row for row in rows["ratings"]}
    documents = {}
    for row in rows["conversations"]:
        history, turn = [], 0
        for message in row["messages"]:
            entry = dict(message)
            if message["role"] == "assistant":
                rated = ratings[f"{row['conversation_id']}.json__turn_{turn}"]
                entry["satisfaction"] = rated["score"]
                if rated["score"] <= 3:
                    entry["reason"] = REASONS[rated["reason"]]
                turn += 1
            history.append(entry)
        rater = raters[row["rater_id"]]
        profile = {"gender": rater["gender"].title(), **{field: rater[field] for field in PROFILE}}
        name = f"data/{row['rater_id']}/{FOLDERS[row['task']]}/{row['number']}.json"
        documents[name] = {
            "history": history, "profile": profile, "task_context": row["task_context"], "chat_model": row["chat_model"]
        }  # fmt: skip
    return documents
