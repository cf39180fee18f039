"""Profiles written from what was drawn: one chain a profile, answered by a model or composed offline.

LikeBench 4.2, Figure 2. A social profile is asked for its interests first; an anti-social one has them imposed.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from builders.offline.sessions.tiers import compose_tiers
from builders.pipeline.provenance import built
from builders.profiles.draw import draw_by_affinity, facet_values, names, subjects
from builders.profiles.requests import interests_request, problem, tiers_request
from models.remedies import Failure, ask, failure
from models.request import Chain
from schemas.randomness import rng_for
from schemas.records import record_schema, vocabulary
from schemas.tables import Row


def written(benchmark: str, drawn: Row, seed: int, backend: str) -> Chain[Row | Failure]:
    """The whole row of a drawn profile, or what a model failed to answer."""
    if drawn["subjects"] is None:
        asked = interests_request(benchmark, drawn, functools.partial(_interests, benchmark, drawn, seed))
        reply = yield from ask(asked)
        if reply.status != "answered":
            return failure(asked, reply)
        drawn = {**drawn, "subjects": subjects(_leaves(reply.answer["interests"]))}
    request = tiers_request(benchmark, drawn, functools.partial(_tiers, benchmark, drawn, seed))
    reply = yield from ask(request, functools.partial(problem, drawn))
    if reply.status != "answered":
        return failure(request, reply)
    # What was drawn stands, whatever else an answer holds.
    row = {**reply.answer, **drawn, "provenance": built(request, reply, seed, backend)}
    return {column: row[column] for column in record_schema("profiles")["properties"]}


def _interests(benchmark: str, drawn: Row, seed: int) -> Row:
    rng = rng_for(seed, benchmark, "profiles", f"interests/{drawn['persona_id']}")
    return {"interests": [leaf["id"] for leaf in draw_by_affinity(rng, drawn["facets"])]}


def _tiers(benchmark: str, drawn: Row, seed: int) -> Row:
    rng = rng_for(seed, benchmark, "profiles", f"tiers/{drawn['persona_id']}")
    return compose_tiers(drawn, facet_values(drawn["facets"]), names(), rng)


def _leaves(ids: Sequence[str]) -> list[Mapping[str, Any]]:
    leaves = {leaf["id"]: leaf for leaf in vocabulary("interests")}
    return [leaves[each] for each in ids]
