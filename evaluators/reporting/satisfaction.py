"""The chapter about judges of satisfaction: ranks with intervals, calibration, gain by memory, candidates in replay.

    python -m evaluators report build/evaluations/persturn@1.0.0/satisfaction.reference_cdf.json --out report.html

Made from the result of ``calibrate`` alone. PersTurnBench 4 and 5, Tables 2 to 8, Figures 3 to 5.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from evaluators.reporting.parts import Chapter, Section, head_html, only_result, table
from evaluators.reporting.satisfaction_charts import Series, square

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
    verdict = (
        f"{names} {'stands' if len(best) == 1 else 'stand'} first with a mean absolute error of {_value(best[0])}."
    )
    cautions = []
    offline = [judge for judge in run["judges"] if judge.startswith("offline:")]
    if offline:
        cautions.append(f"{escape(', '.join(offline))} are no models: their bias is planted, to examine calibrations.")
    candidates = {row["name"] for one in figures["replay"] for row in one["candidates"]}
    if candidates and all(name.startswith("offline:") for name in candidates):
        cautions.append("No candidate is a model: their replies are drawn by planted quality.")
    lead = (
        f"{figures['turns']:,} rated turns of {figures['raters']} raters; scores under {escape(run['calibration'])}. "
        "Intervals are over raters: others like them."
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
        [escape(row["name"]), f"{row['rank']}", _value(row), _bounds(row), f"{row['turns']:,}", _tied(row)]
        for row in figures["ranking"]
    ]
    note = (
        '<p class="note">Two are told apart where the 95 % interval of their paired difference, whole raters drawn'
        " anew, leaves out 0. A rank is one more than the number of those that are told to be better. Baselines read no"
        " reply as a judge: what is not ahead of them has shown nothing.</p>"
    )
    head = ["Judge", "Rank", "Mean absolute error", "95 %", "Turns", "Not told from"]
    lead = f"Judges under {escape(calibration)}, and baselines of score history and similar turns."
    return Section("results", "Ranking of judges", table(head, rows) + note, lead)


def metrics(figures: Result) -> Section:
    """All metrics that the paper shows, raw and calibrated, each with both intervals in the details."""
    body = ""
    for name, methods in _entries(figures):
        rows = [
            [_method(method, one), *(_value(one["metrics"][key]) for key in _SHOWN)] for method, one in methods.items()
        ]
        body += f"<h3>{escape(name)}</h3>{table(['Calibration', *(key.replace('_', ' ') for key in _SHOWN)], rows)}"
        body += "".join(_detail(name, method, one) for method, one in methods.items())
    lead = "Raw and calibrated scores of every judge, so that like is compared with like."
    return Section("metrics", "Agreement with raters", body, lead)


def _detail(name: str, method: str, one: Result) -> str:
    rows = [
        [escape(key), _value(own), _bounds(own), _pair(own["published"]), escape(one["undefined"].get(key, ""))]
        for key, own in one["metrics"].items()
    ]
    head = ["Metric", "Value", "95 %", "95 % as published", "Why undefined"]
    told = f"All metrics of {escape(name)}, {escape(method)}"
    return f"<details><summary>{told}</summary>{table(head, rows)}</details>"


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
                    _bounds(own["metrics"]["mae"]),
                    _value(own["metrics"]["bias"]),
                    escape(reasons or "none"),
                ]
            )
    head = ["Calibration", "Mean absolute error", "95 %", "Bias", "Kept their raw score"]
    lead = "A calibration by rank gives a judge the spread of the rater's history, however little the judge knows."
    return Section("calibration", "Calibration", table(head, rows), lead)


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
    return Section("plots", "Calibration, drawn", body, "On the dashed line judge and raters are the same.")


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
                name, escape(one["base"]), f"{one['gain']:+.3f}", _bounds(one), f"{one['pu_gain']:+.3f}",
                f"{100 * one['gaining']:.0f} %", f"{own[0]:+.2f} / {own[len(own) // 2]:+.2f} / {own[-1]:+.2f}",
            ]
        )  # fmt: skip
    head = ["Rubric", "Against", "Gain", "95 %", "Mean over raters", "Raters that gain", "Least / median / most"]
    lead = "Mean absolute error without minus with, on the same turns: above 0 the rubric brings the judge closer."
    return Section("gain", "Gain by rater", table(head, rows, 2) if rows else "", lead)


def replay(figures: Result) -> Section:
    """Candidates under one calibration, and how they compare pair by pair."""
    body = ""
    for one in figures["replay"]:
        told = f"{escape(one['selection'])} turns, judged by {escape(one['judge'])}, {escape(one['metric'])}"
        rows = [_candidate(row) for row in one["candidates"]]
        head = ["Candidate", "Mean", "Raw mean", "Mean of raters", "95 %", "As published", "Of tasks", "Of blocks",
                "Satisfied", "Planted", "Turns", "Missing"]  # fmt: skip
        body += f"<h3>{told}; {escape(one['calibration'])}</h3>{table(head, rows)}"
        pairs = [_outcome(pair, group) for pair in one["pairs"] if pair["outcomes"] for group in pair["outcomes"]]
        columns = ["Pair", "By", "Win", "Tie", "Lose", "Won of what is no tie", "Difference", "Compared"]
        body += f"<details><summary>Pair by pair</summary>{table(columns, pairs, 2)}</details>"
    lead = (
        "One judge, one calibration for all. Planted is the mean score that raters would give most likely, known where"
        " a reply's quality was planted. Hard turns were chosen by low scores: a mean over them is none over turns."
    )
    return Section("replay", "Candidates in replay", body, lead)


def _candidate(row: Result) -> list[str]:
    figures, raw = row["figures"], row["raw"]
    planted = "–" if row["planted"] is None else f"{row['planted']:.3f}"
    if figures is None:
        return [escape(row["name"]), *["–"] * 8, planted, "0", f"{row['missing']:,}"]
    return [
        escape(row["name"]), f"{figures['micro']:.3f}", f"{raw['micro']:.3f}", f"{figures['rater']:.3f}",
        _bounds(row["interval"]), _pair(row["published"]), f"{figures['task']:.3f}", f"{figures['block']:.3f}",
        f"{100 * figures['sat_rate']:.1f} %", planted, f"{row['turns']:,}", f"{row['missing']:,}",
    ]  # fmt: skip


def _outcome(pair: Result, group: str) -> list[str]:
    own = pair["outcomes"][group]
    won = "–" if own["won"] is None else f"{100 * own['won']:.1f} %"
    shares = [f"{100 * own[name]:.1f} %" for name in ("win", "tie", "lose")]
    name = f"{escape(pair['first'])} <small>against {escape(pair['second'])}</small>"
    return [name, group, *shares, won, f"{own['delta']:+.3f}", f"{int(own['count']):,}"]


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


def _bounds(one: Result) -> str:
    return "–" if one["low"] is None else f"{one['low']:.3f} to {one['high']:.3f}"


def _pair(bounds: Sequence[float] | None) -> str:
    return "–" if bounds is None else f"{bounds[0]:.3f} to {bounds[1]:.3f}"
