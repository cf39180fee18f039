"""What answers: chosen once by a command's ``--backend``, known to nothing else.

    python -m builders.memories --char CHAR_04                                  # the offline writer
    ANTHROPIC_API_KEY=... python -m builders.memories --char CHAR_04 --backend messages --max-cost 25

A builder adds the arguments, reads the settings, and runs its chains; which backend is on makes no
difference to what the chains ask nor to the order of the results:

    def window(seed: int, character: str, stage: str) -> Chain[tuple[list[Row], list[Failure]]]:
        rows, failures = [], []
        for request in plan(seed, character, stage):            # may look at `rows`: they are this chain's
            reply = yield from ask(request, check=problems)
            if reply.status == "answered":
                rows.append(reply.answer)
            else:
                failures.append(failure(request, reply))
        return rows, failures

    arguments = command.parser(...)
    add_backend_arguments(arguments)
    ...
    settings = backend_settings(parsed, benchmark("heart"))
    starts = [functools.partial(window, parsed.seed, character, stage) for character, stage in windows]
    for rows, failures in run(starts, settings, workers=parsed.workers):
        ...                                                     # in the order of `starts`

``starts`` are picklable for the offline backend's processes. With ``messages`` all chains run side by
side in this process, every request and reply is in the journal, and a run that was interrupted goes
on where it was without paying twice.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from models import offline
from models.prices import read_prices
from models.request import Chain, Result
from models.roles import read_roles
from models.settings import CONCURRENCY, TIMEOUT, BackendSettings
from schemas.benchmarks import Benchmark
from schemas.command import number, whole_number

__all__ = ["BackendSettings", "add_asking_arguments", "add_backend_arguments", "backend_settings", "run"]

_LONGEST_TIMEOUT = 86_400.0


def add_backend_arguments(arguments: argparse.ArgumentParser) -> None:
    """Add ``--backend`` and its companions to a command."""
    group = arguments.add_argument_group("backend")
    group.add_argument(
        "--backend",
        choices=("offline", "messages"),
        default="offline",
        help="what writes: the built-in offline writer (default), or the models of the roles, at the servers their"
        " entries in models/roles.toml or --roles name (without one: at ANTHROPIC_BASE_URL, with ANTHROPIC_API_KEY)",
    )
    group.add_argument(
        "--model",
        action="append",
        default=[],
        metavar="[ROLE=]NAME",
        help="the model of all roles, or of one; may be given several times; `offline` is the built-in writer",
    )
    group.add_argument("--preset", metavar="NAME", help="roles of a paper (default: the benchmark's own)")
    add_asking_arguments(group)


def add_asking_arguments(group: argparse._ArgumentGroup) -> None:
    """Add what tells how models are asked, whichever they are: limits, prices, journal."""
    group.add_argument("--roles", type=Path, metavar="FILE", help="models of the roles, laid over models/roles.toml")
    group.add_argument("--prices", type=Path, metavar="FILE", help="price list instead of models/prices.toml")
    group.add_argument(
        "--max-cost", type=_dollars, metavar="USD", help="stop before the request that could pass this sum"
    )
    group.add_argument(
        "--budget", type=Path, metavar="FILE", help="with --max-cost: a file by which several processes share the sum"
    )
    group.add_argument(
        "--concurrency",
        type=whole_number(1, 4096),
        default=CONCURRENCY,
        metavar="N",
        help=f"requests in flight at most (default: {CONCURRENCY})",
    )
    group.add_argument("--batch", action="store_true", help="use the Message Batches API: half the price, slower")
    group.add_argument(
        "--timeout",
        type=number(0.001, _LONGEST_TIMEOUT),
        default=TIMEOUT,
        metavar="S",
        help=f"seconds of silence before an attempt is given up (default: {TIMEOUT:g})",
    )
    group.add_argument(
        "--journal", type=Path, metavar="FILE", help="record of requests and replies (default: in the workspace)"
    )


def backend_settings(parsed: argparse.Namespace, benchmark: Benchmark) -> BackendSettings:
    """What the arguments say, for one benchmark. Raises RequestError for a malformed settings file."""
    preset = parsed.preset or benchmark.preset
    return BackendSettings(
        name=parsed.backend,
        roles=read_roles(preset, parsed.roles, parsed.model),
        prices=read_prices(parsed.prices),
        journal=parsed.journal or parsed.workspace / benchmark.name / "journal.sqlite",
        max_cost=parsed.max_cost,
        concurrency=parsed.concurrency,
        batch=parsed.batch,
        quiet=parsed.quiet,
        timeout=parsed.timeout,
        budget=parsed.budget,
    )


def run(
    starts: Sequence[Callable[[], Chain[Result]]],
    settings: BackendSettings,
    workers: int | None = None,
    rows: int | None = None,
) -> Iterator[Result]:
    """Run all chains; results come in the order of ``starts``, as soon as those before them are there.

    ``workers`` are the offline backend's processes (default: one a core); ``rows`` is how many rows are
    expected in all, for the progress shown. Raises RequestError for a missing or wrong key and an
    unknown model, MachineError when the server fails or the budget is spent; the journal keeps what
    was answered.
    """
    if settings.name == "offline":
        return offline.run(starts, workers)
    from models.running import run as run_on_models  # the client takes a moment to import: no offline run needs it

    return run_on_models(starts, settings, rows)


def _dollars(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a sum above 0")
    return value
