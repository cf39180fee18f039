"""Rubrics: the metrics of likability as a table, so that a release says what its scores mean.

LikeBench 3.1.1 and Tables 19 to 25. The wording stands in the vocabulary ``likability_metrics`` and nowhere else.

    python -m builders.rubrics --benchmark likebench
"""

from __future__ import annotations

from collections.abc import Sequence

from builders.pipeline.command import StepCommand
from builders.pipeline.provenance import computed
from builders.pipeline.run import Done, Run
from builders.pipeline.staleness import inputs_digest, write_if_stale
from schemas.records import vocabulary
from schemas.tables import Row

MAKES = ("rubrics",)


def rubrics(seed: int) -> list[Row]:
    """One row a metric, in the order of the vocabulary."""
    return [
        {
            "metric": metric["id"],
            "definition": metric["text"],
            "question": metric["question"],
            "not_applicable": metric["not_applicable"],
            "levels": [dict(level) for level in metric["levels"]],
            "provenance": computed(seed),
        }
        for metric in vocabulary("likability_metrics")
    ]


def build(run: Run) -> Done:
    """Bring the table up to date."""
    digest = inputs_digest(run.space, (), seed=run.seed)
    return Done([write_if_stale(run.space, "rubrics", digest, lambda: rubrics(run.seed), run.fresh)])


def main(argv: Sequence[str] | None = None) -> int:
    """Write the rubrics; see ``--help``."""
    return StepCommand(
        name="rubrics",
        description="Write what each metric asks and what each score means.",
        example="python -m builders.rubrics --benchmark likebench",
        build=build,
        asks=False,
    ).main(argv)


if __name__ == "__main__":
    raise SystemExit(main())
