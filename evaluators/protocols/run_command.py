"""``python -m evaluators run``: what a benchmark asks is asked, and what the model says is written as rows.

    python -m evaluators run --release fidelity@0.1.0 --model NAME --samples 5 --max-cost 10
    python -m evaluators run --release fidelity@0.1.0 --model offline:slipping
    python -m evaluators run --release likebench@1.0.0 --model NAME --user NAME --memory dup

The protocol is the benchmark's: the one of the vocabulary ``protocols`` whose tables the release has. Nothing is judged
here: ``python -m evaluators judge`` reads the rows, as often and by as many judges as one likes. Multiple choice needs
no judge and has its own verb, ``choice``. An interrupted run goes on from its journal.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import Any

from evaluators.protocols import responses
from evaluators.protocols.dialogue import add_dialogue_arguments
from evaluators.protocols.plans import Method, Plan
from evaluators.running import add_model_arguments, add_release_arguments, default_out, offline_name, run_chains
from evaluators.scoring.results import head
from evaluators.scoring.said_rows import write_said
from evaluators.sessions import protocol as sessions
from models.estimate import estimate, say_estimate, total_cost
from releases import Release, open_release
from schemas.command import DEFAULT_SEED, DONE, FINDINGS, MACHINE_FAILED, print_json, say, whole_number
from schemas.errors import RequestError
from schemas.records import vocabulary

HELP = "ask what a benchmark asks, and write what the model says as rows"
EXAMPLE = "python -m evaluators run --release fidelity@0.1.0 --model offline:slipping"

METHODS = {method.name: method for method in (responses.METHOD, sessions.METHOD)}


def add_arguments(made: argparse.ArgumentParser) -> None:
    """The arguments of ``run``."""
    add_release_arguments(made)
    known = [f"offline:{name}" for method in METHODS.values() for name in method.subjects]
    add_model_arguments(made, ", ".join(known))
    made.add_argument("--limit", type=whole_number(1, 10**9), metavar="N", help="a seeded sample of so many items")
    made.add_argument("--dry-run", action="store_true", help="tell requests, tokens and price, and ask nothing")
    own = made.add_argument_group("of single protocols")
    own.add_argument(
        "--samples", type=whole_number(1, 10**6), metavar="N", help="answers to each question (responses; default: 1)"
    )
    add_dialogue_arguments(own)
    sessions.add_arguments(own)


def run(parsed: argparse.Namespace) -> int:
    """The verb."""
    release = open_release(parsed.release, parsed.frozen)
    method = _method(release)
    _demand_own(method, parsed)
    offline_name(parsed.model, method.subjects)
    if getattr(parsed, "user", None):
        offline_name(parsed.user, method.users, "--user")
    plan = method.plan(release, parsed)
    if parsed.dry_run:
        return _forecast(parsed, plan)
    found = run_chains(plan.starts, plan.settings, offline=plan.offline)
    path = parsed.out or _out(parsed, release, plan)
    header = write_said(
        path, head(release, "said", _about(parsed, method, plan, found)), plan.tables(found, plan.settings)
    )
    return _finish(parsed, path, header, plan)


def _method(release: Release) -> Method:
    """The protocol whose tables the release has. Raises RequestError for a release that none can run."""
    terms = [term for term in vocabulary("protocols") if term["id"] in METHODS]
    for term in terms:
        if all(release.tables.get(table) for table in term["tables"]):
            return METHODS[term["id"]]
    needed = "; ".join(f"{term['id']}: {', '.join(term['tables'])}" for term in terms)
    raise RequestError(
        "no protocol for this release", release.name,
        expected=f"the tables of one ({needed}); it has {', '.join(release.tables)}",
        fix="For questions with options: python -m evaluators choice",
    )  # fmt: skip


def _demand_own(method: Method, parsed: argparse.Namespace) -> None:
    """Raises RequestError for an argument of another protocol."""
    others = {name for other in METHODS.values() for name in other.options} - set(method.options)
    for name in sorted(others):
        if getattr(parsed, name) is not None:
            raise RequestError(
                f"--{name} for the protocol {method.name}",
                expected=f"its own arguments: {', '.join(f'--{own}' for own in method.options) or 'none'}",
                fix=f"Leave --{name} out",
            )


def _forecast(parsed: argparse.Namespace, plan: Plan) -> int:
    planned = estimate(plan.starts, plan.settings, workers=1)
    if parsed.json:
        document = {plan.what: len(plan.starts), "planned": [asdict(one) for one in planned]}
        print_json({**document, "cost": total_cost(planned)})
    else:
        say_estimate(planned, plan.settings)
    return DONE


def _about(parsed: argparse.Namespace, method: Method, plan: Plan, found: list[Any]) -> dict[str, Any]:
    served = plan.served(found)
    return {
        "model": parsed.model,
        "served_by": list(served.get("subject", ())),
        "served": {role: list(names) for role, names in served.items()},
        "protocol": method.name,
        **plan.about,
        "limit": parsed.limit,
        "seed": parsed.seed,
    }


def _out(parsed: argparse.Namespace, release: Release, plan: Plan) -> Path:
    more = [
        *plan.name,
        f"limit{parsed.limit}" if parsed.limit else "",
        f"seed{parsed.seed}" if parsed.seed != DEFAULT_SEED else "",
    ]
    return default_out(parsed, release, "said", parsed.model, *more)


def _finish(parsed: argparse.Namespace, path: Path, header: dict[str, Any], plan: Plan) -> int:
    states = header["figures"]["states"]
    if parsed.json:
        print_json({"result": str(path), **{key: header[key] for key in ("release", "run", "tables", "figures")}})
    quiet = parsed.quiet or parsed.json
    counted = ", ".join(f"{entry['count']:,} {name}" for name, entry in header["tables"].items())
    say(f"{parsed.model} on {header['release']['name']}: {counted}", quiet=quiet)
    say(f"  {', '.join(f'{state} {count:,}' for state, count in states.items())}", quiet=quiet)
    say(f"wrote {path}", quiet=quiet)
    if states["failed"]:
        say(f"error: {states['failed']} of the {plan.what} have no reply. Run the same command again to ask for it")
        return MACHINE_FAILED
    return FINDINGS if states["refused"] or states["truncated"] else DONE
