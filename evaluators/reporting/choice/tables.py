"""The tables of the report: results beside their floors, paired differences, order of the options.

Each function returns one section, empty where there is nothing to say. All text that comes from a
release or a result goes through ``escape``.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any, get_args

from evaluators.protocols.baselines import READING
from evaluators.reporting.charts import interval, percent, points
from evaluators.reporting.choice.lines import same_as_floors
from evaluators.reporting.choice.runs import Report
from evaluators.reporting.parts import Section, table
from evaluators.scoring.parsing import State

_FLOORS = {
    "random": "an option at random",
    "longest": "the longest option",
    "options": "a classifier that reads only the options",
    "nearest": "the option most like anything remembered",
    "reader": "the option put in the person’s words rather than in other people’s",
}

_STATES = get_args(State)
_OVER = ("scenarios", "characters", "both")


def results(report: Report) -> Section:
    """Accuracy with its intervals for every run and baseline, and how far above the floor."""
    rows = []
    floors = {floor["name"]: floor for floor in report.compared["floors"]}
    for name, result in zip(report.names, report.results, strict=True):
        figures, floor = result["figures"], floors[name]
        spreads = {one["over"]: one for one in figures["intervals"]}
        rows.append(
            [
                f"<strong>{escape(name)}</strong>",
                f'<span data-value="{figures["overall"]["rate"]:.6f}">{_headline(figures)}</span>',
                interval(figures["overall"]),
                _range(spreads["characters"]),
                _range(spreads["both"]),
                percent(figures["answered"]["rate"]),
                f"{points(floor['difference'])} <small>{escape(floor['baseline'])}</small>",
                _p(floor["p_characters"]),
            ]
        )
    rows += _floors(report)
    head = [
        "Run", "Accuracy", "These questions", "Characters like these", "Characters and scenarios like these",
        "Of scored", "Over best floor", "p",
    ]  # fmt: skip
    note = (
        '<p class="note">Accuracy counts everything that was not scored as wrong; “of scored” leaves it out. With '
        "several orders or samples a question counts by the share of replies that are right. The three intervals are "
        "at 95 %: Wilson’s takes questions as independent and speaks of these very questions; the others draw whole "
        "characters, or characters and scenarios, anew. “Over best floor” is the difference to the best baseline on "
        "the same questions, in percentage points; p turns the signs of whole characters. Baselines (in italics) need "
        "no model; <em>nearest</em> and <em>reader</em> read what the setting retrieves and nothing else. A figure "
        "changes with the memories that are retrieved, the wording of the options, and who the characters are.</p>"
    )
    return Section("results", "Results", table(head, rows) + note)


def replies(report: Report) -> Section:
    """What became of the replies, which letters were chosen, what was retrieved, and what it cost."""
    rows = []
    for name, result in zip(report.names, report.results, strict=True):
        figures, used = result["figures"], result["used"]
        alike = {floor: share for floor, share in same_as_floors(result).items() if share is not None}
        closest = max(alike, key=lambda floor: alike[floor], default=None)
        rows.append(
            [
                escape(name),
                *(f"{figures['states'][state]:,}" for state in _STATES),
                ", ".join(f"{letter} {count:,}" for letter, count in figures["letters"].items()),
                f"{closest} <small>{percent(alike[closest])}</small>" if closest else "–",
                percent(figures["recall"]),
                f"{used['input_tokens']:,} / {used['output_tokens']:,} <small>{_cost(used['cost'])}</small>",
            ]
        )
    head = [
        "Run",
        *(state.capitalize() for state in _STATES),
        "Letters",
        "Most like",
        "Recall",
        "Tokens in / out, cost",
    ]
    lead = (
        "Replies by what became of them; the letters chosen, as they were shown: a model that always says A is seen "
        "here. Most like: the baseline with which a run shares most choices; near 100 % the run goes by what that one "
        "goes by. Recall is the share of the memories that a situation calls up which the setting retrieved."
    )
    return Section("replies", "Replies and cost", table(head, rows), lead)


def _cost(cost: float | None) -> str:
    return "no price known" if cost is None else f"${cost:,.4f}"


def _headline(figures: Mapping[str, Any]) -> str:
    """The accuracy, or that too little was scored for one."""
    return percent(figures["overall"]["rate"]) if figures["headline"] else "too few scored"


def _floors(report: Report) -> list[list[str]]:
    """A row a baseline; those that read memories have one a setting."""
    rows = []
    for name, about in _FLOORS.items():
        by_setting = {result["run"]["setting"]: result["figures"]["baselines"].get(name) for result in report.results}
        reads = name in READING
        for setting, floor in by_setting.items() if reads else [next(iter(by_setting.items()))]:
            cells = [percent(floor["rate"]), interval(floor)] if floor else ["not possible", "nothing remembered"]
            where = f", {escape(setting)}" if reads else ""
            rows.append([f"<em>{name}{where}</em> <small>{about}</small>", *cells, *[""] * 5])
    return rows


def comparisons(report: Report) -> Section:
    """Paired differences, what could have been detected, and rank correlations between settings."""
    pairs = report.compared["pairs"]
    if not pairs:
        return Section("comparisons", "Differences", "")
    best = max(zip(report.names, report.results, strict=True), key=lambda one: one[1]["figures"]["overall"]["rate"])[0]
    first = [pair for pair in pairs if best in (pair["first"], pair["second"])]
    others = [pair for pair in pairs if pair not in first]
    head = ["Runs", "Points", *(f"95 %, {over}" for over in _OVER), "McNemar p", "p, characters", "Detectable"]
    note = (
        '<p class="note">Points of accuracy on the same questions; below them how many only this or the other run '
        "has right. Each interval says what is resampled. McNemar’s exact test counts questions as independent; the "
        "test beside it turns the signs of whole characters, with Holm’s correction for all pairs below. “Detectable” "
        "is the smallest difference these two runs would show with 80 % power, questions counted as independent.</p>"
    )
    ranks = [
        f"{escape(pair['first'])} and {escape(pair['second'])}: "
        + (f"{pair['rho']:.3f} over {pair['models']} models" if pair["rho"] is not None else "fewer than 3 models")
        for pair in report.compared["settings"]
    ]
    between = f"<p>Rank correlation of models between settings (Spearman): {'; '.join(ranks)}.</p>" if ranks else ""
    body = table(head, [_compared(pair) for pair in first]) + note
    if others:
        rest = table(head, [_compared(pair) for pair in others])
        body += f"<details><summary>The other {len(others)} pairs</summary>{rest}</details>"
    return Section("comparisons", "Differences", body + between)


def _compared(pair: Mapping[str, Any]) -> list[str]:
    adjusted = "" if pair["p_holm"] is None else f" <small>Holm {_p(pair['p_holm'])}</small>"
    return [
        f"{escape(pair['second'])} <small>against {escape(pair['first'])}</small>",
        f"{points(pair['difference'])} <small>{pair['only_second']} / {pair['only_first']}</small>",
        *(_bounds(next(one for one in pair["intervals"] if one["over"] == over)) for over in _OVER),
        _p(pair["p"]),
        f"{_p(pair['p_characters'])}{adjusted}",
        f"{100 * pair['detectable']:.1f}",
    ]


def _bounds(spread: Mapping[str, Any]) -> str:
    return "–" if spread["low"] is None else f"{points(spread['low'])} to {points(spread['high'])}"


def _range(spread: Mapping[str, Any]) -> str:
    return "–" if spread["low"] is None else f"{100 * spread['low']:.1f}–{100 * spread['high']:.1f}"


def orders(report: Report) -> Section:
    """What rotating the options changes."""
    rows = []
    for name, result in zip(report.names, report.results, strict=True):
        found = result["figures"]["orders"]
        if found:
            rows.append(
                [
                    escape(name),
                    percent(found["same"]["rate"]),
                    interval(found["same"]),
                    percent(found["all"]["rate"]),
                    ", ".join(percent(one["rate"]) for one in found["accuracy"]),
                ]
            )
    head = ["Run", "Same in all", "95 %", "Right in all", "Accuracy by order"]
    lead = (
        "The same questions with their options rotated: a model that reads chooses the same option wherever it stands."
    )
    return Section("orders", "Order of the options", table(head, rows) if rows else "", lead)


def samples(report: Report) -> Section:
    """How far samples of the same question differ, against how far questions do."""
    rows = []
    for name, result in zip(report.names, report.results, strict=True):
        found = result["figures"]["samples"]
        if found:
            reliability = "–" if found["reliability"] is None else f"{found['reliability']:.3f}"
            rows.append(
                [
                    escape(name),
                    f"{found['count']}",
                    f"{found['within']:.4f}",
                    f"{found['between']:.4f}",
                    reliability,
                    f"± {100 * found['se_samples']:.1f}",
                    percent(found["same"]["rate"]),
                ]
            )
    head = ["Run", "Samples", "Variance, samples", "Variance, questions", "Reliability", "Asked again", "Same choice"]
    lead = (
        "Each question asked several times. Reliability is the share of the variance that lies between questions; "
        "“asked again” is the standard error of the accuracy, in percentage points, if the same questions were asked "
        "once more."
    )
    return Section("samples", "Samples of the same question", table(head, rows) if rows else "", lead)


def _p(value: float | None) -> str:
    if value is None:
        return "–"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
