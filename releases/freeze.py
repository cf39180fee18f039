"""Freeze a workspace into a release: checked, sorted, written aside, read back, given its name.

The folder appears under its name only when it is complete and verifies, read-only, and is never
touched again; a freeze that is killed leaves nothing under that name. The manifest is written last.
The version must be a large enough step from the newest release below it (``releases.versioning``).

    python -m releases freeze heart@2.0.0
    python -m releases freeze heart@2.0.0 --workspace s3://lab/build --engine local
    python -m releases freeze heart@2.1.0 --allow table.row_count --why "a release of two characters"
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from releases import gate
from releases.cards.configs import configs
from releases.cards.texts import card_texts
from releases.opening import Release, open_release
from releases.placing import clear
from releases.roles import as_entry
from releases.sharding.tables import Sharded
from releases.source import rows_in_order
from releases.versioning import Change, demand, required_between
from releases.writing import Contents, Shape, write_release
from schemas.command import DONE, FINDINGS, add_processes, print_json, say
from schemas.engines import stores
from schemas.engines.choice import Engine, add_engine, engine
from schemas.errors import RequestError
from schemas.findings import Finding, counts
from schemas.release_names import (
    Name,
    add_frozen,
    add_own_benchmark,
    benchmark_of,
    newest_below,
    parse_name,
)
from schemas.tables import Table
from schemas.workspace import Workspace

HELP = "freeze a workspace into a release"
EXAMPLE = "python -m releases freeze heart@2.0.0"

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_SHOWN = 3  # open errors of a code that are written out


@dataclass(frozen=True)
class Plan:
    """What is frozen under which name, and where; ``released`` is a date given by a person, or None.

    With an ``engine`` tables are written part by part on it, and what is finished is not written again.
    """

    name: Name
    workspace: Workspace
    frozen: Path
    released: str | None = None
    doi: str | None = None
    engine: Engine | None = None

    @property
    def shards(self) -> Path:
        """Where finished parts of large tables lie until the release is complete."""
        return self.folder.with_name(f".{self.name.version}.shards")

    @property
    def folder(self) -> Path:
        """Where the release will lie."""
        return self.name.folder(self.frozen)


def freeze(plan: Plan, checks: Mapping[str, Any]) -> Release:
    """Write the release; ``checks`` is what ``gate.check`` found of these rows.

    Raises RequestError for a version that exists or is too small a step, a missing table, a key that
    occurs twice or a row that does not fit; MachineError when what was written does not read back.
    """
    workspace, said = plan.workspace, card_texts(plan.workspace.benchmark)
    tables = _tables(plan)
    about = {
        "title": workspace.benchmark.title,
        "paper": workspace.benchmark.paper,
        "license": said["license"],
        "released": plan.released,
        "doi": plan.doi,
        "history": _history(plan),
        "variant": None,
        "checks": dict(checks),
    }
    contents = Contents(
        name=plan.name,
        shapes=[Shape(name, table.key, table.schema, as_entry(table)) for name, table in tables.items()],
        rows=partial(rows_in_order, workspace),
        said=said,
        configs=configs(said, tables),
        recipe=workspace.recipe(),
        about=about,
        parent_of=partial(_parent, plan),
        sharded=Sharded(workspace, plan.engine, plan.shards) if plan.engine else None,
    )
    release = write_release(contents, plan.folder)
    if plan.engine:
        clear(plan.shards)
    return release


def _tables(plan: Plan) -> dict[str, Table]:
    """The tables of the release: all of the benchmark but optional ones that have no working file."""
    every = plan.workspace.benchmark.tables.items()
    return {name: table for name, table in every if not table.optional or plan.workspace.keys(name)}


def _parent(plan: Plan, fresh: Release) -> dict[str, Any] | None:
    """The newest release below this one, and what the differences to it call for."""
    name = newest_below(plan.frozen, plan.name)
    if name is None:
        return None
    parent = open_release(str(name), plan.frozen)
    change: Change = required_between(parent, fresh)
    demand(plan.name, name, change)
    return {
        "version": str(name.version),
        "content_digest": parent.content_digest,
        "change": change.level,
        "reasons": list(change.reasons),
    }


def _history(plan: Plan) -> list[dict[str, Any]]:
    """Every release below this one, newest first."""
    made: list[dict[str, Any]] = []
    name = newest_below(plan.frozen, plan.name)
    while name is not None:
        manifest = open_release(str(name), plan.frozen).manifest
        parent = manifest["parent"] or {"change": None, "reasons": []}
        named = {part: manifest[part] for part in ("version", "released", "content_digest")}
        made.append({**named, "change": parent["change"], "reasons": parent["reasons"]})
        name = newest_below(plan.frozen, name)
    return made


def add_arguments(made: argparse.ArgumentParser) -> None:
    """The arguments of ``freeze``."""
    made.add_argument("release", metavar="NAME@X.Y.Z", help="benchmark and the version it gets")
    add_frozen(made)
    add_own_benchmark(made)
    made.add_argument(
        "--allow", action="append", nargs="+", default=[], metavar="CODE", help="let errors of these codes pass"
    )
    made.add_argument("--why", action="append", default=[], metavar="TEXT", help="the reason; one for each --allow")
    made.add_argument("--doi", type=_doi, metavar="DOI", help="a DOI that is reserved for it, as 10.5281/zenodo.1")
    add_processes(made)
    add_engine(made)
    made.add_argument("--date", type=_date, metavar="YYYY-MM-DD", help="date to print on the card (default: none)")


def _date(text: str) -> str:
    with contextlib.suppress(ValueError):
        if _DATE.fullmatch(text) and datetime.date.fromisoformat(text):
            return text
    raise argparse.ArgumentTypeError(f"{text!r} is not a date: expected YYYY-MM-DD")


def _doi(text: str) -> str:
    if re.fullmatch(r"10\.[0-9]{4,9}/[!-~]+", text):
        return text
    raise argparse.ArgumentTypeError(f"{text!r} is not a DOI: expected 10.NNNN/…")


def run(args: argparse.Namespace) -> int:
    """The verb."""
    name = parse_name(args.release)
    if len(args.allow) != len(args.why) or not all(why.strip() for why in args.why):
        raise RequestError("--allow without its reason", expected="one --why TEXT for each --allow")
    allowances = [gate.Allowance(code, why) for codes, why in zip(args.allow, args.why, strict=True) for code in codes]
    folder = name.folder(args.frozen)
    if folder.exists():
        raise RequestError(f"{name} exists", folder, expected="a new version", fix="Releases are never overwritten")
    workspace = Workspace(_local_rows(args, name), benchmark_of(name, args.benchmark).spec)
    card_texts(workspace.benchmark)  # before anything is checked, which takes longer
    if not workspace.folder.is_dir():
        raise RequestError(
            "no working rows", workspace.folder, fix=f"Build or import {name.benchmark} first, or name its --workspace"
        )
    chosen = engine(args.engine, args.processes) if args.engine else None
    plan = Plan(name, workspace, args.frozen, args.date, args.doi, chosen)
    with workspace.lock():
        say(f"checking {workspace.folder}", quiet=args.quiet)
        outcome = gate.check(workspace, allowances, args.processes if chosen else None, chosen, args.scratch)
        for line in outcome.notes:
            say(line, quiet=args.quiet)
        if outcome.open:
            return _refuse(args, name, outcome.open)
        say(f"writing {plan.folder}", quiet=args.quiet)
        release = freeze(plan, outcome.checks)
    if stores.is_url(args.workspace):
        clear(workspace.folder.parent)
    _print_summary(args, release)
    return DONE


def _local_rows(args: argparse.Namespace, name: Name) -> Path:
    """The workspace; one in a store is copied beside where the release will lie, until it is frozen."""
    if not stores.is_url(args.workspace):
        return Path(args.workspace)
    copied = name.folder(args.frozen).with_name(f".{name.version}.workspace")
    source = stores.join(stores.location(args.workspace), name.benchmark)
    say(f"fetching {source}", quiet=args.quiet)
    stores.fetch_folder(source, copied / name.benchmark)
    return copied


def _refuse(args: argparse.Namespace, name: Name, errors: tuple[Finding, ...]) -> int:
    by_code = counts(errors)
    if args.json:
        print_json(
            {"release": str(name), "frozen": False, "counts": by_code, "findings": [e.as_dict() for e in errors]}
        )
    else:
        for line in _first_of_each(errors):
            say(line)
    listed = ", ".join(f"{code} {count:,}" for code, count in by_code.items())
    what = "1 open error" if len(errors) == 1 else f"{len(errors):,} open errors"
    say(f"error: {what}: {listed}. Fix the rows, or allow a code with --allow CODE --why TEXT")
    return FINDINGS


def _first_of_each(errors: tuple[Finding, ...]) -> Iterator[str]:
    from validators.rendering import described

    seen: Counter[str] = Counter()
    for error in errors:
        seen[error.code] += 1
        if seen[error.code] <= _SHOWN:
            yield " ".join(described(error, error.table).split())


def _print_summary(args: argparse.Namespace, release: Release) -> None:
    size = sum(file["bytes"] for file in release.manifest["files"].values())
    if args.json:
        print_json(
            {
                "release": str(release.name),
                "frozen": True,
                "folder": str(release.folder),
                "digest": release.digest,
                "content_digest": release.content_digest,
                "tables": dict(release.tables),
                "bytes": size,
            }
        )
        return
    rows = sum(release.tables.values())
    say(f"{release.name}: {rows:,} rows, {size:,} bytes in {release.folder}\ndigest {release.digest}", quiet=args.quiet)
