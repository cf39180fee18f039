"""``zenodo.json``: the metadata of a deposit at Zenodo, in the form that its REST API takes.

A DOI is reserved first, given to ``freeze --doi``, and is then on card, citation and deposit alike.
"""

from __future__ import annotations

from typing import Any

import orjson

from releases.cards.texts import Texts
from releases.manifest import Manifest


def zenodo(manifest: Manifest, said: Texts) -> bytes:
    """The document: ``{"metadata": …}``."""
    metadata: dict[str, Any] = {
        "upload_type": "dataset",
        "title": f"{said['citation']['title']} {manifest['version']}",
        "creators": [{"name": name} for name in said["authors"]],
        "description": " ".join(said["summary"].split()),
        "version": manifest["version"],
        "license": manifest["license"],
        "language": "eng" if list(said["language"]) == ["en"] else said["language"][0],
        "keywords": list(said["tags"]),
        "access_right": "open",
        "notes": f"content sha256:{manifest['content_digest']}",
    }
    if manifest["doi"]:
        metadata["doi"] = manifest["doi"]
    if manifest["released"]:
        metadata["publication_date"] = manifest["released"]
    if said["homepage"]:
        metadata["related_identifiers"] = [
            {"identifier": said["homepage"], "relation": "isDocumentedBy", "scheme": "url"}
        ]
    return orjson.dumps({"metadata": metadata}, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
