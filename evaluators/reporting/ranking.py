"""Ranks of runs as a section: best first, ties said."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from evaluators.reporting.lines import metric_name
from evaluators.reporting.parts import Section, table
from evaluators.scoring.ranking import Ranked


def ranking(ranks: Sequence[Ranked], drawn: str) -> Section:
    """All runs, best first; runs whose difference may be nothing share a rank. ``drawn`` says what is resampled."""
    rows = [
        [
            escape(one.name),
            f"{one.rank}",
            escape(ranked_by(one.metric)),
            f"{one.value:.3f}",
            escape(", ".join(one.tied)),
        ]
        for one in ranks
    ]
    note = (
        '<p class="note">Two runs are ranked apart where the 95 % interval of their paired difference leaves out 0. '
        f"{drawn} A rank is one more than the number of runs that are better, so that several may share one.</p>"
    )
    body = table(["Run", "Rank", "By", "Value", "Tied with"], rows, 9) + note if len(rows) > 1 else ""
    return Section("ranking", "Ranking", body)


def ranked_by(metric: str) -> str:
    """What runs are ranked by: the figure's name for people, and the judge or setting."""
    name, comma, rest = metric.partition(", ")
    return f"{metric_name(name)}{comma}{rest}"
