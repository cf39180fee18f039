"""Candidates in replay as a section: means under one calibration, and win, tie and loss pair by pair.

    python -m evaluators report build/evaluations/persturn@1.0.1/satisfaction.reference_cdf.json --out report.html

PersTurnBench 5.2, Tables 7 and 8, Figure 3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from evaluators.reporting.parts import Section, table

Result = Mapping[str, Any]

_HEAD = ("Candidate", "Mean of turns", "The same, raw", "Mean of raters", "Satisfied", "Planted", "Turns", "Missing")
_OTHERS = ("Candidate", "Mean of tasks", "Mean of blocks", "Mean of raters, 95 % as published")


def replay(figures: Result) -> Section:
    """Candidates under one calibration, and how they compare pair by pair."""
    body = ""
    for one in figures["replay"]:
        heading = f"{escape(one['selection'])} turns, judged by {escape(one['judge'])}, {escape(one['metric'])}"
        body += f"<h3>{heading}; {escape(one['calibration'])}</h3>"
        body += table(_HEAD, [_candidate(row) for row in one["candidates"]])
        others = table(_OTHERS, [_other_means(row) for row in one["candidates"] if row["figures"] is not None])
        body += f"<details><summary>Other means</summary>{others}</details>"
        pairs = [_outcome(two, group) for two in one["pairs"] if two["outcomes"] for group in two["outcomes"]]
        columns = ["Pair", "By", "Win", "Tie", "Lose", "Won of what is no tie", "Difference", "Compared"]
        body += f"<details><summary>Pair by pair</summary>{table(columns, pairs, 2)}</details>"
    lead = (
        "Candidates answer the same turns; one judge and one calibration for all of them, the recorded replies too. The"
        " interval belongs to the mean of raters: others like these, drawn anew. Planted is the mean score that raters"
        " would give most likely, known where a reply's quality was planted. Another judge or calibration changes the"
        " figures; hard turns were chosen by low scores, so a mean over them is none over turns."
    )
    return Section("replay", "Candidates in replay", body, lead)


def _candidate(row: Result) -> list[str]:
    figures, raw = row["figures"], row["raw"]
    planted = "–" if row["planted"] is None else f"{row['planted']:.3f}"
    if figures is None:
        return [escape(row["name"]), *["–"] * 4, planted, "0", f"{row['missing']:,}"]
    return [
        escape(row["name"]), f"{figures['micro']:.3f}", f"{raw['micro']:.3f}",
        f"{figures['rater']:.3f} <small>{bounds(row['interval'])}</small>", f"{100 * figures['sat_rate']:.1f} %",
        planted, f"{row['turns']:,}", f"{row['missing']:,}",
    ]  # fmt: skip


def _other_means(row: Result) -> list[str]:
    figures = row["figures"]
    return [escape(row["name"]), f"{figures['task']:.3f}", f"{figures['block']:.3f}", pair(row["published"])]


def _outcome(two: Result, group: str) -> list[str]:
    own = two["outcomes"][group]
    won = "–" if own["won"] is None else f"{100 * own['won']:.1f} %"
    shares = [f"{100 * own[name]:.1f} %" for name in ("win", "tie", "lose")]
    name = f"{escape(two['first'])} <small>against {escape(two['second'])}</small>"
    return [name, group, *shares, won, f"{own['delta']:+.3f}", f"{int(own['count']):,}"]


def bounds(one: Result) -> str:
    """The ends of an interval."""
    return "–" if one["low"] is None else f"{one['low']:.3f} to {one['high']:.3f}"


def pair(ends: Sequence[float] | None) -> str:
    """Two ends that stand by themselves."""
    return "–" if ends is None else f"{ends[0]:.3f} to {ends[1]:.3f}"
