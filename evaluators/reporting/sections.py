"""The tables of the report: results beside their floors, paired differences, order of the options.

Each function returns the HTML of one section, or "" where there is nothing to say. All text that comes from a
release or a result goes through ``escape``.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from evaluators.reporting.charts import interval, percent, points
from evaluators.reporting.opening import is_baseline
from evaluators.reporting.parts import Report, section, table

_FLOORS = {
    "random": "an option at random",
    "longest": "the longest option",
    "options": "a classifier that reads only the options",
    "nearest": "the option most like anything remembered",
    "reader": "the option put in the person’s words rather than in other people’s",
}

_OVER = ("scenarios", "characters", "both")


def results(report: Report) -> str:
    """Accuracy with its interval for every run and baseline, and how far above the floor."""
    rows = []
    floors = {floor["name"]: floor for floor in report.compared["floors"]}
    for name, result in zip(report.names, report.results, strict=True):
        figures, floor = result["figures"], floors[name]
        states = figures["states"]
        rows.append(
            [
                f"<strong>{escape(name)}</strong>",
                f'<span data-value="{figures["overall"]["rate"]:.6f}">{percent(figures["overall"]["rate"])}</span>',
                interval(figures["overall"]),
                percent(figures["answered"]["rate"]),
                f"{states['scored']} / {states['unscored']} / {states['failed']}",
                f"{points(floor['difference'])} ({escape(floor['baseline'])})",
                _p(floor["p"]),
            ]
        )
    for name, told in _FLOORS.items():
        floor = report.results[0]["figures"]["baselines"].get(name)
        cells = [percent(floor["rate"]), interval(floor)] if floor else ["not possible", "no memories"]
        rows.append([f"<em>{name}</em> <small>{told}</small>", *cells, "", "", "", ""])
    head = ["Run", "Accuracy", "95 %", "Of scored", "Scored / not / failed", "Over best floor", "p"]
    figures = report.results[0]["figures"]
    note = (
        f'<p class="note">Accuracy counts unscored and failed questions as wrong; “of scored” leaves them out. '
        "Intervals are Wilson’s: of a hundred such intervals, about 95 hold the true rate. “Over best floor” is the "
        "difference to the best baseline on the same questions, in points of a per cent; p says how often chance "
        "alone would give a difference at least so large (McNemar’s exact test). Baselines (in italics) need no model; "
        "<em>nearest</em> reads all memories up to the scenario’s age, <em>reader</em> those that the release says the "
        f"situation calls up.{_as_runs(report)}{_limits(report)}</p>"
    )
    return section("results", "Results", table(head, rows) + note)


def comparisons(report: Report) -> str:
    """Paired differences, what could have been detected, and rank correlations between settings."""
    pairs = report.compared["pairs"]
    if not pairs:
        return ""
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
    return section("comparisons", "Differences", body + told)


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


def orders(report: Report) -> str:
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
    return section("orders", "Order of the options", table(head, rows), lead) if rows else ""


def _as_runs(report: Report) -> str:
    if not any(is_baseline(result) for result in report.results):
        return ""
    return " As runs (<code>offline:</code>) they read what the setting retrieves and nothing else."


def _limits(report: Report) -> str:
    fewer = {result["figures"]["questions"] for result in report.results}
    return f" Runs asked {', '.join(f'{count:,}' for count in sorted(fewer))} questions." if len(fewer) > 1 else ""


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
