"""Situations: where, when and on what a user has each of their tasks.

PersonaLens 2.2 and appendix A.2, Figure 11. A user has a task exactly when all its domains are on. The published
situations are a model's choice: 71 % on Saturday, 78 % in the evening, 95 % in quiet. Here every value of a field
that the task allows is equally likely, so that what a model does in the morning, in noise or on a watch can be told
from chance: evenness of each field is above .9 unless tasks bind it.

    python -m builders.situations --benchmark personalens
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from builders.pipeline.command import StepCommand
from builders.pipeline.provenance import computed
from builders.pipeline.run import Done, Run
from builders.pipeline.staleness import inputs_digest, write_if_stale
from builders.pipeline.streams import Streams
from builders.tasks import Task, load_tasks
from builders.users.people import places
from schemas.records import vocabulary
from schemas.tables import Row

READS = ("users", "tasks")
MAKES = ("situations",)

_OPEN_AIR = ("Smartphone", "Smartwatch", "Tablet")
_SPOTS = ("at home", "at a friend's home", "in a café", "in a library", "on a train", "in a park", "in a waiting room")
_OUTDOORS = frozenset({"on a train", "in a park", "in a waiting room"})


def menus() -> dict[str, tuple[str, ...]]:
    """The values of each field of a situation but the location."""
    return {term["id"]: tuple(term["values"]) for term in vocabulary("personalens_menus")}


def situations_of(user: Row, tasks: Sequence[Task], streams: Streams) -> Iterator[Row]:
    """A row for each task whose domains are all on for a user."""
    active = {entry["domain"] for entry in user["interests"] if entry["active"]}
    fields = menus()
    cities = places()["countries"][user["demographics"]["reside_country"]]["cities"]
    rng = streams.rng("situations", user["user_id"])
    city = rng.choice(cities)
    provenance, published = computed(streams.seed), list[Row]()  # one of each for all rows: there may be a million
    for task in tasks:
        drawn = _drawn(task, fields, rng)
        if active.issuperset(task.row["domains"]):
            spot = rng.choice([each for each in _SPOTS if each not in _OUTDOORS or drawn["device"] in _OPEN_AIR])
            yield {
                "user_id": user["user_id"],
                "task_id": task.row["task_id"],
                "location": f"{spot}, {city}",
                **drawn,
                "published": published,
                "provenance": provenance,
            }


def _drawn(task: Task, fields: dict[str, tuple[str, ...]], rng: Random) -> dict[str, str]:
    bound = {"time_of_day": task.times, "device": task.devices}
    return {field: rng.choice(bound.get(field) or values) for field, values in fields.items()}


def build(run: Run) -> Done:
    """Bring the situations up to date."""
    digest = inputs_digest(run.space, READS, seed=run.seed)

    def make() -> list[Row]:
        tasks = load_tasks()
        return [row for user in run.space.rows("users") for row in situations_of(user, tasks, run.streams)]

    return Done([write_if_stale(run.space, "situations", digest, make, run.fresh)])


def main(argv: Sequence[str] | None = None) -> int:
    """Write situations; see ``--help``."""
    return StepCommand(
        "situations",
        "Give every user a situation for each task whose domains are on for them.",
        "python -m builders.situations --benchmark personalens",
        build,
        asks=False,
    ).main(argv)


if __name__ == "__main__":
    raise SystemExit(main())
