"""Characters: the eleven archetypes, and those a user adds.

A character is a Big Five vector with one trait at an extreme, an occupation that fits it, and the
rules every memory and decision follows (HEART-BENCH 3.2 stage 1, appendix B.1, G.1, Tables 4, 5). A
user's own is a TOML file with the fields of ``seeds/characters.toml`` (docs/own-characters.md). Beside each
character its life ledger is written (``builders.life.ledgers``).

    python -m builders.personas --benchmark heart
    python -m builders.personas --spec mine.toml
"""

from __future__ import annotations

import argparse
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from builders.ids import character_number
from builders.life import ledgers
from builders.offline.scenes import archetype
from builders.pattern_signs import contradictions
from builders.pipeline.command import DEFAULT_BENCHMARK, add_options, run_of
from builders.pipeline.edits import is_unedited, write_tracked
from builders.pipeline.run import Done, Option, Outcome, Run
from schemas.command import DONE, add_benchmark, parser, print_json, run, say
from schemas.errors import RequestError, unknown
from schemas.findings import Finding
from schemas.tables import Row, Table, record_schema, term_ids
from schemas.workspace import Workspace

MAKES = ("characters", "ledgers")
SPEC = Option("--spec", "TOML file with characters of your own", read=Path, metavar="FILE")
OPTIONS = (SPEC,)

_SEEDS = Path(__file__).parent / "seeds" / "characters.toml"
_EXTREME_VALUES = 4  # how many values are dominant, and how many suppressed, where a seed does not say
_BY_HAND: Row = {
    "origin": "user",
    "backend": None,
    "model": None,
    "prompt": None,
    "prompt_digest": None,
    "seed": None,
    "revision": 0,
    "repairs": [],
}


def load_characters() -> list[Row]:
    """The eleven characters of the benchmark, in order of id, as rows of ``characters``."""
    return [completed(seed) for seed in tomllib.loads(_SEEDS.read_text("utf-8"))["characters"]]


def characters_of(space: Workspace) -> list[Row]:
    """The characters of a workspace: those in its file, else the eleven."""
    if space.path("characters").is_file():
        return list(space.rows("characters"))
    return load_characters()


def selected_characters(space: Workspace, ids: Sequence[str]) -> list[Row]:
    """The characters named, in order of id; all when none is. An unknown one raises with the nearest."""
    rows = {row["character_id"]: row for row in characters_of(space)}
    for name in ids:
        if name not in rows:
            raise unknown("character", name, rows, space.path("characters"))
    return [row for who, row in sorted(rows.items()) if not ids or who in ids]


def read_spec(path: Path, known: Sequence[Row], table: Table) -> list[Row]:
    """A user's own characters from a TOML file: one at the top, or several as ``[[characters]]``.

    Raises RequestError, naming file, character and field, for one that breaks a limit of the record
    schema or a rule of the table, or whose id belongs to another character.
    """
    taken = {row["character_id"]: row for row in known}
    rows = []
    for seed in _seeds(path):
        row = completed({"provenance": _BY_HAND, **_named(seed, taken)})
        who = str(row["character_id"])
        if taken.get(who, row) != row:
            fix = "Give another character_id, or leave it out"
            raise RequestError("id is taken", path, row=who, field="character_id", expected="a free id", fix=fix)
        taken[who] = row
        rows.append(row)
    _check(path, table, rows, list(taken.values()))
    for row in rows:
        _refuse_contradictions(path, row)
    return rows


def completed(seed: Mapping[str, Any]) -> Row:
    """A seed as a whole row: nulls where a trait is absent, the dominant and suppressed values derived."""
    row: Row = {"archetype": "Custom", "trait": None, "pole": None, "provenance": None, **seed}
    given = row.get("values")
    values = given if isinstance(given, dict) else {}
    # What is no number is left for the record schema to name.
    order = [name for name in term_ids("schwartz_values") if isinstance(values.get(name), int | float)]
    row.setdefault("dominant_values", sorted(order, key=lambda name: -values[name])[:_EXTREME_VALUES])
    row.setdefault("suppressed_values", sorted(order, key=lambda name: values[name])[:_EXTREME_VALUES])
    fields = record_schema("characters")["properties"]
    return {name: row[name] for name in [*fields, *sorted(row.keys() - fields.keys())] if name in row}


def build(run: Run) -> Done:
    """Write the characters, and the ledgers of those that are selected."""
    space, spec = run.space, SPEC.of(run)
    rows = _current_characters(space)
    added = read_spec(spec, rows, space.benchmark.table("characters")) if spec else []
    for row in added:
        say(own_patterns_note(row), quiet=run.quiet)
    rows += [row for row in added if row not in rows]
    for name in run.selection:
        if name not in {row["character_id"] for row in rows}:
            raise unknown("character", name, [row["character_id"] for row in rows], space.path("characters"))
    outcomes = []
    for row in rows:
        who = row["character_id"]
        if not run.selection or who in run.selection:
            before = _digest(space, "ledgers", who)
            facts = ledgers.write_ledger(space, row, run.streams)
            outcomes.append(_outcome(space, "ledgers", who, len(facts), before))
    before = _digest(space, "characters", "all")
    write_characters(space, rows)
    return Done([_outcome(space, "characters", "all", len(rows), before), *outcomes])


def own_patterns_note(row: Row) -> str:
    """What becomes of the core patterns of a user's own character, as a line for people."""
    return (
        f"{row['character_id']}: --backend messages writes by its core_patterns; the built-in writer does not, "
        f"and speaks with the voice and the patterns of {archetype(row)}"
    )


def _outcome(space: Workspace, table: str, key: str, rows: int, before: bytes | None) -> Outcome:
    if not is_unedited(space, table, key):
        return Outcome(table, key, "kept", "changed by hand", rows)
    if before is None:
        return Outcome(table, key, "built", "was not there", rows)
    if before == _digest(space, table, key):
        return Outcome(table, key, "up to date", "nothing it is made from has changed", rows)
    return Outcome(table, key, "built", "what it is made from has changed", rows)


def _digest(space: Workspace, table: str, key: str) -> bytes | None:
    path = space.path(table, key)
    return path.read_bytes() if path.is_file() else None


def write_characters(space: Workspace, rows: Sequence[Row]) -> None:
    """Write the table of characters. The workspace must be locked."""
    write_tracked(space, "characters", sorted(rows, key=lambda row: str(row["character_id"])))


def _current_characters(space: Workspace) -> list[Row]:
    """The eleven as they are shipped, and a user's own; or the table as it is, where a person has changed it."""
    there = characters_of(space)
    if space.path("characters").is_file() and not is_unedited(space, "characters"):
        return there
    return [*load_characters(), *(row for row in there if row["provenance"] is not None)]


def _seeds(path: Path) -> list[dict[str, Any]]:
    try:
        text = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise RequestError("missing file", path, fix="Check the path of --spec") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RequestError("malformed TOML", path, expected=str(error), fix="Correct that line") from None
    found = text.get("characters", [text])
    if not isinstance(found, list) or not found or not all(isinstance(seed, dict) and seed for seed in found):
        raise RequestError("no character", path, expected="the fields of a character, or [[characters]] entries")
    return found


def _named(seed: Mapping[str, Any], taken: Mapping[str, Row]) -> dict[str, Any]:
    """The seed with an id and a label where it has none: the next free number, and its letter.

    A seed that is there already, under the number it got before, gets that number again.
    """
    if "character_id" in seed:
        return {"label": _label(seed["character_id"]), **seed}
    for who, row in taken.items():
        if completed({"provenance": _BY_HAND, "label": row["label"], **seed, "character_id": who}) == row:
            return {"label": row["label"], **seed, "character_id": who}
    who = f"CHAR_{max((int(character_number(name)) for name in taken), default=0) + 1:02d}"
    return {"label": _label(who), **seed, "character_id": who}


def _label(character_id: object) -> str:
    """Role A, … Role Z, Role AA, … by the number in the id."""
    try:
        number = int(character_number(str(character_id)))
    except ValueError:
        return "Role"  # the id itself is what the check will name
    letters = ""
    while number > 0:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return f"Role {letters}"


def _check(path: Path, table: Table, added: Sequence[Row], together: Sequence[Row]) -> None:
    """Raise the first error of the added rows: their record schema, then the rules that all characters keep."""
    from validators.frames import breaches, columns_of, frame_of
    from validators.records import failures
    from validators.rules.characters import rules

    _raise_first(path, failures(table, added))
    columns = columns_of(table, {column for rule in rules() for column in rule.columns}, together)
    found = [finding for each in breaches(table, frame_of(table, [columns]), rules()) for finding in each]
    ours = {row["character_id"] for row in added}
    _raise_first(path, [finding for finding in found if finding.row_id in ours and finding.severity == "error"])


def _refuse_contradictions(path: Path, row: Row) -> None:
    """Raise the first core pattern that shows the other pole of a trait than the character's Big Five say."""
    for pattern, vector in contradictions(row["big_five"], row["core_patterns"]):
        lines = path.read_text("utf-8").splitlines()
        line = next((number for number, text in enumerate(lines, 1) if pattern in text), None)
        raise RequestError(
            "core pattern contradicts a trait",
            path if line is None else f"{path}:{line}",
            row=row["character_id"],
            field="core_patterns",
            expected=f"{pattern!r} shows the other pole of {vector}",
            fix="Write another pattern, or correct big_five",
        )


def _raise_first(path: Path, findings: Sequence[Finding]) -> None:
    if not findings:
        return
    first, *others = findings
    what = "character breaks a rule" + (f", the first of {len(findings)}" if others else "")
    expected = f"{first.text} {first.message}" if first.text else first.message
    raise RequestError(what, path, row=first.row_id, field=first.field, expected=expected, fix="Correct it there")


def main(argv: Sequence[str] | None = None) -> int:
    """Write characters and ledgers; see ``--help``."""
    made = parser(
        "builders.personas",
        "Write the characters and their life ledgers, and add your own.",
        "python -m builders.personas --benchmark heart --spec mine.toml",
    )
    add_benchmark(made, DEFAULT_BENCHMARK)
    add_options(made, OPTIONS)
    return run(_command, made, argv)


def _command(parsed: argparse.Namespace) -> int:
    given = run_of(parsed, OPTIONS)
    with given.space.lock():
        build(given)
    space, rows = given.space, list(given.space.rows("characters"))
    counts = {row["character_id"]: sum(1 for _ in space.rows("ledgers", row["character_id"])) for row in rows}
    if parsed.json:
        document = [
            {key: row[key] for key in ("character_id", "label", "archetype", "occupation")}
            | {"facts": counts[row["character_id"]]}
            for row in rows
        ]
        print_json({"benchmark": parsed.benchmark, "workspace": str(space.folder), "characters": document})
    for row in rows:
        who = row["character_id"]
        line = f"{who}  {row['label']:<8}{row['archetype']:<9}{counts[who]:>4} facts  {row['occupation']}"
        say(line, quiet=parsed.quiet)
    say(f"written: {space.path('characters')}, {space.path('ledgers').parent}", quiet=parsed.quiet)
    return DONE


if __name__ == "__main__":
    raise SystemExit(main())
