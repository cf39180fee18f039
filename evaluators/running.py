"""What the verbs that ask models share: their arguments, and how models are reached.

``--model NAME`` is a model behind the Messages API (ANTHROPIC_BASE_URL, ANTHROPIC_API_KEY) and is all it
takes to put one's own model in; ``--model offline:NAME`` is a baseline. Requests and replies are in the
journal of the workspace's ``evaluations`` folder, so an interrupted evaluation goes on and pays nothing
twice.
"""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TypeVar

from evaluators.memory.settings import DEFAULT_K, SETTINGS, Setting
from models.backends import BackendSettings, add_asking_arguments, run
from models.estimate import ENOUGH, estimate, say_estimate, total_cost, usual_lengths
from models.prices import read_prices
from models.request import Chain, Usage
from models.roles import read_roles
from releases import Release
from schemas.command import DEFAULT_SEED, print_json, say, whole_number
from schemas.errors import RequestError, unknown
from schemas.release_names import FROZEN

OFFLINE = "offline:"

_LENGTHS = (
    f"replies as long as this model's in the journal, where it holds {ENOUGH} of a kind, else as offline ones: for a"
    " closer figure run with --limit 2 first"
)

Answered = TypeVar("Answered")


def add_release_arguments(made: argparse.ArgumentParser) -> None:
    """``--release`` and where releases lie."""
    made.add_argument(
        "--release", required=True, metavar="NAME@X.Y.Z", help="a release by name, or the path of its folder"
    )
    made.add_argument(
        "--frozen", type=Path, default=FROZEN, metavar="DIR", help="frozen releases (default: releases/frozen)"
    )


def add_setting_arguments(made: argparse.ArgumentParser, required: bool = True) -> None:
    """``--setting`` and what goes with it."""
    depths = ", ".join(f"{name} {k}" for name, k in DEFAULT_K.items())
    made.add_argument("--setting", required=required, metavar="NAME", help=f"what is remembered: {', '.join(SETTINGS)}")
    made.add_argument("--k", type=whole_number(1, 10**9), metavar="N", help=f"memories a question (default: {depths})")
    made.add_argument(
        "--embedder", default="tfidf", metavar="NAME", help="tfidf (default), st:NAME or openai:NAME (OPENAI_BASE_URL)"
    )
    made.add_argument(
        "--manager",
        default="offline",
        metavar="NAME",
        help="model that writes the statements of persona_db and the facts of mem0 (default: offline, without one)",
    )
    made.add_argument("--limit", type=whole_number(1, 10**9), metavar="N", help="a seeded sample of so many units")


def add_model_arguments(made: argparse.ArgumentParser, offline: str, several: bool = False) -> None:
    """``--model`` and how it is reached; ``offline`` names what needs none, ``several`` takes a list."""
    made.add_argument(
        "--model",
        required=True,
        metavar="NAME",
        nargs="+" if several else None,
        help=f"a model behind the Messages API at ANTHROPIC_BASE_URL, or without one: {offline}"
        + ("; several share what is retrieved, a result each" if several else ""),
    )
    made.add_argument("--max-tokens", type=whole_number(1, 10**9), metavar="N", help="room for a reply")
    made.add_argument("--out", type=Path, metavar="FILE", help="the result (default: in the workspace's evaluations)")
    add_asking(made)


def add_asking(made: argparse.ArgumentParser) -> None:
    """How models are asked, and ``--processes``."""
    group = made.add_argument_group("asking")
    add_asking_arguments(group)
    group.add_argument(
        "--processes",
        type=whole_number(1, 256),
        default=1,
        metavar="N",
        help="processes that share chains, --concurrency and limits: for replies that come faster than one can ask"
        " (default: 1)",
    )


def add_dry_run_argument(made: argparse.ArgumentParser) -> None:
    """``--dry-run``."""
    made.add_argument("--dry-run", action="store_true", help="print requests, tokens and price, and ask nothing")


Planned = Sequence[tuple[Sequence[Callable[[], Chain[Any]]], BackendSettings]]
"""Chains, and whom their requests go to."""


def print_plan(planned: Planned, as_json: bool, counts: Mapping[str, int] | None = None) -> None:
    """What chains would ask and cost: a table for each settings, or one JSON document of all, with ``counts``."""
    found = [(estimate(starts, settings, 1, usual_lengths(settings)), settings) for starts, settings in planned]
    asked = [one for own, _ in found for one in own]
    if as_json:
        print_json({**(counts or {}), "planned": [asdict(one) for one in asked], "cost": total_cost(asked)})
    elif not asked:
        say("nothing is asked of a model", quiet=False)
    else:
        for own, settings in found:
            if own:
                say_estimate(own, settings)
        say(_LENGTHS, quiet=found[0][1].quiet)


def setting_of(parsed: argparse.Namespace) -> Setting:
    """The setting that the arguments name. Raises RequestError for an unknown one."""
    if parsed.setting not in SETTINGS:
        raise unknown("setting", parsed.setting, SETTINGS, "--setting")
    if parsed.setting not in DEFAULT_K and parsed.k is not None:
        raise RequestError(
            f"--k for --setting {parsed.setting}", expected=f"one of {', '.join(DEFAULT_K)}", fix="Leave --k out"
        )
    return Setting(parsed.setting, parsed.k, parsed.embedder, parsed.manager)


def offline_name(model: str, known: tuple[str, ...], argument: str = "--model") -> str | None:
    """The name after ``offline:``; None for a model that is asked. Raises RequestError for an unknown one."""
    if not model.startswith(OFFLINE):
        return None
    name = model.removeprefix(OFFLINE)
    if name not in known:
        raise unknown("offline model", model, [f"{OFFLINE}{each}" for each in known], argument)
    return name


def asking(parsed: argparse.Namespace, **roles: str) -> BackendSettings:
    """How models are asked; ``roles`` names the model of each role; an offline one asks nobody."""
    chosen = [f"{role}={'offline' if name.startswith(OFFLINE) else name}" for role, name in roles.items()]
    return BackendSettings(
        name="messages",
        roles=read_roles(None, parsed.roles, chosen),
        prices=read_prices(parsed.prices),
        journal=parsed.journal or evaluations(parsed) / "journal.sqlite",
        max_cost=parsed.max_cost,
        budget=parsed.budget,
        concurrency=parsed.concurrency,
        batch=parsed.batch,
        quiet=parsed.quiet or parsed.json,
        processes=getattr(parsed, "processes", 1),
    )


def evaluations(parsed: argparse.Namespace) -> Path:
    """The folder of results and of what is kept between runs."""
    folder: Path = parsed.workspace / "evaluations"
    return folder


def default_out(parsed: argparse.Namespace, release: Release, kind: str, *parts: object) -> Path:
    """Where a result goes when nobody says: its name tells what it is of."""
    name = ".".join(slug(part) for part in (kind, *parts) if part)
    return evaluations(parsed) / str(release.name) / f"{name}.json"


def slug(part: object) -> str:
    """A part of a file's name."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", str(part)).strip("-")


def used(usages: Iterable[Usage], model: str, settings: BackendSettings) -> dict[str, Any]:
    """Tokens of replies and their price in dollars: 0 without a model, None where the model has no price."""
    tokens_in = tokens_out = 0
    costs: list[float | None] = []
    for one in usages:
        tokens_in += one.input_tokens + one.cache_write_tokens + one.cache_read_tokens
        tokens_out += one.output_tokens
        if one.output_tokens:
            costs.append(settings.prices.cost(model, one, settings.batch))
    cost = None if None in costs else math.fsum(cost for cost in costs if cost is not None)
    return {"input_tokens": tokens_in, "output_tokens": tokens_out, "cost": cost}


def run_chains(
    starts: Sequence[Callable[[], Chain[Answered]]], settings: BackendSettings, *, offline: bool
) -> list[Answered]:
    """The results of chains, in order: of models as ``settings`` say, or each request by its ``compose``."""
    return list(results_of(starts, settings, offline=offline))


def results_of(
    starts: Sequence[Callable[[], Chain[Answered]]], settings: BackendSettings, *, offline: bool
) -> Iterator[Answered]:
    """As ``run_chains``, each result as soon as it and those before it are there."""
    if offline:
        return run(starts, replace(settings, name="offline"), workers=settings.processes)
    return run(starts, settings, rows=len(starts))


def details(parsed: argparse.Namespace, setting: Setting) -> list[str]:
    """What else names a result where it is not the default: runs that differ never share a file."""
    orders, samples = getattr(parsed, "orders", 1), getattr(parsed, "samples", 1)
    return [
        f"k{parsed.k}" if parsed.k else "",
        "" if setting.embedder == "tfidf" else setting.embedder,
        "" if setting.manager == "offline" else f"by-{setting.manager}",
        f"orders{orders}" if orders > 1 else "",
        f"samples{samples}" if samples > 1 else "",
        f"limit{parsed.limit}" if parsed.limit else "",
        f"seed{parsed.seed}" if parsed.seed != DEFAULT_SEED else "",
    ]
