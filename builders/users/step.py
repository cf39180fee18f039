"""Users: who they are, which domains are on for them, what they prefer, what was done before.

PersonaLens 2.1. The profile is whole in every domain; the mask ``interests`` says in which a user has tasks.
Users do not depend on each other, so a larger ``--users`` keeps the first ones as they are.

    python -m builders.users --benchmark personalens --users 1500
"""

from __future__ import annotations

from collections.abc import Sequence

from builders.pipeline.command import COUNT, StepCommand
from builders.pipeline.provenance import computed
from builders.pipeline.run import Done, Option, Run
from builders.pipeline.staleness import inputs_digest, write_if_stale
from builders.pipeline.streams import Streams
from builders.users.affinities import affinity_rows, draw_affinities, draw_interests, interaction_rows
from builders.users.catalogue import types
from builders.users.people import draw_person
from schemas.tables import Row

MAKES = ("preferences", "users")
USERS = Option("--users", "how many users", 1500, COUNT, metavar="N")
OPTIONS = (USERS,)


def preference_rows(seed: int) -> list[Row]:
    """The catalogue as rows of ``preferences``."""
    return [
        {
            "domain": each.domain,
            "preference": each.name,
            "description": each.what,
            "categorical": not each.open and each.by is None,
            "multiple": each.many > 1,
            "possible_values": list(each.values),
            "published": [],
            "provenance": computed(seed),
        }
        for each in types()
    ]


def user_row(streams: Streams, number: int) -> Row:
    """One user, by their number alone."""
    user_id = f"user{number}"
    rng = streams.rng("users", user_id)
    person = draw_person(rng)
    chosen = draw_affinities(person, rng)
    return {
        "user_id": user_id,
        "demographics": dict(person.demographics),
        "interests": draw_interests(person, rng),
        "affinities": affinity_rows(chosen),
        "interactions": interaction_rows(chosen, rng),
        "published": [],
        "provenance": computed(streams.seed),
    }


def build(run: Run) -> Done:
    """Bring the catalogue and the users up to date."""
    count = USERS.of(run)
    shared = inputs_digest(run.space, (), seed=run.seed)
    digest = inputs_digest(run.space, (), seed=run.seed, users=count)
    return Done(
        [
            write_if_stale(run.space, "preferences", shared, lambda: preference_rows(run.seed), run.fresh),
            write_if_stale(
                run.space, "users", digest, lambda: [user_row(run.streams, n) for n in range(count)], run.fresh
            ),
        ]
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Write users; see ``--help``."""
    return StepCommand(
        "users",
        "Draw users: demographics, preferences in every domain, past interactions, and which domains are on.",
        "python -m builders.users --benchmark personalens --users 1500",
        build,
        OPTIONS,
        asks=False,
    ).main(argv)


if __name__ == "__main__":
    raise SystemExit(main())
