"""Splits: which raters train and which are evaluated.

PersTurnBench 4.1 and the released code: scikit-learn's GroupShuffleSplit by rater, train 0.2 and test 0.8, seed 42; of
112 raters 22 train and 90 are evaluated. Only raters with conversations in two task families or more take part, since
a target task needs a history; others are marked "none".

    python -m builders.splits --benchmark persturn
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from builders.pipeline.command import StepCommand
from builders.pipeline.provenance import computed
from builders.pipeline.run import Done, Option, Run
from builders.pipeline.staleness import inputs_digest, write_if_stale
from schemas.command import whole_number
from schemas.errors import RequestError
from schemas.tables import Row

READS = ("conversations",)
MAKES = ("splits",)

SPLIT_SEED = Option(
    "--split-seed", "seed of the split, as published", default=42, read=whole_number(0, 2**32 - 1), metavar="N"
)
OPTIONS = (SPLIT_SEED,)

_TRAIN = 0.2


def split_raters(rater_ids: Collection[str], seed: int) -> dict[str, str]:
    """Train or test of each rater, as GroupShuffleSplit draws it. Raises RequestError for fewer than five raters."""
    from sklearn.model_selection import GroupShuffleSplit

    names = sorted(rater_ids)
    if len(names) < 5:
        raise RequestError("too few raters", "splits", expected="at least 5 with conversations in two task families")
    shuffled = GroupShuffleSplit(n_splits=1, train_size=_TRAIN, test_size=1.0 - _TRAIN, random_state=seed)
    train, _ = next(shuffled.split(names, groups=names))
    return {name: "train" if place in set(train.tolist()) else "test" for place, name in enumerate(names)}


def split_rows(conversations: Iterable[Mapping[str, str]], split_seed: int, seed: int) -> list[Row]:
    """A row for every rater with conversations."""
    tasks = defaultdict(set)
    for row in conversations:
        tasks[row["rater_id"]].add(row["task"])
    drawn = split_raters([name for name, own in tasks.items() if len(own) > 1], split_seed)
    return [
        {"rater_id": name, "split": drawn.get(name, "none"), "published": [], "provenance": computed(seed)}
        for name in sorted(tasks)
    ]


def build(run: Run) -> Done:
    """Write the split of all raters."""
    seed = SPLIT_SEED.of(run)
    digest = inputs_digest(run.space, READS, seed=run.seed, split_seed=seed)
    make = functools.partial(split_rows, run.space.rows("conversations"), seed, run.seed)
    return Done([write_if_stale(run.space, "splits", digest, make, run.fresh)])


def main(argv: Sequence[str] | None = None) -> int:
    """Write the split; see ``--help``."""
    return StepCommand(
        "splits", "Draw which raters train and which are evaluated.", "python -m builders.splits --benchmark persturn",
        build, OPTIONS, asks=False,
    ).main(argv)  # fmt: skip


if __name__ == "__main__":
    raise SystemExit(main())
