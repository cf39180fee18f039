"""The tables of the report: results beside their floors, paired differences, order of the options.

Each function returns one section, empty where there is nothing to say. All text that comes from a
release or a result goes through ``escape``.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from evaluators.protocols.baselines import READING
from evaluators.reporting.charts import interval, percent, points
from evaluators.reporting.choice.runs import Report
from evaluators.reporting.parts import Section, table

_FLOORS = {
    "random": "an option at random",
    "longest": "the longest option",
    "options": "a classifier that reads only the options",
    "nearest": "the option most like anything remembered",
    "reader": "the option put in the person’s words rather than in other people’s",
}

_STATES = ("scored", "unscored", "refused", "truncated", "failed")
_OVER = ("scenarios", "characters", "both")


def results(report: Report) -> Section:
    """Accuracy with its interval for every run and baseline, and how far above the floor."""
    rows = []
    floors = {floor["name"]: floor for floor in report.compared["floors"]}
    for name, result in zip(report.names, report.results, strict=True):
        figures, floor = result["figures"], floors[name]
        states = figures["states"]
        rows.append(
            [
                f"<strong>{escape(name)}</strong>",
                f'<span data-value="{figures["overall"]["rate"]:.6f}">{_headline(figures)}</span>',
                interval(figures["overall"]),
                percent(figures["answered"]["rate"]),
                " / ".join(str(states[name]) for name in _STATES),
                " / ".join(str(count) for count in figures["letters"].values()),
                percent(figures["recall"]),
                f"{points(floor['difference'])} ({escape(floor['baseline'])})",
                _p(floor["p"]),
            ]
        )
    rows += _floors(report)
    head = ["Run", "Accuracy", "95 %", "Of scored", " / ".join(_STATES), "Letters", "Recall", "Over best floor", "p"]
    figures = report.results[0]["figures"]
    note = (
        f'<p class="note">Accuracy counts everything that was not scored as wrong; “of scored” leaves it out. With '
        "several orders a question counts by the share of orders answered right. “Letters” are those chosen, as shown; "
        "“Recall” is the share of the memories that a situation calls up which the setting retrieved. "
        ""
        "Intervals are Wilson’s: of a hundred such intervals, about 95 hold the true rate. “Over best floor” is the "
        "difference to the best baseline on the same questions, in points of a per cent; p says how often chance "
        "alone would give a difference at least so large, if questions were independent (McNemar’s exact test). "
        "Baselines (in italics) need no model; <em>nearest</em> and <em>reader</em> read what the setting retrieves "
        f"and nothing else.{_limits(report)}</p>"
    )
    return Section("results", "Results", table(head, rows) + note)


def _headline(figures: Mapping[str, Any]) -> str:
    """The accuracy, or that too little was scored for one."""
    return percent(figures["overall"]["rate"]) if figures["headline"] else "too few scored"


def _floors(report: Report) -> list[list[str]]:
    """A row a baseline; those that read memories have one a setting."""
    rows = []
    for name, told in _FLOORS.items():
        by_setting = {result["run"]["setting"]: result["figures"]["baselines"].get(name) for result in report.results}
        reads = name in READING
        for setting, floor in by_setting.items() if reads else [next(iter(by_setting.items()))]:
            cells = [percent(floor["rate"]), interval(floor)] if floor else ["not possible", "nothing remembered"]
            where = f", {escape(setting)}" if reads else ""
            rows.append([f"<em>{name}{where}</em> <small>{told}</small>", *cells, *[""] * 6])
    return rows


def comparisons(report: Report) -> Section:
    """Paired differences, what could have been detected, and rank correlations between settings."""
    pairs = report.compared["pairs"]
    if not pairs:
        return Section("comparisons", "Differences", "")
    best = max(zip(report.names, report.results, strict=True), key=lambda one: one[1]["figures"]["overall"]["rate"])[0]
    first = [pair for pair in pairs if best in (pair["first"], pair["second"])]
    others = [pair for pair in pairs if pair not in first]
    head = [
        "Runs",
        "Points",
        *(f"95 %, {over}" for over in _OVER),
        "McNemar p",
        "p, characters",
        "Detectable",
        "Only this / other right",
        "Questions",
    ]
    note = (
        '<p class="note">Points of accuracy on the questions both runs asked. The interval resamples whole scenarios; '
        "p is McNemar’s exact test, not corrected for the number of comparisons; “detectable” is the smallest "
        "difference these two runs would show with 80 % power.</p>"
    )
    ranks = [
        f"{escape(pair['first'])} and {escape(pair['second'])}: "
        + (f"{pair['rho']:.3f} over {pair['models']} models" if pair["rho"] is not None else "fewer than 3 models")
        for pair in report.compared["settings"]
    ]
    told = f"<p>Rank correlation of models between settings (Spearman): {'; '.join(ranks)}.</p>" if ranks else ""
    body = table(head, [_compared(pair) for pair in first]) + note
    if others:
        rest = table(head, [_compared(pair) for pair in others])
        body += f"<details><summary>The other {len(others)} pairs</summary>{rest}</details>"
    return Section("comparisons", "Differences", body + told)


def _compared(pair: Mapping[str, Any]) -> list[str]:
    return [
        f"{escape(pair['second'])} <small>against {escape(pair['first'])}</small>",
        points(pair["difference"]),
        *(_bounds(next(one for one in pair["intervals"] if one["over"] == over)) for over in _OVER),
        _p(pair["p"]),
        "–" if pair["p_characters"] is None else _p(pair["p_characters"]),
        f"{100 * pair['detectable']:.1f}",
        f"{pair['only_second']} / {pair['only_first']}",
        f"{pair['items']:,}",
    ]


def _bounds(spread: Mapping[str, Any]) -> str:
    return "–" if spread["low"] is None else f"{points(spread['low'])} to {points(spread['high'])}"


def orders(report: Report) -> Section:
    """What rotating the options changes."""
    rows = []
    for name, result in zip(report.names, report.results, strict=True):
        told = result["figures"]["orders"]
        if told:
            rows.append(
                [
                    escape(name),
                    f"{percent(told['same']['rate'])}",
                    interval(told["same"]),
                    ", ".join(percent(one["rate"]) for one in told["accuracy"]),
                    " / ".join(f"{count:,}" for count in told["places"]),
                ]
            )
    head = ["Run", "Same in all", "95 %", "Accuracy by order", "Times each place was chosen"]
    lead = (
        "The same questions with their options rotated: a model that reads chooses the same option wherever it stands."
    )
    return Section("orders", "Order of the options", table(head, rows) if rows else "", lead)


def _limits(report: Report) -> str:
    fewer = {result["figures"]["questions"] for result in report.results}
    return f" Runs asked {', '.join(f'{count:,}' for count in sorted(fewer))} questions." if len(fewer) > 1 else ""


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
