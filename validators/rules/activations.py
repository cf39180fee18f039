"""Activations: coarse screens what the character had lived through, fine ranks at most 50 of that.

HEART-BENCH appendix D.1 and G.4. The published files break several of these rules (ids the fine step
never was offered, a memory twice, ages of an older scenario file); they are findings like any other.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from validators.frames import ROW, Crossing, Rule
from validators.rules.parts import all_of_character, repeated

FINE_TARGET = 50  # G.4.2
BUDGET, MOST_OF_ALL = 75, 0.5  # G.4.1: the share offered to the screener is min(0.5, 75 / eligible)
_ROUNDING = 0.0005 + 1e-9  # published shares have three decimals

_D_1, _G_4_1, _G_4_2 = (f"HEART-BENCH appendix {part}" for part in ("D.1", "G.4.1", "G.4.2"))

_COARSE_ONLY, _FINE_ONLY = ("eligible", "ratio"), ("offered", "skipped", "compact")


def rules() -> tuple[Rule, ...]:
    """The rules of ``activations``."""
    ids = pl.col("memories").list.eval(pl.element().struct.field("memory_id"))
    return (all_of_character("memories", ids, "memories"), *_steps(), *_counts(ids), *_batches())


def _steps() -> tuple[Rule, ...]:
    coarse = pl.col("step") == "coarse"
    null = {column: pl.col(column).is_null() for column in (*_COARSE_ONLY, *_FINE_ONLY)}
    own = pl.when(coarse).then(~null["eligible"] & ~null["ratio"]).otherwise(~null["offered"])
    strange = pl.when(coarse).then(_any(_FINE_ONLY)).otherwise(_any(_COARSE_ONLY))
    share = pl.min_horizontal(pl.lit(MOST_OF_ALL), BUDGET / pl.col("eligible"))
    return (
        Rule(
            "table.step_fields",
            "step",
            own & ~strange,
            pl.col("step"),
            "has fields of the other step, or lacks its own",
            _D_1,
        ),
        Rule(
            "table.screening_share",
            "ratio",
            ~coarse | ((pl.col("ratio") - share).abs() <= _ROUNDING),
            pl.format("{} of {}", "ratio", "eligible"),
            f"is not min({MOST_OF_ALL}, {BUDGET} / eligible)",
            _G_4_1,
        ),
    )


def _any(columns: tuple[str, ...]) -> pl.Expr:
    return pl.any_horizontal([pl.col(column).is_not_null() for column in columns])


def _counts(ids: pl.Expr) -> tuple[Rule, ...]:
    fine, count, offered = pl.col("step") == "fine", pl.col("memories").list.len(), pl.col("offered")
    twice = repeated(ids)
    return (
        Rule(
            "table.memory_twice",
            "memories",
            twice.list.len() == 0,
            twice.list.join(", "),
            "is activated twice",
            _G_4_2,
        ),
        Rule(
            "table.fine_over_target",
            "memories",
            ~fine | (count <= FINE_TARGET),
            count,
            f"is more than the {FINE_TARGET} memories of the fine step",
            _G_4_2,
        ),
        Rule(
            "table.fine_short",
            "memories",
            ~fine | (count >= pl.min_horizontal(pl.lit(FINE_TARGET), offered)),
            pl.format("{} of {} offered", count, offered),
            f"is fewer than the fine step keeps: {FINE_TARGET}, or all",
            _G_4_2,
            "warning",
        ),
        Rule(
            "table.activated_count",
            "activated",
            pl.col("activated") == count,
            pl.format("{} for {} memories", "activated", count),
            "is a wrong count",
            "released data",
            "warning",
        ),
    )


def _batches() -> tuple[Rule, ...]:
    batches = pl.col("batches")
    ages = batches.list.eval(pl.element().struct.field("age"))
    offered = batches.list.eval(pl.element().struct.field("offered"))
    over = batches.list.eval(pl.element().struct.field("activated") > pl.element().struct.field("offered"))
    none = batches.list.len() == 0
    rising = (ages.list.diff(null_behavior="drop").list.min() > 0).fill_null(True)
    return (
        Rule(
            "table.batch_ages",
            "batches",
            none | (rising & (ages.list.max() <= pl.col("scenario_age"))),
            ages.list.eval(pl.element().cast(pl.String)).list.join(", "),
            "are ages that do not rise up to the scenario's",
            _G_4_1,
        ),
        Rule(
            "table.batch_counts",
            "batches",
            none | ((offered.list.sum() == pl.col("eligible")) & ~over.list.any()),
            pl.format("{} offered of {}", offered.list.sum(), pl.col("eligible").fill_null(0)),
            "is not all eligible memories, or a batch keeps more than it offers",
            _G_4_1,
        ),
    )


def crossings() -> tuple[Crossing, ...]:
    """The crossings of ``activations``."""
    pair = ("character_id", "scenario_id", "step")
    return (
        Crossing(
            "table.fine_outside_coarse",
            "activations",
            "memories",
            {"activations": (*pair, "memories")},
            _fine_outside_coarse,
            "is ranked, and the coarse step did not keep it",
            _G_4_2,
        ),
        Crossing(
            "table.scenario_age",
            "activations",
            "scenario_age",
            {"activations": (*pair, "scenario_age"), "scenarios": ("id", "age")},
            _other_age,
            "is not the age of the scenario",
            _D_1,
        ),
        Crossing(
            "table.future_memory",
            "activations",
            "memories",
            {"activations": (*pair, "memories", "scenario_age"), "memories": ("id", "age")},
            _future,
            "is from after the scenario",
            "HEART-BENCH 3.4, appendix D.1",
        ),
    )


def _exploded(activations: pl.DataFrame) -> pl.DataFrame:
    listed = activations.explode("memories").drop_nulls("memories")
    return listed.with_columns(memory_id=pl.col("memories").struct.field("memory_id"))


def _per_row(listed: pl.DataFrame) -> pl.DataFrame:
    """One row an activation, quoting the first of its memories and how many there are."""
    first, count = pl.col("memory_id").first(), pl.len()
    return listed.group_by(ROW, maintain_order=True).agg(shown=pl.format("{} ({} in all)", first, count))


def _fine_outside_coarse(frames: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    listed, pair = _exploded(frames["activations"]), ["character_id", "scenario_id"]
    coarse, fine = listed.filter(step="coarse"), listed.filter(step="fine")
    # A pair whose coarse row is not there (a single file) says nothing about its fine row.
    screened = frames["activations"].filter(step="coarse").select(pair)
    known = fine.join(screened, on=pair, how="semi")
    return _per_row(known.join(coarse, on=[*pair, "memory_id"], how="anti"))


def _other_age(frames: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    both = frames["activations"].join(frames["scenarios"].select("id", "age"), left_on="scenario_id", right_on="id")
    differing = both.filter(pl.col("scenario_age") != pl.col("age"))
    return differing.select(ROW, shown=pl.format("{} where the scenario has {}", "scenario_age", "age"))


def _future(frames: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    listed = _exploded(frames["activations"])
    both = listed.join(frames["memories"].select("id", "age"), left_on="memory_id", right_on="id")
    return _per_row(both.filter(pl.col("age") > pl.col("scenario_age")))
