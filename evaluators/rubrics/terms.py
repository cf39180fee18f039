"""Scores of a rubric from a vocabulary whose terms say what each asks and what its levels mean.

A vocabulary that is frozen as a table of a release too (``rubrics`` of LikeBench) has its wording in one place.
A term has ``text``, ``levels`` (score and text), and ``not_applicable`` with ``always``: true where it always applies.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from schemas.errors import RequestError, unknown
from schemas.records import vocabulary, vocabulary_names

_NEEDED = ("text", "levels", "not_applicable")


def scores_of(name: str, path: Path) -> list[dict[str, Any]]:
    """The ``[[scores]]`` that the terms of a vocabulary come to. Raises RequestError for one that has no such terms."""
    if name not in vocabulary_names():
        raise unknown("vocabulary", name, vocabulary_names(), f"{path}, terms")
    return [_score(term, name, path) for term in vocabulary(name)]


def digest_of(content: bytes, name: str | None) -> str:
    """The SHA-256 of a rubric's file, and of the terms that it names."""
    found = hashlib.sha256(content)
    if name is not None:
        found.update(orjson.dumps([dict(term) for term in vocabulary(name)]))
    return found.hexdigest()


def _score(term: Mapping[str, Any], name: str, path: Path) -> dict[str, Any]:
    missing = [key for key in _NEEDED if key not in term]
    if missing:
        raise RequestError(
            f"vocabulary {name} for a rubric", path, field="terms",
            expected=f"terms with {', '.join(_NEEDED)}; {term['id']} has no {missing[0]}",
            fix="Name another vocabulary, or write [[scores]]",
        )  # fmt: skip
    made = {
        "name": term["id"],
        "asks": term["text"],
        "levels": {str(level["score"]): level["text"] for level in term["levels"]},
        "aliases": list(term.get("aliases", ())),
    }
    return made if term.get("always") else {**made, "not_applicable": term["not_applicable"]}
