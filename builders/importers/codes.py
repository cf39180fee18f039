"""The codes of findings that an import makes: severity, meaning and source, from ``codes.toml``.

They are public API: stable within a major version.
"""

from __future__ import annotations

import functools
import tomllib
from dataclasses import dataclass
from pathlib import Path

from schemas.findings import Severity

FAMILY = "published."


@dataclass(frozen=True)
class Code:
    """What a code says: ``meaning`` for people, ``source`` the section or data that sets the expectation."""

    code: str
    severity: Severity
    meaning: str
    source: str


@functools.cache
def codes() -> dict[str, Code]:
    """All codes of the importers, by code."""
    text = tomllib.loads((Path(__file__).parent / "codes.toml").read_text("utf-8"))
    return {FAMILY + kind: Code(FAMILY + kind, **settings) for kind, settings in text.items()}


def code(name: str) -> Code:
    """A code by its full name. Raises KeyError for one that ``codes.toml`` does not have."""
    return codes()[name]


def meaning(name: str) -> str:
    """What a code means, for summaries; codes of failed record schemas are explained as one."""
    return codes()[name].meaning if name in codes() else "a row does not fit its record schema; kept in rejected/"
