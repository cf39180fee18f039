"""``python -m evaluators run``: what a benchmark asks is asked, and what the model says is written as rows.

    python -m evaluators run --release fidelity@0.1.0 --model NAME --samples 5 --max-cost 10
    python -m evaluators run --release fidelity@0.1.0 --model offline:slipping
    python -m evaluators run --release persturn@1.0.0 --model NAME --mode memory

Which protocol it is (``responses``, ``replay``) follows from the tables of the release. Nothing is judged here:
``python -m evaluators judge`` reads the rows, as often and by as many judges as one likes. Multiple choice needs no
judge and has its own verb, ``choice``. An interrupted run goes on from its journal.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from evaluators.protocols import replay, responses
from evaluators.protocols.replay_prompts import MODES, SystemMessages
from evaluators.running import (
    add_model_arguments,
    add_release_arguments,
    asking,
    default_out,
    offline_name,
    run_chains,
)
from evaluators.satisfaction.turn_fields import RatedTurns
from evaluators.scoring.results import head
from evaluators.scoring.said_rows import Said, write_said
from models.backends import BackendSettings
from models.estimate import estimate, say_estimate, total_cost
from models.request import Chain
from releases import Release, open_release
from schemas.command import DEFAULT_SEED, DONE, FINDINGS, MACHINE_FAILED, print_json, say, whole_number
from schemas.errors import RequestError

HELP = "ask what a benchmark asks, and write what the model says as rows"
EXAMPLE = "python -m evaluators run --release fidelity@0.1.0 --model offline:slipping"


def add_arguments(made: argparse.ArgumentParser) -> None:
    """The arguments of ``run``."""
    add_release_arguments(made)
    offline = ", ".join(f"offline:{name}" for name in (*responses.OFFLINE, *replay.OFFLINE))
    add_model_arguments(made, offline)
    made.add_argument("--samples", type=whole_number(1, 10**6), metavar="N", help="answers to each probe (default: 1)")
    made.add_argument("--limit", type=whole_number(1, 10**9), metavar="N", help="a seeded sample of so many responses")
    told = made.add_argument_group("replay", "for releases of rated conversations")
    told.add_argument("--mode", choices=MODES, metavar="NAME", help=f"what is shown: {', '.join(MODES)} (default: raw)")
    told.add_argument(
        "--selection", choices=replay.SELECTIONS, metavar="NAME", help="which turns: hard (default) or blind"
    )
    told.add_argument(
        "--split", choices=replay.SPLITS, metavar="NAME",
        help="raters of offline:original: test (default), or all, those that train too",
    )  # fmt: skip
    made.add_argument("--dry-run", action="store_true", help="tell requests, tokens and price, and ask nothing")


@dataclass(frozen=True)
class Prepared:
    """What is asked for and how it becomes rows; ``about`` is what the header says of it beyond the model."""

    count: int
    starts: Sequence[Callable[[], Chain[Any]]]
    tables: Callable[[Sequence[Any], BackendSettings], dict[str, Said]]
    about: Mapping[str, Any]


def run(parsed: argparse.Namespace) -> int:
    """The verb."""
    release = open_release(parsed.release, parsed.frozen)
    protocol = _protocol(release)
    offline = offline_name(parsed.model, protocol.OFFLINE)
    settings = asking(parsed, subject=parsed.model)
    prepared = _replay(parsed, release, offline) if protocol is replay else _responses(parsed, release, offline)
    if parsed.dry_run:
        planned = estimate(prepared.starts, settings, workers=1)
        if parsed.json:
            document = {"responses": prepared.count, "planned": [asdict(one) for one in planned]}
            print_json({**document, "cost": total_cost(planned)})
        else:
            say_estimate(planned, settings)
        return DONE
    answers = run_chains(prepared.starts, settings, offline=offline is not None)
    served = sorted({str(answer.reply.model) for answer in answers if answer.reply.model})
    about = {"model": parsed.model, "served_by": served, **prepared.about, "limit": parsed.limit, "seed": parsed.seed}
    header = write_said(path := _out(parsed, release), head(release, "said", about), prepared.tables(answers, settings))
    return _finish(parsed, path, header)


def _protocol(release: Release) -> ModuleType:
    """The protocol that a release has the tables for. Raises RequestError where there is none."""
    if release.tables.get("replay_items"):
        return replay
    if all(release.tables.get(name) for name in responses.NEEDS):
        return responses
    raise RequestError(
        f"no {' and '.join(responses.NEEDS)}, and no replay_items",
        release.name,
        expected=f"this release has {', '.join(release.tables)}",
        fix="For questions with options: python -m evaluators choice",
    )


def _responses(parsed: argparse.Namespace, release: Release, offline: str | None) -> Prepared:
    for name in ("mode", "selection", "split"):
        if getattr(parsed, name) is not None:
            raise RequestError(f"--{name} without replay", release.name, fix=f"Leave --{name} out")
    samples, room = parsed.samples or 1, parsed.max_tokens or responses.MAX_TOKENS
    items = responses.asked(release, samples, parsed.limit, parsed.seed)
    prompt = None if offline else responses.prompt()
    about = {
        "protocol": "responses",
        "prompt": f"{prompt.id}@{prompt.version}" if prompt else None,
        "prompt_digest": prompt.digest if prompt else None,
        "max_tokens": None if offline else room,
        "samples": samples,
    }

    def tables(answers: Sequence[Any], settings: BackendSettings) -> dict[str, Said]:
        return responses.tables(items, answers, settings, parsed.model)

    starts = responses.chains(release, items, offline or parsed.model, parsed.seed, room)
    return Prepared(len(items), starts, tables, about)


def _replay(parsed: argparse.Namespace, release: Release, offline: str | None) -> Prepared:
    original = offline == replay.ORIGINAL
    refused = {
        "samples": "a replayed turn is answered once",
        **(dict.fromkeys(("mode", "selection"), "recorded replies are of no mode and selection") if original else {}),
        **({} if original else {"split": "candidates answer the replay items"}),
        **({"mode": "offline candidates are shown nothing"} if offline else {}),
    }
    for name, why in refused.items():
        if getattr(parsed, name) is not None:
            raise RequestError(f"--{name} for {parsed.model}", expected=why, fix=f"Leave --{name} out")
    options = replay.Options(
        parsed.mode or "raw", parsed.selection or "hard", parsed.split or "test", parsed.limit, parsed.seed
    )
    known, room = RatedTurns(release, parsed.seed), parsed.max_tokens or replay.MAX_TOKENS
    turns = replay.wanted(release, known, original, options)
    told = SystemMessages(known, options.mode)
    about = {
        "protocol": "replay",
        "mode": None if offline else options.mode,
        "selection": None if original else options.selection,
        "split": options.split if original else None,
        "prompt": None if offline else told.prompt_id,
        "prompt_digest": None if offline else told.digest,
        "max_tokens": None if offline else room,
    }

    def tables(filled: Sequence[Any], settings: BackendSettings) -> dict[str, Said]:
        return replay.tables(known, turns, filled, settings, None if offline else parsed.model)

    starts = replay.chains(release, known, turns, offline or parsed.model, options, room)
    return Prepared(len(turns), starts, tables, about)


def _out(parsed: argparse.Namespace, release: Release) -> Path:
    more = [
        f"samples{parsed.samples}" if (parsed.samples or 1) > 1 else "",
        parsed.mode,
        parsed.selection,
        f"split-{parsed.split}" if parsed.split else "",
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
