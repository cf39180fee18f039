"""Compatibility: which character cannot meet which scenario, and by which fact.

HEART-BENCH 3.3: a partner scenario makes no sense for a character without a partner. A scenario names what it
requires (``requires``: kinds of ledger facts, or roles of a kind); the life ledger says what holds at its
age. A block list can add pairs:

    character_id,scenario_id,reason
    CHAR_06,SCN_SETTLING_DOWN_8,has never rowed

    python -m builders.compatibility --block blocked.csv
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from builders.pipeline.command import StepCommand
from builders.pipeline.run import Done, Option, Run
from builders.pipeline.staleness import inputs_digest, write_if_stale
from schemas.errors import RequestError, unknown
from schemas.tables import Row

READS = ("characters", "ledgers", "scenarios")
MAKES = ("exclusions",)
BLOCK = Option("--block", "further pairs to exclude: character_id,scenario_id,reason", read=Path, metavar="FILE.csv")
OPTIONS = (BLOCK,)

_COLUMNS = ("character_id", "scenario_id", "reason")


def exclusions(scenarios: Sequence[Row], ledgers: Sequence[Row], characters: Sequence[Row]) -> list[Row]:
    """The pairs that cannot be, one row each, with the first requirement that fails."""
    facts: dict[str, list[Row]] = {row["character_id"]: [] for row in characters}
    for fact in ledgers:
        facts.setdefault(fact["character_id"], []).append(fact)
    found = []
    for character in characters:
        for scenario in scenarios:
            failed = next(
                (r for r in scenario["requires"] if not _met(r, facts[character["character_id"]], scenario["age"])),
                None,
            )
            if failed:
                found.append(_exclusion(character, scenario, failed, facts[character["character_id"]]))
    return found


def _matching(requirement: str, facts: Sequence[Row]) -> list[Row]:
    kind, _, roles = requirement.partition(":")
    wanted = roles.split("|") if roles else [""]
    return [
        fact
        for fact in facts
        if fact["kind"] == kind and any(role in fact["role"].split() or not role for role in wanted)
    ]


def _met(requirement: str, facts: Sequence[Row], age: int) -> bool:
    return any(fact["from_age"] <= age <= fact["to_age"] for fact in _matching(requirement, facts))


def _exclusion(character: Row, scenario: Row, requirement: str, facts: Sequence[Row]) -> Row:
    age = scenario["age"]
    matching = _matching(requirement, facts)
    nearest = min(matching, key=lambda fact: (_distance(fact, age), fact["fact_id"]), default=None)
    words = requirement.replace(":", ": ").replace("|", " or ")
    if nearest is None:
        reason = f"requires {words}; the life has none"
    elif age < nearest["from_age"]:
        reason = f"requires {words} at {age}; {nearest['role']} only from {nearest['from_age']}"
    else:
        end = f" ({nearest['ends_by']})" if nearest["ends_by"] else ""
        reason = f"requires {words} at {age}; {nearest['role']} until {nearest['to_age']}{end}"
    return {
        "character_id": character["character_id"],
        "scenario_id": scenario["id"],
        "requirement": requirement,
        "fact_id": nearest and nearest["fact_id"],
        "reason": reason,
    }


def _distance(fact: Row, age: int) -> int:
    return max(int(fact["from_age"]) - age, age - int(fact["to_age"]), 0)


def blocked(path: Path, characters: Sequence[str], scenarios: Sequence[str]) -> list[Row]:
    """The pairs of a block list. Raises RequestError naming line and column for what is not known."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            reader = csv.DictReader(lines, restval="")
            columns, entries = reader.fieldnames or (), list(reader)
    except FileNotFoundError:
        raise RequestError("missing file", path, fix="Check the path of --block") from None
    except UnicodeDecodeError:
        raise RequestError("file in another encoding", path, expected="UTF-8", fix="Save it as UTF-8") from None
    except csv.Error as error:
        raise RequestError("malformed CSV", path, expected=str(error), fix="Correct it") from None
    if not set(_COLUMNS) <= set(columns):
        expected = f"columns {', '.join(_COLUMNS)}"
        raise RequestError("block list without its columns", path, expected=expected, fix="Add a header line")
    rows = []
    for line, entry in enumerate(entries, 2):
        for column, known in (("character_id", characters), ("scenario_id", scenarios)):
            if entry[column] not in known:
                raise unknown(column, entry[column], known, f"{path}:{line}")
        pair = {"character_id": entry["character_id"], "scenario_id": entry["scenario_id"]}
        rows.append({**pair, "requirement": "blocked", "fact_id": None, "reason": entry["reason"] or "blocked"})
    return rows


def build(run: Run) -> Done:
    """Bring the table up to date."""
    space, block = run.space, BLOCK.of(run)
    inputs_digest(space, READS)  # names a table that is missing
    characters, scenarios = list(space.rows("characters")), list(space.rows("scenarios"))
    named = blocked(block, [c["character_id"] for c in characters], [s["id"] for s in scenarios]) if block else []
    digest = inputs_digest(space, READS, block=named)

    def make() -> list[Row]:
        found = exclusions(scenarios, list(space.rows("ledgers")), characters)
        pairs = {(row["character_id"], row["scenario_id"]): row for row in found}
        for row in named:
            pairs.setdefault((row["character_id"], row["scenario_id"]), row)
        return list(pairs.values())

    return Done([write_if_stale(space, "exclusions", digest, make, run.fresh)])


def main(argv: Sequence[str] | None = None) -> int:
    """Find the pairs that cannot be; see ``--help``."""
    return StepCommand(
        "compatibility",
        "Exclude pairs of character and scenario that contradict the life ledger.",
        "python -m builders.compatibility --block blocked.csv",
        build,
        OPTIONS,
        asks=False,
        document=lambda run: {"exclusions": list(run.space.rows("exclusions"))},
        lines=_lines,
    ).main(argv)


def _lines(run: Run) -> list[str]:
    rows = run.space.rows("exclusions")
    return [f"    {row['character_id']} {row['scenario_id']:<28} {row['reason']}" for row in rows]


if __name__ == "__main__":
    raise SystemExit(main())
