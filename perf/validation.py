"""Validation against its peers: records beside the ``jsonschema`` package, tables beside a plain loop.

``records`` validates the same parsed rows with every error listed, 2 % of them broken on purpose.
``lines`` parses JSON Lines first. ``tables`` runs the rules of ``memories`` on a frame that is there,
and all checks of the table from its rows on; pandera is imported untimed (0.4 s, once a process).

    python -m perf.validation
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from typing import Any

import orjson

from builders.ids import memory_id
from builders.memories.stages import memory_stage
from perf.harness import Comparison, Promise, Timed, main
from schemas.benchmarks import benchmark
from schemas.randomness import rng_for
from schemas.tables import Row, record_schema, term_ids

_CHARACTERS, _BROKEN_EVERY = 11, 50
_WORDS = ("morning", "river", "quietly", "before", "teacher", "we", "counted", "window", "again", "because", "I")

MEMORIES = benchmark("heart").table("memories")


def made_rows(arguments: argparse.Namespace) -> list[Row]:
    """Memories of eleven characters, as many as asked for, that fit the schema and all rules."""
    each = arguments.rows // _CHARACTERS
    return [_memory(f"CHAR_{c:02d}", number, each) for c in range(1, _CHARACTERS + 1) for number in range(1, each + 1)]


def broken_rows(arguments: argparse.Namespace) -> list[Row]:
    """The same, every fiftieth broken in one of five ways."""
    changes: list[dict[str, Any]] = [{"age": 51}, {"stage": "old"}, {"context": ""}, {"id": "7"}, {"triggers": ["one"]}]
    rows = made_rows(arguments)
    for place in range(0, len(rows), _BROKEN_EVERY):
        rows[place] |= changes[place // _BROKEN_EVERY % len(changes)]
    return rows


def _memory(character: str, number: int, of: int) -> Row:
    rng = rng_for(7, "perf", "memories", character, number)
    age = 6 + 44 * (number - 1) // max(of - 1, 1)
    stage = memory_stage(age)
    return {
        "id": memory_id(character, number),
        "timeline": f"{stage['label']} ({age})",
        "context": "Back yard, first frost",
        "content_summary": "A key went missing and came back.",
        "content_full": " ".join(rng.choices(_WORDS, k=550)),
        "triggers": ["key", "frost", "yard", "silence"],
        "relevance_tags": ["duty", "home", "doubt", "winter"],
        "psych_conclusion": "What is lost may come back by itself.",
        "behavior_policy": "I wait a day before I tell anyone.",
        "emotion_signature": {"primary": "worry", "secondary": "relief", "intensity": 0.4},
        "character_id": character,
        "age": age,
        "stage": stage["id"],
        "domain": rng.choice(term_ids("scenario_domains")),
        "tier": rng.choice(term_ids("intensity_tiers")),
        "ledger_refs": [],
        "provenance": None,
    }


def _reference(arguments: argparse.Namespace) -> Timed:
    rows, validator = broken_rows(arguments), _reference_validator()
    return lambda: _found(rows, sum(bool(list(validator.iter_errors(row))) for row in rows))


def _reference_validator() -> Any:
    from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

    return Draft202012Validator(record_schema("memories"))


def _ours(arguments: argparse.Namespace) -> Timed:
    from validators.records import examine

    rows = broken_rows(arguments)
    list(examine(MEMORIES, rows[:1]))  # the validator is compiled once a process
    return lambda: _found(rows, sum(1 for _ in examine(MEMORIES, rows)))


def _engine(arguments: argparse.Namespace) -> Timed:
    import jsonschema_rs

    rows, validator = broken_rows(arguments), jsonschema_rs.validator_for(dict(record_schema("memories")))
    return lambda: _found(rows, sum(not validator.is_valid(row) for row in rows))


def _found(rows: list[Row], broken: int) -> Mapping[str, int]:
    return {"rows": len(rows), "broken": broken}


def _reference_lines(arguments: argparse.Namespace) -> Timed:
    lines, validator = _lines(arguments), _reference_validator()
    return lambda: {"broken": sum(bool(list(validator.iter_errors(json.loads(line)))) for line in lines)}


def _our_lines(arguments: argparse.Namespace) -> Timed:
    from validators.records import examine

    lines = _lines(arguments)
    list(examine(MEMORIES, [orjson.loads(lines[0])]))
    return lambda: {"broken": sum(1 for _ in examine(MEMORIES, [orjson.loads(line) for line in lines]))}


def _only_parsing(arguments: argparse.Namespace) -> Timed:
    lines = _lines(arguments)
    return lambda: {"rows": sum(1 for line in lines if orjson.loads(line))}


def _lines(arguments: argparse.Namespace) -> list[bytes]:
    return [orjson.dumps(row) for row in broken_rows(arguments)]


def _rules(arguments: argparse.Namespace) -> Timed:
    from validators.frames import breaches, columns_of, frame_of
    from validators.rules import rules_of

    rules = rules_of(MEMORIES)
    columns = columns_of(MEMORIES, {c for rule in rules for c in rule.columns}, made_rows(arguments))
    frame = frame_of(MEMORIES, [columns])
    breaches(MEMORIES, frame.head(1), rules)
    return lambda: {"rules": len(rules), "findings": sum(map(len, breaches(MEMORIES, frame, rules)))}


def _loop(arguments: argparse.Namespace) -> Timed:
    rows = made_rows(arguments)
    return lambda: {"rules": 6, "findings": _looped(rows)}


def _looped(rows: list[Row]) -> int:
    """The same six rules, row by row."""
    last: dict[str, int] = {}
    seen, broken = set(), 0
    for row in sorted(rows, key=lambda row: str(row["id"])):
        character, age = row["character_id"], row["age"]
        stage, number = memory_stage(age), character[5:]
        broken += row["id"] in seen
        broken += not row["id"].startswith(f"MEM_{number}_")
        broken += row["stage"] != stage["id"]
        broken += row["timeline"] != f"{stage['label']} ({age})"
        broken += age < last.get(character, 0)
        broken += any(not fact.startswith(f"LED_{number}_") for fact in row["ledger_refs"])
        seen.add(row["id"])
        last[character] = age
    return broken


def _all_checks(arguments: argparse.Namespace) -> Timed:
    import pandera.polars  # noqa: F401  (imported here so that it is not timed)

    from validators import check

    rows, heart = made_rows(arguments), benchmark("heart")
    return lambda: {"checks": len(check(heart, {"memories": rows}, {"memories"}, partial=True).checks)}


COMPARISONS = (
    Comparison(
        "records",
        {"jsonschema": _reference, "ours": _ours, "jsonschema-rs, yes or no": _engine},
        base="jsonschema",
        promises=(Promise("ours", "jsonschema", 20), Promise("ours", "jsonschema-rs, yes or no", 1 / 3)),
    ),
    Comparison(
        "lines",
        {"json + jsonschema": _reference_lines, "ours": _our_lines, "orjson alone": _only_parsing},
        base="json + jsonschema",
        promises=(Promise("ours", "json + jsonschema", 15),),
    ),
    Comparison(
        "tables", {"plain loop": _loop, "ours": _rules, "all checks of the table": _all_checks}, base="plain loop"
    ),
)


def _add_arguments(made: argparse.ArgumentParser) -> None:
    made.add_argument("--rows", type=int, default=11_000, metavar="N", help="memories (default: 11000)")


if __name__ == "__main__":
    raise SystemExit(main("perf.validation", COMPARISONS, add_arguments=_add_arguments))
