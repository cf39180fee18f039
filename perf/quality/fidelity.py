"""Do the intervals of persona fidelity hold what they should: planted slips, judged with a known error, many times.

Each run writes all responses of the benchmark anew (``offline:slipping``), has them judged by ``offline:noisy`` and
makes the figures; then each figure's interval over repeats either holds the figure's true value or does not. The true
value is that of so many responses that its own error is small beside the interval. Fewer than 93 of 100 is exit code 1.

    python -m perf.quality.fidelity
    python -m perf.quality.fidelity --samples 5 --runs 100
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import replace
from random import Random

import polars as pl

from evaluators.protocols import planted
from evaluators.rubrics.loading import Rubric, rubrics_of
from evaluators.rubrics.offline import Planted, offline_answer
from evaluators.rubrics.verdicts import read_answer
from evaluators.scoring.fidelity_figures import fidelity_figures
from evaluators.scoring.metrics import Aggregation
from schemas.command import DONE, FINDINGS, parser, print_json, run, say, whole_number
from schemas.randomness import rng_for

METRICS = ("acc_atom", "ic_atom", "rc_atom")
LEAST = 0.93
_PROMPTS, _ITEMS = 6, 10
_TRUTH_RUNS = 600


def judged_sentences(runs: int, chance: Random) -> pl.DataFrame:
    """Score rows of all personas and tasks with so many runs each, in the columns that figures are made of."""
    (rubric,) = rubrics_of("fidelity")
    rows = [
        {"persona": f"{trait}-{level}", "level": level, "task": task, "run": f"{number:05d}", **told}
        for trait in "OCEAN"
        for level in planted.THIRDS
        for task in planted.LENGTHS
        for number in range(runs)
        for told in _run(task, level, rubric, chance)
    ]
    return pl.DataFrame(rows, schema_overrides={"value": pl.Float64}).with_columns(pl.lit("").alias("item"))


def _run(task: str, level: str, rubric: Rubric, chance: Random) -> Iterator[dict[str, object]]:
    for probe in range(_ITEMS if task == "questionnaire" else 1):
        count = chance.randint(*planted.LENGTHS[task])
        for place in range(count):
            said = planted.score("slipping", level, place / max(1, count - 1), chance)
            key = {"persona_level": Planted(None if said is None else float(said))}
            found = read_answer(rubric, offline_answer("noisy", rubric, {}, key, chance), {})
            yield {"probe": f"{probe:02d}", "value": found["persona_level"].value}


def truth(seed: int, runs: int = _TRUTH_RUNS) -> dict[str, float]:
    """The value of each metric over very many runs."""
    (rubric,) = rubrics_of("fidelity")
    rows = judged_sentences(runs, rng_for(seed, "perf", "fidelity", "truth"))
    made = fidelity_figures(rows, _without_groups(rubric), seed)["metrics"]
    return {name: made[name]["value"] for name in METRICS}


def covered(runs: int, samples: int, true: dict[str, float], seed: int) -> dict[str, int]:
    """How often each metric's interval over repeats holds its true value."""
    (rubric,) = rubrics_of("fidelity")
    hits = dict.fromkeys(METRICS, 0)
    for number in range(runs):
        rows = judged_sentences(_PROMPTS * samples, rng_for(seed, "perf", "fidelity", "runs", number))
        made = fidelity_figures(rows, _without_groups(rubric), seed)["metrics"]
        for name in METRICS:
            spread = next(one for one in made[name]["intervals"] if one["over"] == "repeats")
            hits[name] += spread["low"] <= true[name] <= spread["high"]
    return hits


def _without_groups(rubric: Rubric) -> Aggregation:

    return replace(rubric.aggregation, by=())


def main(argv: Sequence[str] | None = None) -> int:
    """The command; see the module's docstring."""
    made = parser(
        "perf.quality.fidelity", "Count how often intervals hold what was planted.", "python -m perf.quality.fidelity"
    )
    made.add_argument("--runs", type=whole_number(1, 10**6), default=100, metavar="N", help="runs (default: 100)")
    made.add_argument(
        "--samples", type=whole_number(1, 100), default=1, metavar="N", help="of each prompt (default: 1)"
    )
    return run(_command, made, argv)


def _command(parsed: argparse.Namespace) -> int:
    true = truth(parsed.seed)
    hits = covered(parsed.runs, parsed.samples, true, parsed.seed)
    if parsed.json:
        print_json({"runs": parsed.runs, "samples": parsed.samples, "true": true, "covered": hits})
    for name in METRICS:
        line = f"{name:<10}true {true[name]:.4f}, in its interval in {hits[name]} of {parsed.runs} runs"
        say(line, quiet=parsed.quiet or parsed.json)
    return DONE if min(hits.values()) >= LEAST * parsed.runs else FINDINGS


if __name__ == "__main__":
    raise SystemExit(main())
