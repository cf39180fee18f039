"""The first track: which of four decisions does a model take for the character's own.

    python -m evaluators choice --release heart@0.1.0 --setting naive_rag --model claude-sonnet-4-6
    python -m evaluators choice --release heart@0.1.0 --setting recent --model offline:reader

The release is verified before use and the result carries its digest; baselines that need no model are
reported with every run. HEART-BENCH section 4.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from evaluators import baselines
from evaluators.bench import Bench, demand_memories, read_bench, read_keys
from evaluators.choosing import How, Outcome, ask_model, items, outcomes_of
from evaluators.figures import summary
from evaluators.prompting import MAX_TOKENS, TEMPERATURE, Excerpts, prompt_of
from evaluators.results import Result, head, write_result
from evaluators.running import (
    add_model_arguments,
    add_release_arguments,
    add_setting_arguments,
    asking,
    default_out,
    evaluations,
    offline_name,
    setting_of,
)
from evaluators.settings import Setting, retrieve
from releases import open_release
from schemas.command import DONE, FINDINGS, MACHINE_FAILED, print_json, say
from schemas.errors import RequestError

HELP = "ask which option a character chose, under a memory setting"
EXAMPLE = "python -m evaluators choice --release heart@0.1.0 --setting naive_rag --model claude-sonnet-4-6"

_MOST_ORDERS = 4


def add_arguments(made: argparse.ArgumentParser) -> None:
    """The arguments of ``choice``."""
    add_release_arguments(made)
    add_setting_arguments(made)
    add_model_arguments(made, ", ".join(f"offline:{name}" for name in baselines.NAMES))
    made.add_argument(
        "--orders",
        type=int,
        choices=range(1, _MOST_ORDERS + 1),
        default=1,
        metavar="N",
        help="ask each question in so many rotated orders of its options, 1 to 4 (default: 1)",
    )


def run(parsed: argparse.Namespace) -> int:
    """The verb."""
    setting, offline = setting_of(parsed), offline_name(parsed.model, baselines.NAMES)
    bench = read_bench(open_release(parsed.release, parsed.frozen), parsed.limit, parsed.seed)
    result = evaluate(bench, setting, parsed, offline)
    path = parsed.out or default_out(
        parsed, bench.release, "choice", setting.name, parsed.model, *_details(parsed, setting)
    )
    write_result(path, result)
    if parsed.json:
        print_json({"result": str(path), **{key: result[key] for key in ("release", "run", "figures")}})
    else:
        tell(result, parsed.quiet)
        say(f"wrote {path}", quiet=parsed.quiet)
    states = result["figures"]["states"]
    if states["failed"]:
        say(f"error: {states['failed']} questions have no reply. Run the same command again to ask those")
        return MACHINE_FAILED
    return FINDINGS if states["unscored"] else DONE


def evaluate(bench: Bench, setting: Setting, parsed: argparse.Namespace, offline: str | None) -> Result:
    """Retrieve, ask, score: the result of a run."""
    models = asking(parsed, subject=parsed.model, screen=setting.manager)
    if offline in baselines.READING:
        demand_memories(bench, f"--model {parsed.model}")
        if setting.depth is None:
            raise RequestError(f"{parsed.model} reads memories", expected="a setting that retrieves some")
    retrieved = retrieve(bench, setting, evaluations(parsed), models)
    room = parsed.max_tokens or MAX_TOKENS
    outcomes: Mapping[str, Sequence[Outcome]]
    if offline is None:
        outcomes = ask_model(bench, retrieved, How(setting.name, parsed.orders, room), models)
    else:
        outcomes = outcomes_of(baselines.answers(offline, bench, parsed.seed, retrieved), parsed.orders)
    return _result(bench, setting, parsed, retrieved, outcomes)


def _result(
    bench: Bench,
    setting: Setting,
    parsed: argparse.Namespace,
    retrieved: Mapping[str, Excerpts],
    outcomes: Mapping[str, Sequence[Outcome]],
) -> Result:
    floors = baselines.all_answers(bench, parsed.seed)
    records = items(bench, read_keys(bench.release), retrieved, outcomes)
    served = sorted({one.served_by for own in outcomes.values() for one in own if one.served_by})
    return {
        **head(bench.release, "choice", run_of(parsed, setting, "choice", served)),
        "figures": summary(records, floors),
        "baselines": floors,
        "items": records,
    }


def run_of(parsed: argparse.Namespace, setting: Setting, track: str, served: Sequence[str]) -> dict[str, Any]:
    """What a result records of how it was made."""
    offline = parsed.model.startswith("offline:")
    prompt = None if offline else prompt_of(track, setting.name)
    embeds = setting.name in ("naive_rag", "mem0", "persona_db")
    manages = setting.name in ("mem0", "persona_db")
    return {
        "model": parsed.model,
        "served_by": list(served),
        "setting": setting.name,
        "k": setting.depth,
        "embedder": setting.embedder if embeds else None,
        "manager": setting.manager if manages else None,
        "prompt": f"{prompt.id}@{prompt.version}" if prompt else None,
        "prompt_digest": prompt.digest if prompt else None,
        "temperature": None if offline else TEMPERATURE,
        "max_tokens": None if offline else parsed.max_tokens or MAX_TOKENS,
        "orders": getattr(parsed, "orders", 1),
        "limit": parsed.limit,
        "seed": parsed.seed,
    }


def tell(result: Result, quiet: bool) -> None:
    """A run for people: accuracy, states, floors."""
    figures, run = result["figures"], result["run"]
    states, overall, answered = figures["states"], figures["overall"], figures["answered"]
    say(f"{run['model']}, {run['setting']}, on {result['release']['name']}: {told(overall)}", quiet=quiet)
    if states["unscored"] or states["failed"]:
        say(
            f"  scored {states['scored']}, unscored {states['unscored']}, failed {states['failed']};"
            f" of those scored {told(answered)}",
            quiet=quiet,
        )
    if figures["orders"]:
        say(
            f"  the same option in all {figures['orders']['count']} orders: {told(figures['orders']['same'])}",
            quiet=quiet,
        )
    for name, floor in figures["baselines"].items():
        say(f"  {name:<10}{told(floor) if floor else 'not possible: this release has no memories'}", quiet=quiet)
    say(
        f"  chance {figures['chance']:.1%}; found with 80 % power from {figures['chance'] + figures['detectable']:.1%}",
        quiet=quiet,
    )


def told(share: Mapping[str, Any]) -> str:
    """A share for people: rate, Wilson's interval, counts."""
    if share["rate"] is None:
        return "none"
    return f"{share['rate']:.1%} [{share['low']:.1%}, {share['high']:.1%}] ({share['hits']} of {share['items']})"


def _details(parsed: argparse.Namespace, setting: Setting) -> list[str]:
    """What else names a result where it is not the default."""
    embedder = "" if setting.embedder == "tfidf" else setting.embedder
    manager = "" if setting.manager == "offline" else f"by-{setting.manager}"
    return [
        f"k{parsed.k}" if parsed.k else "",
        embedder,
        manager,
        f"orders{parsed.orders}" if parsed.orders > 1 else "",
        f"limit{parsed.limit}" if parsed.limit else "",
        f"seed{parsed.seed}" if parsed.seed != 7 else "",
    ]
