"""``python -m evaluators run``: what a benchmark asks is asked, and what the model says is written as rows.

    python -m evaluators run --release fidelity@0.1.0 --model NAME --samples 5 --max-cost 10
    python -m evaluators run --release fidelity@0.1.0 --model offline:slipping

Nothing is judged here: ``python -m evaluators judge`` reads the rows, as often and by as many judges as one likes.
Multiple choice needs no judge and has its own verb, ``choice``. An interrupted run goes on from its journal.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import Any

from evaluators.protocols import responses
from evaluators.running import (
    add_model_arguments,
    add_release_arguments,
    asking,
    default_out,
    offline_name,
    run_chains,
)
from evaluators.scoring.results import head
from evaluators.scoring.said_rows import write_said
from models.estimate import estimate, say_estimate, total_cost
from releases import Release, open_release
from schemas.command import DEFAULT_SEED, DONE, FINDINGS, MACHINE_FAILED, print_json, say, whole_number
from schemas.errors import RequestError

HELP = "ask what a benchmark asks, and write what the model says as rows"
EXAMPLE = "python -m evaluators run --release fidelity@0.1.0 --model offline:slipping"


def add_arguments(made: argparse.ArgumentParser) -> None:
    """The arguments of ``run``."""
    add_release_arguments(made)
    add_model_arguments(made, ", ".join(f"offline:{name}" for name in responses.OFFLINE))
    made.add_argument(
        "--samples", type=whole_number(1, 10**6), default=1, metavar="N", help="answers to each question (default: 1)"
    )
    made.add_argument("--limit", type=whole_number(1, 10**9), metavar="N", help="a seeded sample of so many responses")
    made.add_argument("--dry-run", action="store_true", help="tell requests, tokens and price, and ask nothing")


def run(parsed: argparse.Namespace) -> int:
    """The verb."""
    offline = offline_name(parsed.model, responses.OFFLINE)
    release = open_release(parsed.release, parsed.frozen)
    _demand_tables(release)
    items = responses.asked(release, parsed.samples, parsed.limit, parsed.seed)
    settings = asking(parsed, subject=parsed.model)
    room = parsed.max_tokens or responses.MAX_TOKENS
    starts = responses.chains(release, items, offline or parsed.model, parsed.seed, room)
    if parsed.dry_run:
        planned = estimate(starts, settings, workers=1)
        if parsed.json:
            document = {"responses": len(items), "planned": [asdict(one) for one in planned]}
            print_json({**document, "cost": total_cost(planned)})
        else:
            say_estimate(planned, settings)
        return DONE
    answers = run_chains(starts, settings, offline=offline is not None)
    header = write_said(
        path := _out(parsed, release),
        {
            **head(release, "said", _about(parsed, offline, {answer.reply.model for answer in answers})),
        },
        responses.tables(items, answers, settings, parsed.model),
    )
    return _finish(parsed, path, header)


def _demand_tables(release: Release) -> None:
    missing = [name for name in responses.NEEDS if not release.tables.get(name)]
    if missing:
        raise RequestError(
            f"no {' and '.join(missing)}",
            release.name,
            expected=f"this release has {', '.join(release.tables)}",
            fix="For questions with options: python -m evaluators choice",
        )


def _about(parsed: argparse.Namespace, offline: str | None, served: set[str | None]) -> dict[str, Any]:
    prompt = None if offline else responses.prompt()
    return {
        "model": parsed.model,
        "served_by": sorted(name for name in served if name),
        "protocol": "responses",
        "prompt": f"{prompt.id}@{prompt.version}" if prompt else None,
        "prompt_digest": prompt.digest if prompt else None,
        "max_tokens": None if offline else parsed.max_tokens or responses.MAX_TOKENS,
        "samples": parsed.samples,
        "limit": parsed.limit,
        "seed": parsed.seed,
    }


def _out(parsed: argparse.Namespace, release: Release) -> Path:
    more = [
        f"samples{parsed.samples}" if parsed.samples > 1 else "",
        f"limit{parsed.limit}" if parsed.limit else "",
        f"seed{parsed.seed}" if parsed.seed != DEFAULT_SEED else "",
    ]
    return parsed.out or default_out(parsed, release, "said", parsed.model, *more)


def _finish(parsed: argparse.Namespace, path: Path, header: dict[str, Any]) -> int:
    states = header["figures"]["states"]
    if parsed.json:
        print_json({"result": str(path), **{key: header[key] for key in ("release", "run", "tables", "figures")}})
    quiet = parsed.quiet or parsed.json
    counted = ", ".join(f"{entry['count']:,} {name}" for name, entry in header["tables"].items())
    say(f"{parsed.model} on {header['release']['name']}: {counted}", quiet=quiet)
    say(f"  {', '.join(f'{state} {count:,}' for state, count in states.items())}", quiet=quiet)
    say(f"wrote {path}", quiet=quiet)
    if states["failed"]:
        say(f"error: {states['failed']} responses did not come. Run the same command again to ask for those")
        return MACHINE_FAILED
    return FINDINGS if states["refused"] or states["truncated"] else DONE
