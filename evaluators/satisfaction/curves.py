"""Known figures of planted raters: how well a judge could do, and how many turns a calibrator needs.

Reads ``raters`` and ``ratings`` of a release, and measures offline judges with planted bias, raw and calibrated, with
growing numbers of source turns for each rater (``schemas.satisfaction.curves`` says what each column is). A release of
planted raters has the same figures in its manifest and on its card, where ``releases verify`` measures them again; here
are other seeds, raters held out, and how much of the error is undone over many draws.

    python -m evaluators.satisfaction.curves persturn@1.0.1
    python -m evaluators.satisfaction.curves persturn@1.0.1 --markdown
    python -m evaluators.satisfaction.curves persturn@1.0.1 --json
    python -m evaluators.satisfaction.curves persturn@1.0.1 --seeds 20
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from releases import open_release
from releases.cards.curves import table, turns_of
from schemas.command import DONE, parser, print_json, run, say, whole_number
from schemas.errors import RequestError
from schemas.release_names import FROZEN
from schemas.satisfaction.curves import COLUMNS, HARSH, METHODS, curve, held_out, undone
from schemas.satisfaction.planted import JUDGES, PlantedTurns


def main(argv: Sequence[str] | None = None) -> int:
    """Print the curves; see ``--help``."""
    made = parser(
        "evaluators.satisfaction.curves",
        "How well judges could do on planted raters, and how many turns calibration needs.",
        "python -m evaluators.satisfaction.curves persturn@1.0.1",
    )
    made.add_argument("release", metavar="NAME@X.Y.Z", help="a release with planted raters, or its folder")
    made.add_argument("--frozen", type=Path, default=FROZEN, metavar="DIR", help=f"frozen releases (default: {FROZEN})")
    instead = made.add_mutually_exclusive_group()
    instead.add_argument(
        "--seeds", type=whole_number(1, 1000), metavar="N",
        help=f"instead: how much of the error of {HARSH.name} is undone, with N draws of that judge's noise",
    )  # fmt: skip
    instead.add_argument("--markdown", action="store_true", help="print the table as the release's card shows it")
    return run(_command, made, argv)


def _command(parsed: argparse.Namespace) -> int:
    release = open_release(parsed.release, parsed.frozen)
    for name in ("raters", "ratings", "splits"):
        if not release.tables.get(name):
            raise RequestError(f"no {name}", release.name, fix="Take a release of planted raters, such as persturn")
    turns = turns_of(release, "raters", "ratings")
    if parsed.seeds is not None:
        return _over_seeds(turns, parsed)
    rows = [row for judge in JUDGES for row in curve(turns, judge, parsed.seed)]
    if parsed.markdown and not parsed.json:
        sys.stdout.write(f"{table(rows)}\n")
        return DONE
    train = {row["rater_id"] for row in release.rows("splits") if row["split"] == "train"} & {*turns.raters}
    others = [held_out(turns, judge, parsed.seed, train) for judge in JUDGES]
    if parsed.json:
        document = {"turns": len(turns.gold), "raters": len(turns.raters), "seed": parsed.seed}
        print_json({**document, "curves": rows, "held_out": others})
        return DONE
    _say_curves(turns, rows, parsed.quiet)
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


def _say_curves(turns: PlantedTurns, rows: Sequence[Mapping[str, Any]], quiet: bool) -> None:
    columns = (*COLUMNS, "recovered")
    say(f"mean absolute error, {len(turns.gold):,} turns of {len(turns.raters)} raters", quiet=quiet)
    say(f"{'judge':<9}{'history':>8}" + "".join(f"{name:>15}" for name in columns), quiet=quiet)
    for row in rows:
        history = "all" if row["history"] is None else row["history"]
        shown = ("not defined" if row[name] is None else f"{row[name]:.3f}" for name in columns)
        say(f"{row['judge']:<9}{history:>8}" + "".join(f"{value:>15}" for value in shown), quiet=quiet)


def _say_held_out(rows: Sequence[Mapping[str, Any]], quiet: bool) -> None:
    columns = ("raw", "reference_cdf", "ordinal", "oracle", "best")
    raters = rows[0]["raters"]
    say(f"\n{raters} held-out raters, thresholds of the population from the others", quiet=quiet)
    say(f"{'judge':<9}" + "".join(f"{name:>15}" for name in columns), quiet=quiet)
    for row in rows:
        say(f"{row['judge']:<9}" + "".join(f"{row[name]:>15.3f}" for name in columns), quiet=quiet)


if __name__ == "__main__":
    raise SystemExit(main())
