"""What changed between two releases, by row and by field, and what that does to scores.

python -m releases diff heart@1.0.0 heart@2.0.0
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from releases.checking.prompts import harmless_additions
from releases.comparing import Diff, TableDiff, diff
from releases.opening import Release, open_release
from releases.roles import TableRoles, roles_of_both
from releases.versioning import Effect, required
from schemas.command import DONE, FINDINGS, print_json, say
from schemas.release_names import add_frozen

HELP = "compare two releases"
EXAMPLE = "python -m releases diff heart@1.0.0 heart@2.0.0"

_SHOWN = 5  # row ids a readable summary names


def add_arguments(made: argparse.ArgumentParser) -> None:
    """The arguments of ``diff``."""
    made.add_argument("before", metavar="A", help="a release by name, or the path of its folder")
    made.add_argument("after", metavar="B", help="the other one")
    add_frozen(made)


def run(args: argparse.Namespace) -> int:
    """The verb."""
    before, after = open_release(args.before, args.frozen), open_release(args.after, args.frozen)
    found, roles = diff(before, after), roles_of_both(before, after)
    effect = Effect.of(found, before, after, roles)
    change = required(found, roles, harmless_additions(found, before, after, roles))
    if args.json:
        print_json(
            {
                "before": {"release": str(before.name), "content_digest": before.content_digest},
                "after": {"release": str(after.name), "content_digest": after.content_digest},
                "same": found.same,
                "change": change.level,
                "reasons": list(change.reasons),
                "evaluation": effect.as_dict(),
                "tables": {table.name: _document(table) for table in found.tables},
            }
        )
    elif not args.quiet:
        _print_summary(before, after, found, effect, roles)
        if not found.same:
            say(f"by the rules of versions this is a {change.level} change")
    return DONE if found.same else FINDINGS


def _document(table: TableDiff) -> dict[str, Any]:
    return {
        "rows": {"before": table.rows[0], "after": table.rows[1]},
        "added": table.added,
        "removed": table.removed,
        "changed": [{"row_id": row_id, "fields": fields} for row_id, fields in table.changed.items()],
        "changed_by_field": table.by_field(),
        "columns": {name: {"before": old, "after": new} for name, (old, new) in table.columns.items()},
        "rekeyed": table.rekeyed,
    }


def _print_summary(
    before: Release, after: Release, found: Diff, effect: Effect, roles: Mapping[str, TableRoles]
) -> None:
    say(f"{before.name} -> {after.name}: {'the same content' if found.same else 'content differs'}")
    for table in found.tables:
        if table.same:
            say(f"  {table.name}: same, {table.rows[0]:,} rows")
            continue
        counts = {"added": table.added, "removed": table.removed, "changed": list(table.changed)}
        say(f"  {table.name}: " + ", ".join(f"{len(ids):,} {what}" for what, ids in counts.items()))
        for name, (old, new) in table.columns.items():
            say(f"    column {name}: {old or 'absent'} -> {new or 'absent'}")
        for name, count in table.by_field().items():
            say(f"    {name} ({roles[table.name].of(name)}): {count:,} rows")
        for what, ids in counts.items():
            if ids:
                more = f" … {len(ids) - _SHOWN:,} more" if len(ids) > _SHOWN else ""
                say(f"    {what}: {', '.join(ids[:_SHOWN])}{more}")
    for line in effect.lines():
        say(f"  {line}")
