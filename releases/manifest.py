"""The manifest: what lies in a release, byte for byte and row for row, and where it comes from.

Its form is ``manifest.schema.json``; it is written last, so a folder that has one is complete. It holds
two identities. ``content_digest`` covers what the tables say and nothing else: evaluations of the same
content can be compared, whatever was corrected on the card. ``digest`` covers the whole document, and
through the SHA-256 of each file every byte of the release; it is what a signature signs and what one
writes down to cite a release.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from releases.content import digest_of, release_digest

if TYPE_CHECKING:
    import jsonschema_rs

MANIFEST_VERSION = 4

# A manifest lists a few hundred files at most; more bytes than this are not read into memory.
MAX_BYTES = 16_000_000

Manifest = Mapping[str, Any]

_SCHEMA = Path(__file__).with_name("manifest.schema.json")


@dataclass(frozen=True, order=True)
class Problem:
    """One place where a release is not what its manifest says, or the manifest not what it must be."""

    place: str
    code: str
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.message} ({self.code})"


def sealed(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document with its two digests put in, at the place of any it had."""
    body = {key: value for key, value in document.items() if key != "digest"}
    body["content_digest"] = release_digest(body["tables"])
    return {**body, "digest": digest_of(body)}


def encode(manifest: Manifest) -> bytes:
    """The one way a manifest is written."""
    return orjson.dumps(manifest, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE)


def decode(data: bytes) -> tuple[Manifest | None, list[Problem]]:
    """A manifest from its bytes, and what is wrong with it; None when it cannot be used at all."""
    if len(data) > MAX_BYTES:
        return None, [_problem("", "malformed", f"more than {MAX_BYTES:,} bytes")]
    try:
        document = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        return None, [_problem("", "malformed", f"not JSON: {error}")]
    found = document.get("manifest_version") if isinstance(document, dict) else None
    if isinstance(found, int) and found > MANIFEST_VERSION:
        return None, [_problem("", "version", f"format {found} is newer than this code's {MANIFEST_VERSION}")]
    errors = [
        _problem("/".join(map(str, error.instance_path)), "malformed", error.message)
        for error in _validator().iter_errors(document)
    ]
    if errors:
        return None, sorted(errors)
    return document, [*_edited(document, data), *_inconsistent(document)]


def _edited(document: dict[str, Any], data: bytes) -> list[Problem]:
    fresh = sealed(document)
    problems = [
        _problem(field, "edited", f"is {document[field]}, the document gives {fresh[field]}")
        for field in ("content_digest", "digest")
        if document[field] != fresh[field]
    ]
    if not problems and encode(document) != data:
        problems.append(_problem("", "edited", "not in the form in which manifests are written"))
    return problems


def _inconsistent(document: dict[str, Any]) -> list[Problem]:
    problems = []
    owner: dict[str, str] = {}
    for name, table in document["tables"].items():
        total = sum(file["rows"] for file in table["files"])
        if total != table["rows"]:
            problems.append(_problem(f"tables/{name}", "rows", f"{table['rows']} rows, its files have {total}"))
        for file in table["files"]:
            if file["path"] not in document["files"]:
                problems.append(_problem(f"tables/{name}", "files", f"{file['path']} is not among the files"))
            if owner.setdefault(file["path"], name) != name:
                problems.append(_problem(f"tables/{name}", "files", f"{file['path']} is {owner[file['path']]}'s"))
    return problems


def _problem(place: str, kind: str, message: str) -> Problem:
    return Problem(f"manifest.json{'/' if place else ''}{place}", f"manifest.{kind}", message)


@functools.cache
def _validator() -> jsonschema_rs.Validator:
    import jsonschema_rs

    return jsonschema_rs.validator_for(orjson.loads(_SCHEMA.read_bytes()))
