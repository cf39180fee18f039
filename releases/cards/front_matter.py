"""The head of a release's README: what ``datasets`` and the hub read.

One configuration a table. The description of each names the content digest, because ``datasets``
keys its cache of a local folder by the folder's last name and this head alone: without it, two
releases in folders of the same name are taken for one another. Row counts are declared, so that a reader
which finds others stops. Columns are not: every Parquet file has them, and ``datasets`` reads this head
with a parser written in Python, so that they would make each first load half as long again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from releases.cards.texts import Texts
from releases.manifest import Manifest
from releases.parquet import SPLIT

_SIZES = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
_NAMES = ("1K", "10K", "100K", "1M", "10M")

# Written on one line, so that a reader of the raw file gets to the card.
_FLOW = {"language", "tags", "size_categories", "task_categories"}


def head(manifest: Manifest, said: Texts, sizes: Mapping[str, int]) -> str:
    """The YAML between the dashes; ``sizes`` are the bytes of each table's canonical rows."""
    # ``datasets`` cannot load a configuration without rows; an empty table is in the release all the same.
    every = {**manifest["tables"], **manifest.get("configs", {})}
    tables = {name: table for name, table in every.items() if table["rows"]}
    document = {
        "pretty_name": f"{manifest['title']} {manifest['version']}",
        "license": manifest["license"],
        "language": list(said["language"]),
        "size_categories": [_category(sum(table["rows"] for table in manifest["tables"].values()))],
        "task_categories": list(said["task_categories"]),
        "tags": list(said["tags"]),
        "configs": [_config(manifest, said, name) for name in tables],
        "dataset_info": [
            {
                "config_name": name,
                "splits": [{"name": SPLIT, "num_bytes": sizes[name], "num_examples": tables[name]["rows"]}],
                "dataset_size": sizes[name],
            }
            for name in tables
        ],
    }
    return "---\n" + "\n".join(_yaml(document)) + "\n---\n"


def _config(manifest: Manifest, said: Texts, name: str) -> dict[str, Any]:
    return {
        "config_name": name,
        **({"default": True} if name == said["default_table"] else {}),
        "version": manifest["version"],
        "description": f"content-sha256={manifest['content_digest']}",
        "data_files": [{"split": SPLIT, "path": f"{name}/{SPLIT}-*.parquet"}],
    }


def _category(rows: int) -> str:
    for bound, (size, name) in enumerate(zip(_SIZES, _NAMES, strict=True)):
        if rows < size:
            return f"n<{name}" if bound == 0 else f"{_NAMES[bound - 1]}<n<{name}"
    return f"n>{_NAMES[-1]}"


def _yaml(node: Any, indent: str = "") -> Iterator[str]:
    """Block style for what has parts, JSON (which YAML contains) for what has none."""
    if isinstance(node, dict):
        for key, value in node.items():
            if isinstance(value, dict | list) and value and key not in _FLOW:
                yield f"{indent}{key}:"
                yield from _yaml(value, indent if isinstance(value, list) else indent + "  ")
            else:
                yield f"{indent}{key}: {orjson.dumps(value).decode()}"
        return
    for item in node:
        if isinstance(item, dict):
            first, *rest = _yaml(item, indent + "  ")
            yield f"{indent}- {first.strip()}"
            yield from rest
        else:
            yield f"{indent}- {orjson.dumps(item).decode()}"
