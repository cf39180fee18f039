"""Anchors once found, kept beside the byte code: finding those of all patterns takes seconds, reading them does not.

A file a criterion, in the ``__pycache__`` of ``patterns``, held to the expressions and to the code that took them
apart. Like byte code it is no more than a copy: it is written where it can be, not where
``PYTHONDONTWRITEBYTECODE`` is set, and may be deleted at any time.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import inspect
import sys
from collections.abc import Callable, Sequence
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any

import orjson

from audits.patterns import anchors, runs
from audits.patterns.runs import Anchors
from schemas.rows import write_whole

FOLDER = Path(__file__).parent


def kept(code: str, expressions: Sequence[str], find: Callable[[], list[Anchors]]) -> list[Anchors]:
    """The anchors of a criterion's expressions, from its file or else from ``find``."""
    path = _path(code)
    key = hashlib.sha256("\n".join((_program(), *expressions)).encode("utf-8", "surrogatepass")).hexdigest()
    known = _read(path)
    if known is None or known.get("key") != key:
        known = {"key": key, "anchors": find()}
        if not sys.dont_write_bytecode:
            _write(path, known)
    return [{text: (least, most) for text, (least, most) in each.items()} for each in known["anchors"]]


def _path(code: str) -> Path:
    return Path(cache_from_source(str(FOLDER / f"{code}.py"))).with_suffix(".anchors")


def _read(path: Path) -> dict[str, Any] | None:
    try:
        known: dict[str, Any] = orjson.loads(path.read_bytes())
    except (OSError, orjson.JSONDecodeError):
        return None
    return known


def _write(path: Path, known: dict[str, Any]) -> None:
    # Where the package may not be written to, as in many an installation, they are found again each time.
    with contextlib.suppress(OSError):
        write_whole(path, [orjson.dumps(known)])


@functools.cache
def _program() -> str:
    """What takes expressions apart: our code and the parser of this Python."""
    return "\n".join([sys.version, *(inspect.getsource(module) for module in (anchors, runs))])
