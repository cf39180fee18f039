"""The first track: which of four decisions does a model take for the character's own.

    python -m evaluators choice --release heart@2.0.0 --setting naive_rag --model claude-sonnet-4-6
    python -m evaluators choice --release heart@2.0.0 --setting recent --model offline:reader offline:nearest
    python -m evaluators choice --release heart@2.0.0 --setting recent --model claude-sonnet-4-6 --dry-run

The release is verified before use and the result carries its digest; baselines that need no model are
reported with every run. HEART-BENCH section 4.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluators.memory.settings import Setting, retrieve
from evaluators.protocols import baselines
from evaluators.protocols.bench import Bench, demand_memories, read_bench, read_keys
from evaluators.protocols.choosing import ask_model, chains, items, outcomes_of
from evaluators.protocols.prompting import MAX_TOKENS, SAMPLED, Excerpts, How, prompt_of
from evaluators.reporting.choice.lines import summary_lines
from evaluators.running import (
    add_dry_run_argument,
    add_model_arguments,
    add_release_arguments,
    add_setting_arguments,
    asking,
    default_out,
    details,
    evaluations,
    offline_name,
    print_plan,
    setting_of,
    used,
)
from evaluators.scoring.figures import summary
from evaluators.scoring.results import Result, head, write_result
from releases import open_release
from schemas.command import DONE, FINDINGS, MACHINE_FAILED, print_json, say, whole_number
from schemas.errors import RequestError

HELP = "ask which option a character chose, under a memory setting"
EXAMPLE = "python -m evaluators choice --release heart@2.0.0 --setting naive_rag --model claude-sonnet-4-6"

_MOST_ORDERS = 4


def add_arguments(made: argparse.ArgumentParser) -> None:
    """The arguments of ``choice``."""
    add_release_arguments(made)
    add_setting_arguments(made)
    add_model_arguments(made, ", ".join(f"offline:{name}" for name in baselines.NAMES), several=True)
    made.add_argument(
        "--orders",
        type=int,
        choices=range(1, _MOST_ORDERS + 1),
        default=1,
        metavar="N",
        help="ask each question in so many rotated orders of its options, 1 to 4 (default: 1)",
    )
    add_dry_run_argument(made)
    made.add_argument(
        "--samples",
        type=whole_number(1, 1000),
        default=1,
        metavar="N",
        help=f"ask each question so many times, at temperature {SAMPLED:g} if more than once (default: 1)",
    )


def run(parsed: argparse.Namespace) -> int:
    """The verb: one result a model; what the models share is made once."""
    setting, models = setting_of(parsed), list(dict.fromkeys(parsed.model))
    offline = {model: offline_name(model, baselines.NAMES) for model in models}
    if parsed.out and len(models) > 1:
        raise RequestError("--out for several models", expected="one --model", fix="Leave --out out: each gets a file")
    bench = read_bench(open_release(parsed.release, parsed.frozen), parsed.limit, parsed.seed)
    for model in models:
        _demand_readable(bench, setting, model, offline[model])
    if parsed.dry_run:
        return _plan(parsed, bench, setting, [model for model in models if offline[model] is None])
    retrieved = retrieve(bench, setting, evaluations(parsed), asking(parsed, screen=setting.manager))
    floors = baselines.all_answers(bench, parsed.seed, retrieved if setting.retrieves else None)
    shared = Shared(bench, setting, retrieved, floors)
    codes, written = [], []
    for model in models:
        own = argparse.Namespace(**{**vars(parsed), "model": model})
        result = evaluate(shared, own, offline[model])
        path = parsed.out or default_out(own, bench.release, "choice", setting.name, model, *details(own, setting))
        write_result(path, result)
        written.append({"result": str(path), **{key: result[key] for key in ("release", "run", "figures")}})
        codes.append(_finish(own, result, path))
    if parsed.json:
        print_json(written[0] if len(models) == 1 else written)
    return max(codes)


def _plan(parsed: argparse.Namespace, bench: Bench, setting: Setting, models: Sequence[str]) -> int:
    """``--dry-run``: what each model would be asked. What is retrieved is made as in a run, without a manager."""
    if setting.manager != "offline":
        raise RequestError(
            "--dry-run with --manager", expected="what a manager writes is in the prompts, and it is asked first",
            fix="Leave --manager out: without it prompts are about as long",
        )  # fmt: skip
    retrieved = retrieve(bench, setting, evaluations(parsed), asking(parsed)) if models else {}
    starts = chains(bench, retrieved, _how(parsed, setting)) if models else []
    print_plan([(starts, asking(parsed, subject=model)) for model in models], parsed.json)
    return DONE


def _how(parsed: argparse.Namespace, setting: Setting) -> How:
    return How(setting.name, parsed.orders, parsed.samples, parsed.max_tokens or MAX_TOKENS)


@dataclass(frozen=True)
class Shared:
    """What all models of a call share: questions, setting, what is remembered, and the baselines' answers."""

    bench: Bench
    setting: Setting
    retrieved: Mapping[str, Excerpts]
    floors: Mapping[str, Mapping[str, str] | None]


def _demand_readable(bench: Bench, setting: Setting, model: str, offline: str | None) -> None:
    if offline in baselines.READING:
        demand_memories(bench, f"--model {model}")
        if not setting.retrieves:
            raise RequestError(
                f"{model} reads memories",
                expected="a setting that retrieves some",
                fix="For example --setting naive_rag",
            )


def _finish(parsed: argparse.Namespace, result: Result, path: Path) -> int:
    """Print what came out; the exit code."""
    quiet = parsed.quiet or parsed.json
    for line in summary_lines(result):
        say(line, quiet=quiet)
    say(f"wrote {path}", quiet=quiet)
    states = result["figures"]["states"]
    if states["failed"]:
        say(f"error: {states['failed']} questions have no reply. Run the same command again to ask those")
        return MACHINE_FAILED
    return FINDINGS if any(states[state] for state in ("unscored", "refused", "truncated")) else DONE


def evaluate(shared: Shared, parsed: argparse.Namespace, offline: str | None) -> Result:
    """Ask and score: the result of a model."""
    bench, setting, retrieved = shared.bench, shared.setting, shared.retrieved
    how = _how(parsed, setting)
    settings = asking(parsed, subject=parsed.model, screen=setting.manager)
    if offline is None:
        outcomes = ask_model(bench, retrieved, how, settings)
    else:
        outcomes = outcomes_of(baselines.answers(offline, bench, parsed.seed, retrieved), how)
    records = items(bench, read_keys(bench.release), retrieved, outcomes)
    replies = [one for own in outcomes.values() for one in own]
    served = sorted({one.served_by for one in replies if one.served_by})
    prompt = None if offline else prompt_of("choice", setting.name)
    about = {
        "model": parsed.model,
        "served_by": served,
        **setting.about(),
        "prompt": f"{prompt.id}@{prompt.version}" if prompt else None,
        "prompt_digest": prompt.digest if prompt else None,
        "temperature": None if offline else how.temperature,
        "max_tokens": None if offline else how.max_tokens,
        "orders": how.orders,
        "samples": how.samples,
        "limit": parsed.limit,
        "seed": parsed.seed,
        "pseudonyms": bench.pseudonyms,
    }
    return {
        **head(bench.release, "choice", about),
        "figures": summary(records, shared.floors, parsed.seed),
        "used": used([one.usage for one in replies], parsed.model, settings),
        "baselines": shared.floors,
        "items": records,
    }
