"""Where a built row comes from: the struct every table carries in its column ``provenance``."""

from __future__ import annotations

from models.request import Reply, Request
from schemas.tables import Row


def built(request: Request, reply: Reply, seed: int, backend: str) -> Row:
    """The provenance of a row as first written; prompt and model are null offline, where neither was used."""
    offline = backend == "offline"
    return {
        "origin": "built",
        "backend": backend,
        "model": reply.model,
        "prompt": None if offline else request.prompt_id,
        "prompt_digest": None if offline else request.prompt_digest,
        "seed": seed,
        "revision": 0,
        "repairs": [],
    }


def computed(seed: int) -> Row:
    """The provenance of a row that follows from other rows without anything being written."""
    return {
        "origin": "built",
        "backend": None,
        "model": None,
        "prompt": None,
        "prompt_digest": None,
        "seed": seed,
        "revision": 0,
        "repairs": [],
    }
