"""``python -m evaluators run``: what a benchmark asks is asked, and what the model says is written as rows.

    python -m evaluators run --release fidelity@0.1.0 --model NAME --samples 5 --max-cost 10
    python -m evaluators run --release fidelity@0.1.0 --model offline:slipping
    python -m evaluators run --release heart@2.0.0 --protocol questionnaire --setting recent --model NAME
    python -m evaluators run --release likebench@1.0.0 --model NAME --user NAME --memory dup
    python -m evaluators run --release persturn@1.0.1 --model NAME --mode memory

Nothing is judged here: ``python -m evaluators judge`` reads the rows, as often and by as many judges as one likes.
Multiple choice needs no judge and has its own verb, ``choice``. An interrupted run goes on from its journal.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import polars as pl

from evaluators.protocols import open_ended, replay, responses
from evaluators.protocols.plan import Plan
from evaluators.psychometrics import interview, questionnaire
from evaluators.running import (
    add_dry_run_argument,
    add_model_arguments,
    add_release_arguments,
    add_setting_arguments,
    default_out,
    offline_name,
    print_plan,
    run_chains,
)
from evaluators.scoring.results import head
from evaluators.scoring.said_rows import read_said, table_beside, write_said
from evaluators.sessions import protocol as sessions
from evaluators.task_dialogues import protocol as task_dialogues
from releases import Release, open_release
from schemas.command import DEFAULT_SEED, DONE, FINDINGS, MACHINE_FAILED, print_json, say, whole_number
from schemas.errors import RequestError

HELP = "ask what a benchmark asks, and write what the model says as rows"
EXAMPLE = "python -m evaluators run --release fidelity@0.1.0 --model offline:slipping"

PROTOCOLS: dict[str, ModuleType] = {
    "responses": responses,
    "sessions": sessions,
    "replay": replay,
    "task_dialogues": task_dialogues,
    "questionnaire": questionnaire,
    "interview": interview,
    "open": open_ended,
}
"""Name -> module; ``plan`` says what a module must have."""


def add_arguments(made: argparse.ArgumentParser) -> None:
    """The arguments of ``run``."""
    add_release_arguments(made)
    made.add_argument(
        "--protocol",
        choices=PROTOCOLS,
        metavar="NAME",
        help=f"what is asked: {', '.join(PROTOCOLS)} (default: the first that the release has the tables for)",
    )
    names = dict.fromkeys(f"offline:{name}" for module in PROTOCOLS.values() for name in module.OFFLINE)
    add_model_arguments(made, ", ".join(names))
    made.add_argument(
        "--samples", type=whole_number(1, 10**6), default=1, metavar="N", help="answers to each question (default: 1)"
    )
    add_setting_arguments(made, required=False)
    add_dry_run_argument(made)
    for module in PROTOCOLS.values():
        module.add_arguments(made)
    made.set_defaults(default_of=made.get_default)


def run(parsed: argparse.Namespace) -> int:
    """The verb."""
    if parsed.dry_run:
        plan = _plan(parsed)[2]
        print_plan([(plan.starts, plan.settings)], parsed.json, {plan.unit: len(plan.starts)})
        return DONE
    path, header = asked(parsed)
    if parsed.json:
        print_json({"result": str(path), **{key: header[key] for key in ("release", "run", "tables", "figures")}})
    quiet = parsed.quiet or parsed.json
    counted = ", ".join(f"{entry['count']:,} {name}" for name, entry in header["tables"].items())
    say(f"{parsed.model} on {header['release']['name']}: {counted}", quiet=quiet)
    say(f"  {', '.join(f'{state} {count:,}' for state, count in header['figures']['states'].items())}", quiet=quiet)
    for line in _unsaid_lines(path, header):
        say(line, quiet=quiet)
    say(f"wrote {path}", quiet=quiet)
    return exit_code(header, next(iter(header["tables"])))


def asked(parsed: argparse.Namespace) -> tuple[Path, dict[str, Any]]:
    """Ask, and write what was said: the header's file and the header. Raises RequestError for a wrong request."""
    release, protocol, plan = _plan(parsed)
    results = run_chains(plan.starts, plan.settings, offline=plan.settings.name == "offline")
    about = {
        "model": parsed.model,
        "served_by": sorted(name for name in plan.served(results) if name),
        "protocol": protocol,
        **plan.about,
        "limit": parsed.limit,
        "seed": parsed.seed,
    }
    path = _out(parsed, release, protocol, plan)
    return path, write_said(path, head(release, "said", about), plan.tables(results))


def _unsaid_lines(path: Path, header: Mapping[str, Any]) -> Iterator[str]:
    """Why rows hold nothing that was said."""
    from evaluators.reporting.lines import reason_lines

    name, entry = next(iter(header["tables"].items()))
    rows = read_said(path, header, entry["unit"])[1].rows.filter(pl.col("state") != "said")
    unsaid = rows.select("state", "reason", "item").sort("item").rows()
    return reason_lines(unsaid, table_beside(path, name))


def exit_code(header: Mapping[str, Any], unit: str) -> int:
    """What a run comes to; says how to go on where replies are missing."""
    states = header["figures"]["states"]
    if states["failed"]:
        say(f"error: {states['failed']} {unit} did not come. Run the same command again to ask for those")
        return MACHINE_FAILED
    return FINDINGS if any(states[state] for state in ("unreadable", "refused", "truncated")) else DONE


def _plan(parsed: argparse.Namespace) -> tuple[Release, str, Plan]:
    release = open_release(parsed.release, parsed.frozen)
    protocol = _protocol(parsed, release)
    module = PROTOCOLS[protocol]
    _demand_used(parsed, protocol)
    offline = offline_name(parsed.model, module.OFFLINE)
    return release, protocol, module.plan(release, parsed, offline)


def _protocol(parsed: argparse.Namespace, release: Release) -> str:
    """The protocol that is asked for, or the first that the release serves. Raises RequestError for none."""
    candidates = [parsed.protocol] if parsed.protocol else list(PROTOCOLS)
    lacking = {name: [table for table in PROTOCOLS[name].NEEDS if not release.tables.get(table)] for name in candidates}
    for name in candidates:
        if not lacking[name]:
            return name
    missing = "; ".join(f"{name} needs {' and '.join(tables)}" for name, tables in lacking.items())
    raise RequestError(
        "no protocol for these tables",
        release.name,
        expected=f"this release has {', '.join(release.tables)}, and {missing}",
        fix="For questions with options: python -m evaluators choice",
    )


def _demand_used(parsed: argparse.Namespace, protocol: str) -> None:
    """Raises RequestError for an argument that this protocol does not read: it would change nothing unnoticed."""
    everyone = {name for module in PROTOCOLS.values() for name in module.ARGUMENTS}
    for name in sorted(everyone - set(PROTOCOLS[protocol].ARGUMENTS)):
        if getattr(parsed, name, parsed.default_of(name)) != parsed.default_of(name):
            option = f"--{name.replace('_', '-')}"
            raise RequestError(
                f"{option} with the protocol {protocol}",
                expected=f"--{', --'.join(one.replace('_', '-') for one in PROTOCOLS[protocol].ARGUMENTS)}",
                fix=f"Leave {option} out, or name another --protocol",
            )


def _out(parsed: argparse.Namespace, release: Release, protocol: str, plan: Plan) -> Path:
    more = [
        *plan.named,
        f"samples{parsed.samples}" if parsed.samples > 1 else "",
        f"limit{parsed.limit}" if parsed.limit else "",
        f"seed{parsed.seed}" if parsed.seed != DEFAULT_SEED else "",
    ]
    # A release that serves one protocol has no need of its name in the file's.
    only = sum(all(release.tables.get(table) for table in module.NEEDS) for module in PROTOCOLS.values()) == 1
    return parsed.out or default_out(parsed, release, "said", "" if only else protocol, parsed.model, *more)
