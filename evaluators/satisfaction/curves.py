"""Known figures of planted raters: how well a judge could do, and how many turns a calibrator needs.

Reads ``raters`` and ``ratings`` of a built release, lets offline judges with planted bias score every turn, and
calibrates them with growing numbers of source turns for each rater:

    raw         the judge's own scores          oracle   calibration that knows each rater's scale
    best        knows rater and turn, and lacks only the rater's noise
    recovered   correlation over raters of the fitted border between 3 and 4 with the planted one

A shorter history is the first turns of each rater by the SHA-256 of the sample id, so shorter ones are part of longer
ones. Everything is offline and the same for the same seed.

    python -m evaluators.satisfaction.curves persturn@1.0.0
    python -m evaluators.satisfaction.curves persturn@1.0.0 --json
    python -m evaluators.satisfaction.curves persturn@1.0.0 --seeds 20
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from evaluators.satisfaction.calibration import Calibrated, block_cdf, mean_shift, reference_cdf
from evaluators.satisfaction.ordinal import fit_population, fitted_thresholds, ordinal
from evaluators.satisfaction.planted import (
    JUDGES,
    PlantedJudge,
    PlantedTurns,
    best_scores,
    judge_scores,
    oracle_scores,
    planted_turns,
)
from evaluators.satisfaction.turns import SATISFIED, SCORES, SourceTurns, TargetTurns
from releases import open_release
from schemas.command import DONE, parser, print_json, run, say, whole_number
from schemas.errors import RequestError
from schemas.release_names import FROZEN

HISTORIES = (5, 10, 20, 40, None)
"""Source turns of each rater; None: all of them."""

_BORDER = SATISFIED - SCORES[0] - 1  # the threshold between the last dissatisfied and the first satisfied score

HARSH = next(judge for judge in JUDGES if judge.name == "harsh")
"""The judge with most bias to undo."""

METHODS = ("mean_shift", "block_cdf", "reference_cdf", "ordinal")


def curve(turns: PlantedTurns, judge: PlantedJudge, seed: int) -> list[dict[str, Any]]:
    """Mean absolute error of one judge, raw and by method, for each length of history."""
    raw = judge_scores(turns, judge, seed)
    gold, said = turns.gold_frame(), turns.prediction_frame(raw)
    fixed = {"raw": _error(turns, raw), "oracle": _error(turns, oracle_scores(turns, raw))}
    rows = []
    for most in HISTORIES:
        errors = _errors(gold, said, most)
        found = {"best": _error(turns, best_scores(turns)), "recovered": _recovered(turns, gold, said, most)}
        rows.append({"judge": judge.name, "history": most, **fixed, **errors, **found})
    return rows


def undone(turns: PlantedTurns, judge: PlantedJudge, seed: int) -> dict[str, float]:
    """Method -> the share of a judge's error that it undoes, of what the oracle undoes; all source turns are used."""
    raw = judge_scores(turns, judge, seed)
    error = _error(turns, raw)
    possible = error - _error(turns, oracle_scores(turns, raw))
    found = _errors(turns.gold_frame(), turns.prediction_frame(raw), None)
    return {method: (error - left) / possible for method, left in found.items()}


def held_out(turns: PlantedTurns, judge: PlantedJudge, seed: int, train: Collection[str]) -> dict[str, Any]:
    """Errors on the raters that do not train; thresholds of the population come from those that do."""
    raw = judge_scores(turns, judge, seed)
    gold, said = turns.gold_frame(), turns.prediction_frame(raw)
    known = pl.col("rater").is_in(pl.Series(sorted(train)).implode())
    learned, judged = gold.filter(known), gold.filter(~known)
    found: dict[str, list[pl.DataFrame]] = {"reference_cdf": [], "ordinal": []}
    for task in gold["task"].unique().sort():
        population = fit_population(SourceTurns.of(learned, task, said))
        own = judged.filter(pl.col("task") == task).select("sample_id")
        source = SourceTurns.of(judged, task, said)
        target = TargetTurns(task, said.join(own, on="sample_id", how="semi", maintain_order="left"))
        for made in (reference_cdf(source, target, target), ordinal(source, target, population)):
            found[made.method].append(made.frame.select("sample_id", "score"))
    others = np.array([name not in train for name in turns.raters])[turns.rater]
    fixed = {"raw": raw, "oracle": oracle_scores(turns, raw), "best": best_scores(turns)}
    return {
        "judge": judge.name,
        "raters": len(turns.raters) - len(train),
        **{name: float(np.abs(scores - turns.gold)[others].mean()) for name, scores in fixed.items()},
        **{name: _mean_apart(judged.join(pl.concat(parts), on="sample_id")) for name, parts in found.items()},
    }


def shortened(gold: pl.DataFrame, task: str, most: int | None) -> pl.DataFrame:
    """Gold of which each rater has at most ``most`` source turns for a target task."""
    source = gold.filter(pl.col("task") != task)
    if most is None:
        return source
    keys = [hashlib.sha256(name.encode()).hexdigest() for name in source["sample_id"]]
    ordered = source.with_columns(key=pl.Series(keys, dtype=pl.String)).sort("rater", "key")
    return ordered.filter(pl.int_range(pl.len()).over("rater") < most).drop("key")


def _errors(gold: pl.DataFrame, said: pl.DataFrame, most: int | None) -> dict[str, float]:
    found: dict[str, list[pl.DataFrame]] = {name: [] for name in METHODS}
    for task in gold["task"].unique().sort():
        source = SourceTurns.of(shortened(gold, task, most), task, said)
        own = gold.filter(pl.col("task") == task).select("sample_id")
        target = TargetTurns(task, said.join(own, on="sample_id", how="semi", maintain_order="left"))
        for made in _calibrations(source, target):
            found[made.method].append(made.frame.select("sample_id", "score"))
    return {name: _mean_apart(gold.join(pl.concat(parts), on="sample_id")) for name, parts in found.items()}


def _calibrations(source: SourceTurns, target: TargetTurns) -> Iterator[Calibrated]:
    yield mean_shift(source, target)
    yield block_cdf(source, target)
    yield reference_cdf(source, target, target)
    yield ordinal(source, target)


def _recovered(turns: PlantedTurns, gold: pl.DataFrame, said: pl.DataFrame, most: int | None) -> float:
    """How well the ordinal model finds each rater's border of satisfaction, on average over target tasks."""
    planted = dict(zip(turns.raters, turns.thresholds[:, _BORDER] - turns.leniency, strict=True))
    found = []
    for task in gold["task"].unique().sort():
        raters, fitted = fitted_thresholds(SourceTurns.of(shortened(gold, task, most), task, said))
        found.append(np.corrcoef([planted[name] for name in raters], fitted[:, _BORDER])[0, 1])
    return float(np.mean(found))


def _mean_apart(both: pl.DataFrame) -> float:
    return float((both["gold"] - both["score"]).abs().to_numpy().mean())


def _error(turns: PlantedTurns, scores: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> float:
    return float(np.abs(scores - turns.gold).mean())


def main(argv: Sequence[str] | None = None) -> int:
    """Print the curves; see ``--help``."""
    made = parser(
        "evaluators.satisfaction.curves",
        "How well judges could do on planted raters, and how many turns calibration needs.",
        "python -m evaluators.satisfaction.curves persturn@1.0.0",
    )
    made.add_argument("release", metavar="NAME@X.Y.Z", help="a release with planted raters, or its folder")
    made.add_argument("--frozen", type=Path, default=FROZEN, metavar="DIR", help=f"frozen releases (default: {FROZEN})")
    made.add_argument(
        "--seeds", type=whole_number(1, 1000), metavar="N",
        help=f"instead: how much of the error of {HARSH.name} is undone, with N draws of that judge's noise",
    )  # fmt: skip
    return run(_command, made, argv)


def _command(parsed: argparse.Namespace) -> int:
    release = open_release(parsed.release, parsed.frozen)
    for table in ("raters", "ratings", "splits"):
        if not release.tables.get(table):
            raise RequestError(f"no {table}", release.name, fix="Take a release of planted raters, such as persturn")
    turns = planted_turns(list(release.rows("raters")), list(release.rows("ratings")))
    if parsed.seeds is not None:
        return _over_seeds(turns, parsed)
    train = {row["rater_id"] for row in release.rows("splits") if row["split"] == "train"}
    rows = [row for judge in JUDGES for row in curve(turns, judge, parsed.seed)]
    others = [held_out(turns, judge, parsed.seed, train) for judge in JUDGES]
    if parsed.json:
        print_json(
            {
                "turns": len(turns.gold),
                "raters": len(turns.raters),
                "seed": parsed.seed,
                "curves": rows,
                "held_out": others,
            }
        )
        return DONE
    columns = ("raw", *METHODS, "oracle", "best", "recovered")
    say(f"mean absolute error, {len(turns.gold):,} turns of {len(turns.raters)} raters", quiet=parsed.quiet)
    say(f"{'judge':<9}{'history':>8}" + "".join(f"{name:>15}" for name in columns), quiet=parsed.quiet)
    for row in rows:
        history = "all" if row["history"] is None else row["history"]
        line = f"{row['judge']:<9}{history:>8}" + "".join(f"{row[name]:>15.3f}" for name in columns)
        say(line, quiet=parsed.quiet)
    _say_held_out(others, parsed.quiet)
    return DONE


def _over_seeds(turns: PlantedTurns, parsed: argparse.Namespace) -> int:
    """``--seeds``: the least share undone by each method, and how often ours is at least as good as the official."""
    found = [undone(turns, HARSH, parsed.seed + place) for place in range(parsed.seeds)]
    least = {method: min(one[method] for one in found) for method in METHODS}
    ahead = sum(one["ordinal"] >= one["reference_cdf"] for one in found)
    if parsed.json:
        print_json({"judge": HARSH.name, "seed": parsed.seed, "undone": found, "least": least, "ordinal_ahead": ahead})
        return DONE
    told = f"of the error of {HARSH.name} that the oracle undoes, {parsed.seeds} draws of its noise, at least"
    say(told, quiet=parsed.quiet)
    for method, share in least.items():
        say(f"  {method:<15}{100 * share:.0f} %", quiet=parsed.quiet)
    say(f"ordinal is at least as good as reference_cdf in {ahead} of {parsed.seeds}", quiet=parsed.quiet)
    return DONE


def _say_held_out(rows: Sequence[Mapping[str, Any]], quiet: bool) -> None:
    columns = ("raw", "reference_cdf", "ordinal", "oracle", "best")
    raters = rows[0]["raters"]
    say(f"\n{raters} held-out raters, thresholds of the population from the others", quiet=quiet)
    say(f"{'judge':<9}" + "".join(f"{name:>15}" for name in columns), quiet=quiet)
    for row in rows:
        say(f"{row['judge']:<9}" + "".join(f"{row[name]:>15.3f}" for name in columns), quiet=quiet)


if __name__ == "__main__":
    raise SystemExit(main())
