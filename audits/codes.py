"""The catalogue of finding codes, and ``docs/codes.md`` made from it."""

from __future__ import annotations

from collections.abc import Collection

from audits.criteria import criteria
from schemas.errors import unknown

_COMPUTED = {
    "memories": (
        *("length.short", "length.long", "fields.inverted", "fields.target", "duplicate.semantic", "age.register"),
        *(f"continuity.{kind}" for kind in ("early", "late", "dead", "unknown", "unlisted", "invented")),
        *(f"format.{kind}" for kind in ("missing", "type", "empty", "control", "surrogate", "residue", "id", "range")),
        *(f"format.{kind}" for kind in ("timeline", "stage", "count", "sentences", "script", "repeated")),
        "rubin.dialogue",
    ),
}


def codes(table: str) -> tuple[str, ...]:
    """The codes that audits of a table raise."""
    return tuple(sorted({*_COMPUTED.get(table, ()), *(c.code for c in criteria().values() if c.table == table)}))


def select(table: str, only: Collection[str] | None) -> frozenset[str]:
    """The codes wanted: all, or those named singly or by family. Raises RequestError for an unknown one."""
    known = codes(table)
    if only is None:
        return frozenset(known)
    wanted: set[str] = set()
    for name in only:
        named = {code for code in known if name in (code, code.split(".")[0])}
        if not named:
            raise unknown("finding code", name, known, f"audits of {table}")
        wanted |= named
    return frozenset(wanted)
