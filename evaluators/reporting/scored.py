"""The chapter of judged texts: figures with interval and meaning, judges with their examination, ranks with ties.

    python -m evaluators report build/evaluations/fidelity@0.1.0/scores.*.json --out report.html

Sections follow from what the results hold, not from the benchmark: fidelity figures where rubrics aggregate by
sentences, means elsewhere; agreement where there are several judges; an examination where quality was planted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from evaluators.reporting import psychometrics
from evaluators.reporting.charts import round_scale, whisker
from evaluators.reporting.dialogues.curves import curves, gains
from evaluators.reporting.dialogues.learned import learned
from evaluators.reporting.dialogues.reader import reader
from evaluators.reporting.judges import (
    compared,
    counted,
    examination,
    examinations,
    examined_as,
    figure_cell,
    measured,
    used,
)
from evaluators.reporting.lines import figures_of, metric_name, population
from evaluators.reporting.meanings import explained
from evaluators.reporting.parts import Chapter, Section, head_html, table
from evaluators.reporting.ranking import ranking
from evaluators.reporting.scored_report import ScoredReport
from evaluators.reporting.texts import texts
from evaluators.scoring.metrics import metric_of, too_few
from evaluators.scoring.ranking import ranked
from evaluators.scoring.results import demand_same_sample
from evaluators.scoring.run_names import names_of
from evaluators.scoring.score_figures import PEOPLE
from evaluators.scoring.score_rows import read_scores

_WEAK = 0.2  # a kappa below which a judge is called noise: "slight" agreement, Landis and Koch 1977
_WITHHELD: Mapping[str, Any] = {"value": None, "intervals": []}
_ENOUGH = 100  # examined items from which on that is said


def scored_chapter(paths: Sequence[Path], results: Sequence[dict[str, Any]], seed: int) -> Chapter:
    """The chapter of results of ``judge`` on one content. Raises RequestError for different samples of it."""
    demand_same_sample(list(zip(paths, results, strict=True)))
    names = names_of(results)
    scores = {name: read_scores(path, one) for name, path, one in zip(names, paths, results, strict=True)}
    report = ScoredReport(results, names, ranked(scores, seed))
    held = [
        curves(names, results),
        gains(names, results, scores, seed),
        learned(paths, names, results, seed),
        reader(paths, names, results),
    ]
    shown = [*held[:3], *sections(report, paths), held[3], texts(paths, names, results)]
    about = f"judged: {results[0]['run']['protocol'].replace('_', ' ')}"
    return Chapter(results[0]["release"]["name"], about, head(report), shown, report.ranks)


def head(report: ScoredReport) -> str:
    """The page's head: what was judged, by whom, and what stands first."""
    judges = sorted({one["judge"] for _, one in report.judged()})
    offline = [judge for judge in judges if judge.startswith("offline:")]
    cautions = []
    if all(result["run"]["model"].startswith("offline:") for result in report.results):
        cautions.append("No model has been asked: the texts are planted, to rehearse with and to examine judges.")
    if offline:
        cautions.append(f"Judges without a model, ceilings and floors: {escape(', '.join(offline))}.")
    few = dict.fromkeys(f"{name} by {one['judge']}" for name, one in report.judged() if too_few(one["states"]))
    if few:
        cautions.append(
            f"Fewer than half of what applies was scored, and no figure is shown: {escape(', '.join(few))}."
        )
    cautions += _unexamined(report, judges)
    lead = (
        f"Judged by {escape(', '.join(judges))}: {_units(report)}. Intervals are at 95 %; each says whom it speaks of "
        "(the same ones asked again, or others like these)."
    )
    return head_html(report.results[0], _verdict(report), lead, cautions)


def _unexamined(report: ScoredReport, judges: Sequence[str]) -> list[str]:
    """What there is to say against model judges: never examined, or no better than chance on what was planted."""
    found = examinations(report)
    models = [judge for judge in judges if not judge.startswith("offline:") and judge != PEOPLE]
    missing = [judge for judge in models if not any(judge == own for own, _ in found)]
    weak = [
        judge
        for judge in models
        if any(
            one["kappa"] is not None and one["kappa"] < _WEAK and one["items"] >= _ENOUGH
            for (own, _), one in found.items()
            if own == judge
        )
    ]
    notes = []
    if missing:
        notes.append(
            f"Not examined on texts of planted quality: {escape(', '.join(missing))}; judge an offline subject with "
            "the same judge and put both results on one page."
        )
    if weak:
        notes.append(
            f"On texts of planted quality {escape(', '.join(weak))} hardly agrees with the truth on some figure (kappa "
            f"below {_WEAK:g}): what that judge says there is mostly noise."
        )
    return notes


def _units(report: ScoredReport) -> str:
    """How many of which unit, of all runs."""
    items: dict[str, int] = {}
    for name, result in zip(report.names, report.results, strict=True):
        counts = {(name, one["unit"]): one["items"] for one in result["figures"]["judged"]}
        for (_, unit), count in counts.items():
            items[unit] = items.get(unit, 0) + count
    return ", ".join(f"{count:,} {unit}s" for unit, count in items.items())


def _verdict(report: ScoredReport) -> str:
    """Which runs stand first, by which figure; of one run its figure."""
    best = [one for one in report.ranks if one.rank == 1]
    if not best:
        return "Nothing to rank."
    metric, _, judge = best[0].metric.rpartition(", ")
    by = f"{escape(metric_name(metric))} as judged by {escape(judge)}"
    names = " and ".join(f"<strong>{escape(one.name)}</strong>" for one in best)
    if len(report.ranks) == 1:
        return f"{names}: {best[0].value:.3f} in {by}."
    if len(best) == 1:
        return f"{names} ranks first: {best[0].value:.3f} in {by}."
    return f"{names} share the first rank in {by}: {best[0].value:.3f}, and no difference between them is clear."


def sections(report: ScoredReport, paths: Sequence[Path]) -> list[Section]:
    """All sections that the results have something for, in order."""
    return [
        figures(report),
        ranking(report.ranks, "Whole clusters of the rubric are resampled."),
        psychometrics.profiles(report),
        psychometrics.traits(report),
        psychometrics.reliability(report),
        groups(report),
        examination(report),
        compared(report),
        counted(report),
        used(report, paths),
        measured(report),
    ]


def figures(report: ScoredReport) -> Section:
    """Each figure: what it means, what would change it, its value and intervals for every run and judge, and how far
    the judge is to be trusted."""
    ends = _ends(report)
    trusted = examinations(report)
    found: dict[str, list[_Shown]] = {}
    for name, one in report.judged():
        trust = escape(examined_as(trusted, one["judge"], one["metric"]))
        few = too_few(one["states"])
        for metric, figure in figures_of(one).items():
            who = f"{escape(name)} <small>{escape(one['judge'])}</small>"
            found.setdefault(metric, []).append(
                _Shown(who, _WITHHELD if few else figure, "too few scored" if few else trust)
            )
    body = ""
    for metric, rows in found.items():
        words = metric_name(metric)
        means = f"Mean of the scores of {words} over what applies."
        body += explained(metric, _figure_table(rows, ends.get(metric)), words.capitalize(), means)
    lead = (
        "What was measured, how sure it is (95 % intervals, each for whom it speaks of), and what would change it. The "
        "last column says how the judge did on texts whose quality was planted."
    )
    return Section("scores", "Scores", body, lead)


@dataclass(frozen=True)
class _Shown:
    """A row of a figure: run and judge (HTML), the figure, and how far the judge is to be trusted."""

    who: str
    figure: Mapping[str, Any]
    trust: str


def _ends(report: ScoredReport) -> dict[str, tuple[float, float]]:
    """Figure -> the ends of its scale, for means of scores."""
    made = {}
    for result in report.results:
        for metric in map(metric_of, result["metrics"]):
            how = metric.aggregation
            values = [value / how.over for value in (metric.scale.values[0], metric.scale.values[-1])]
            made["mean" if how.method == "atomic" else metric.name] = (values[0], values[1])
    return made


def _figure_table(rows: Sequence[_Shown], ends: tuple[float, float] | None) -> str:
    """A row a run and judge, a column a kind of interval, and the first interval drawn."""
    kinds = list(dict.fromkeys(spread["over"] for row in rows for spread in row.figure["intervals"]))
    least, most = ends or round_scale([value for row in rows for value in _extent(row.figure)])
    cells = []
    for row in rows:
        value = row.figure["value"]
        spreads = {spread["over"]: spread for spread in row.figure["intervals"]}
        drawn = whisker(value, spreads.get(kinds[0]) if kinds else None, least, most)
        shown = "not defined" if value is None else f'<span data-value="{value:.6f}">{value:.3f}</span>'
        cells.append([row.who, drawn, shown, *(_bounds(spreads.get(kind)) for kind in kinds), row.trust])
    populations = [population(kind).capitalize() for kind in kinds]
    head = ["Run", f"{least:g} to {most:g}", "Value", *populations, "Judge examined"]
    return table(head, cells, numbers=2)


def _extent(figure: Mapping[str, Any]) -> list[float]:
    ends = [spread[end] for spread in figure["intervals"] for end in ("low", "high")]
    return [value for value in (figure["value"], *ends) if value is not None]


def _bounds(spread: Mapping[str, Any] | None) -> str:
    return "–" if spread is None or spread["low"] is None else f"{spread['low']:.3f} to {spread['high']:.3f}"


def groups(report: ScoredReport) -> Section:
    """Figures by group: dimension, level, task, or whatever the rubric names."""
    body = ""
    for name, one in report.judged():
        for group, by in _groups(one).items():
            metrics = [metric for metric in next(iter(by.values()), {}) if metric != "sets"]
            counted_too = all("items" in own[metric] for own in by.values() for metric in metrics)
            rows = [
                [
                    escape(key),
                    *(figure_cell(own[metric], 2) for metric in metrics),
                    *(f"{own[metric]['items']:,}" for metric in metrics if counted_too),
                ]
                for key, own in by.items()
            ]
            words = group.replace("_", " ")
            heading = f"{escape(name)}, {escape(one['judge'])}: {escape(metric_name(one['metric']))} by {escape(words)}"
            items = ["Items"] * len(metrics) if counted_too else []
            shown = table([words.capitalize(), *map(metric_name, metrics), *items], rows)
            body += f"<details><summary>{heading}</summary>{shown}</details>"
    lead = "The same figures for each group; small numbers below are 95 % intervals."
    return Section("groups", "By group", body, lead)


def _groups(one: Mapping[str, Any]) -> Mapping[str, Any]:
    if "traits" in one:
        return {}
    if "fidelity" in one:
        by: Mapping[str, Any] = one["fidelity"]["by"]
        return by
    return {
        name: {key: {one["metric"]: figure} for key, figure in by.items()} for name, by in one["mean"]["by"].items()
    }
