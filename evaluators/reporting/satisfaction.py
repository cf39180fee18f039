"""The chapter about judges of satisfaction: ranks with intervals, calibration, gain by memory, candidates in replay.

    python -m evaluators report build/evaluations/persturn@1.0.1/satisfaction.reference_cdf.json --out report.html

Made from the result of ``calibrate`` alone. PersTurnBench 4 and 5, Tables 2 to 8, Figures 3 to 5.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from evaluators.reporting.meanings import figure_name, glossary
from evaluators.reporting.parts import Chapter, Section, head_html, only_result, table
from evaluators.reporting.satisfaction_charts import Series, square
from evaluators.reporting.satisfaction_replay import bounds, pair, replay

_COLOURS = {"raw": "s-recent", "ordinal": "s-mem0"}
_CALIBRATED = "s-naive_rag"
_SHOWN = ("mae", "rmse", "pearson", "spearman", "qwk", "pu_pearson", "centred_pearson", "f1_dsat", "false_sat", "auc")

Result = Mapping[str, Any]


def satisfaction_chapter(paths: Sequence[Path], results: Sequence[Result]) -> Chapter:
    """The chapter of a result of ``calibrate``. Raises RequestError for several: each ranks its own judges."""
    result = only_result(paths, results, "Make a page of each, or calibrate all score files together")
    return Chapter(result["release"]["name"], "satisfaction, turn by turn", head(result), sections(result))


def head(result: Result) -> str:
    """What stands first, by how much, and what it cannot show."""
    figures, run = result["figures"], result["run"]
    best = [row for row in figures["ranking"] if row["rank"] == 1]
    names = " and ".join(f"<strong>{escape(row['name'])}</strong>" for row in best)
    errors = " and ".join(f"{_value(row)} ({bounds(row)})" for row in best)
    verdict = f"{names} {'stands' if len(best) == 1 else 'share'} first, with a mean absolute error of {errors}."
    cautions = []
    offline = [judge for judge in run["judges"] if judge.startswith("offline:")]
    if offline:
        cautions.append(f"{escape(', '.join(offline))} are no models: their bias is planted, to examine calibrations.")
    candidates = {row["name"] for one in figures["replay"] for row in one["candidates"]}
    if candidates and all(name.startswith("offline:") for name in candidates):
        cautions.append("No candidate is a model: their replies are drawn by planted quality.")
    lead = (
        f"{figures['turns']:,} rated turns of {figures['raters']} raters; scores under {escape(run['calibration'])}. "
        "Intervals are at 95 % and speak of other raters like these: raters are drawn anew with all of their turns"
        " (bootstrap)."
    )
    return head_html(result, verdict, lead, cautions)


def sections(result: Result) -> list[Section]:
    """All sections, in order."""
    figures = result["figures"]
    return [
        ranking(figures, result["run"]["calibration"]),
        metrics(figures),
        calibrations(figures),
        plots(figures, result["run"]["calibration"]),
        gains(figures),
        replay(figures),
        counted(figures),
    ]


def ranking(figures: Result, calibration: str) -> Section:
    """Judges under the headline calibration and baselines, best first."""
    rows = [
        [escape(row["name"]), f"{row['rank']}", _value(row), bounds(row), f"{row['turns']:,}", _tied(row)]
        for row in figures["ranking"]
    ]
    note = (
        '<p class="note">Two are apart where the 95 % interval of their paired difference, whole raters drawn anew,'
        " leaves out 0; the others are tied. A rank is one more than the number of those that are better, so several"
        " may share one. Baselines read no reply as a judge: a judge that is not ahead of them has shown nothing.</p>"
    )
    head = ["Judge", "Rank", "Mean absolute error", "95 %", "Turns", "Tied with"]
    lead = (
        f"Judges under {escape(calibration)}, and baselines of score history and similar turns, by mean absolute error:"
        " how far, in points of the scale of 1 to 5, a score is from the rater's own. Lower is better. Another"
        " calibration changes the ranking, other raters move it within the intervals."
    )
    return Section("results", "Ranking of judges", table(head, rows) + note, lead)


def metrics(figures: Result) -> Section:
    """All metrics that the paper shows, raw and calibrated, each with both intervals in the details."""
    body = ""
    for name, methods in _entries(figures):
        rows = [
            [_method(method, one), *(_value(one["metrics"][key]) for key in _SHOWN)] for method, one in methods.items()
        ]
        body += f"<h3>{escape(name)}</h3>{table(['Calibration', *map(metric_name, _SHOWN)], rows)}"
        body += "".join(_detail(name, method, one) for method, one in methods.items())
    lead = (
        "Raw and calibrated scores of every judge, so that like is compared with like. Intervals of every metric are in"
        " the details: ours, and those of the published bootstrap."
    )
    known = dict.fromkeys(key.removeprefix("pu_").removeprefix("centred_") for key in _metric_keys(figures))
    note = (
        "Within raters: of each rater by itself, averaged by turns; raters with fewer than three turns or without"
        " variation are left out and counted below. Centred: each rater's mean is taken off both sides first."
    )
    words = f'<details><summary>What the metrics mean</summary>{glossary(known)}<p class="note">{note}</p></details>'
    return Section("metrics", "Agreement with raters", words + body, lead)


def metric_name(key: str) -> str:
    """A metric's name for people, within raters and centred too."""
    for prefix, where in (("pu_", "within raters"), ("centred_", "centred")):
        if key.startswith(prefix):
            return f"{figure_name(key.removeprefix(prefix))}, {where}"
    return figure_name(key)


def _metric_keys(figures: Result) -> Iterator[str]:
    for _, methods in _entries(figures):
        for one in methods.values():
            yield from one["metrics"]


def _detail(name: str, method: str, one: Result) -> str:
    rows = [
        [
            escape(metric_name(key)),
            _value(own),
            bounds(own),
            pair(own["published"]),
            escape(one["undefined"].get(key, "")),
        ]
        for key, own in one["metrics"].items()
    ]
    head = ["Metric", "Value", "95 %", "95 % as published", "Why undefined"]
    summary = f"All metrics of {escape(name)}, {escape(method)}"
    return f"<details><summary>{summary}</summary>{table(head, rows)}</details>"


def calibrations(figures: Result) -> Section:
    """Mean absolute error by calibration, and what kept its raw score and why."""
    rows = []
    for one in figures["entries"]:
        for method, own in one["methods"].items():
            reasons = ", ".join(f"{reason.replace('_', ' ')} {count:,}" for reason, count in own["fallbacks"].items())
            rows.append(
                [
                    f"{_method(method, own)} <small>{escape(_name(one))}</small>",
                    _value(own["metrics"]["mae"]),
                    bounds(own["metrics"]["mae"]),
                    _value(own["metrics"]["bias"]),
                    escape(reasons or "none"),
                ]
            )
    head = ["Calibration", "Mean absolute error", "95 %", "Bias", "Kept their raw score"]
    lead = (
        "How far the scores are from the raters' after each calibration, and how many turns kept their raw score and"
        " why. A calibration by rank gives a judge the spread of the rater's history, however little the judge knows."
    )
    names = dict.fromkeys(method for one in figures["entries"] for method in one["methods"])
    words = f"<details><summary>What the calibrations do</summary>{glossary(names)}</details>"
    return Section("calibration", "Calibration", words + table(head, rows), lead)


def plots(figures: Result, calibration: str) -> Section:
    """Reliability, and the scale of each rater before and after."""
    body = ""
    for one in figures["entries"]:
        name = escape(_name(one))
        series = [
            Series(
                _colour(method), method, [(row["score"], row["gold"], f"{row['turns']:,} turns") for row in rows], True
            )
            for method, rows in one["reliability"].items()
        ]
        drawn = square(series, "score that was given", "mean score of the raters", f"Reliability of {name}")
        scales = [
            Series(_colour(method), method, [
                (row["gold"], row[method], row["rater"]) for row in one["scales"] if row[method] is not None
            ])
            for method in dict.fromkeys(("raw", calibration))
        ]  # fmt: skip
        drawn += square(scales, "mean score of a rater", "mean score given for that rater", f"Scales, {name}")
        body += f'<h3>{name}: reliability, and the scale of each rater</h3><div class="facts">{drawn}</div>'
    lead = (
        "Left: of the turns that were given a score, the mean score of the raters; on the dashed line the score means"
        " what it says. Right: a dot a rater; on the dashed line the judge is as strict as the rater. Calibration to a"
        " rater's history brings dots to the line whether or not the judge tells turns apart: that shows on the left."
    )
    return Section("plots", "Calibration, drawn", body, lead)


def gains(figures: Result) -> Section:
    """What each rubric gains over the base with the same judge, and for how many raters."""
    rows = []
    for one in figures["gains"]:
        name = f"{escape(one['metric'])} <small>{escape(one['judge'])}, {escape(one['calibration'])}</small>"
        if one["gain"] is None:
            rows.append([name, escape(one["base"]), "–", "–", "–", "–", "–"])
            continue
        own = sorted(rater["gain"] for rater in one["raters"])
        rows.append(
            [
                name, escape(one["base"]), f"{one['gain']:+.3f}", bounds(one), f"{one['pu_gain']:+.3f}",
                f"{100 * one['gaining']:.0f} %", f"{own[0]:+.2f} / {own[len(own) // 2]:+.2f} / {own[-1]:+.2f}",
            ]
        )  # fmt: skip
    head = ["Rubric", "Against", "Gain", "95 %", "Mean over raters", "Raters that gain", "Least / median / most"]
    lead = "Mean absolute error without minus with, on the same turns: above 0 the rubric brings the judge closer."
    return Section("gain", "Gain by rater", table(head, rows, 2) if rows else "", lead)


def counted(figures: Result) -> Section:
    """What has no score, what has no partner, and which raters an average leaves out."""
    rows = []
    for one in figures["entries"]:
        raw = one["methods"]["raw"]
        states = ", ".join(f"{state.replace('_', ' ')} {count:,}" for state, count in one["states"].items() if count)
        skipped = ", ".join(f"{why.replace('_', ' ')} {count}" for why, count in raw["skipped"].items() if count)
        rows.append(
            [
                escape(_name(one)), escape(states), f"{raw['turns']:,}", f"{raw['without_prediction']:,}",
                f"{raw['without_gold']:,}", f"{one['without_memory']:,}",
                escape(skipped or "none"),
            ]
        )  # fmt: skip
    head = [
        "Judge",
        "Items",
        "Turns with both",
        "Gold without score",
        "Score without gold",
        "Without a memory",
        "Raters left out of averages",
    ]
    return Section("counts", "What was counted", table(head, rows, 2), "Nothing that is missing stands for a number.")


def _entries(figures: Result) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for one in figures["entries"]:
        yield _name(one), one["methods"]
    if figures["baselines"]:
        yield "baselines", {one["name"]: one for one in figures["baselines"]}


def _method(method: str, one: Result) -> str:
    """A calibration's name, with a note where it could be applied to no turn."""
    kept = sum(one.get("fallbacks", {}).values())
    return f"{escape(method)} <small>not applied</small>" if kept and kept == one["turns"] else escape(method)


def _name(one: Result) -> str:
    return f"{one['judge']}, {one['metric']}"


def _tied(row: Result) -> str:
    tied = row["tied"]
    return f'<abbr title="{escape(", ".join(tied))}">{len(tied)}</abbr>' if tied else "–"


def _colour(method: str) -> str:
    return _COLOURS.get(method, _CALIBRATED)


def _value(one: Result) -> str:
    value = one.get("value", one.get("mae"))
    return "–" if value is None else f'<span data-value="{value:.6f}">{value:.3f}</span>'
