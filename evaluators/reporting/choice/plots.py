"""Figures 4 to 7 of HEART-BENCH for the runs of a report: models, characters, stages, situations, agreement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from evaluators.reporting.charts import Line, Mark, ceiling, dashes, dots, legend, lines, matrix, percent, radar, sample
from evaluators.reporting.choice.runs import Report, people
from evaluators.reporting.parts import Section, table
from evaluators.scoring.results import Result
from evaluators.scoring.statistics import share
from schemas.tables import vocabulary

Share = Mapping[str, Any]


def by_model(report: Report) -> Section:
    """Figure 4: accuracy by model, for each setting."""
    rows = [
        (name, [_mark(result, result["figures"]["overall"], name)])
        for name, result in zip(report.names, report.results, strict=True)
    ]
    best = _best_floor(report)
    figures = report.results[0]["figures"]
    most = ceiling([*(mark.high for _, (mark,) in rows), best.value if best else None, figures["chance"]])
    body = legend([(f"s-{name}", name) for name in report.settings])
    body += dots(rows, most, [Line(figures["chance"], "dotted line: chance"), *([best] if best else [])])
    models = sorted({result["run"]["model"] for result in report.results})
    if len(models) >= 3:
        series = [(f"s-{name}", name, _accuracies(report.of_setting(name), models)) for name in report.settings]
        body += radar(models, series, ceiling([value for _, _, values in series for value in values]))
    return Section("figure-4", "Accuracy by model and setting", body, "As in the paper’s Figure 4.")


def by_character(report: Report) -> Section:
    """Figure 5: accuracy by character, averaged over the models of each setting."""
    everyone = sorted({question.character_id for question in report.bench.questions})
    labels = people(report)
    pooled = {name: _pooled(report.of_setting(name), "by_character") for name in report.settings}
    rows = [
        (labels.get(who, who), [Mark(f"s-{name}", name, **_bounds(pooled[name].get(who))) for name in report.settings])
        for who in everyone
    ]
    most = ceiling([max(mark.high or 0, mark.value or 0) for _, marks in rows for mark in marks])
    body = legend([(f"s-{name}", name) for name in report.settings]) + dots(rows, most, [_chance(report)])
    return Section(
        "figure-5",
        "Accuracy by character",
        body,
        f"Averaged over the models of a setting, as in Figure 5.{_one_run(report)}",
    )


def by_stage(report: Report) -> Section:
    """Figure 6: accuracy by life stage, a line a run."""
    terms = [term for term in vocabulary("scenario_stages") if _has(report, "by_stage", term["id"])]
    shown = sorted(
        zip(report.names, report.results, strict=True), key=lambda pair: -pair[1]["figures"]["overall"]["rate"]
    )[:8]
    series = [
        (
            f"s-{result['run']['setting']}",
            name,
            [(result["figures"]["by_stage"].get(term["id"]) or {}).get("rate") for term in terms],
        )
        for name, result in shown
    ]
    most = ceiling([value for _, _, values in series for value in values])
    rows = [
        [sample(colour, dash) + escape(name), *(percent(value, 0).replace(" %", "") for value in values)]
        for (colour, name, values), dash in zip(series, dashes(series), strict=True)
    ]
    more = f" The {len(shown)} best of {len(report.results)} runs." if len(report.results) > len(shown) else ""
    body = lines([term["label"] for term in terms], series, most) + table(
        ["Run, %", *(term["label"] for term in terms)], rows
    )
    return Section("figure-6", "Accuracy by life stage", body, f"A line a run, as in Figure 6.{more}")


def by_diamonds(report: Report) -> Section:
    """Accuracy by the scenario's dominant DIAMONDS dimension, where the release says which."""
    if any(result["figures"]["by_diamonds"] is None for result in report.results):
        return Section(
            "diamonds", "Accuracy by DIAMONDS dimension", "<p>This release does not say which dimension dominates.</p>"
        )
    pooled = {name: _pooled(report.of_setting(name), "by_diamonds") for name in report.settings}
    rows = [
        (term["label"], [Mark(f"s-{name}", name, **_bounds(pooled[name].get(term["id"]))) for name in report.settings])
        for term in vocabulary("diamonds")
        if any(term["id"] in pooled[name] for name in report.settings)
    ]
    most = ceiling([max(mark.high or 0, mark.value or 0) for _, marks in rows for mark in marks])
    body = legend([(f"s-{name}", name) for name in report.settings]) + dots(rows, most, [_chance(report)])
    return Section("diamonds", "Accuracy by DIAMONDS dimension", body, f"Dominant dimension.{_one_run(report)}")


def agreement(report: Report) -> Section:
    """Figure 7: how often two runs choose the same option."""
    if len(report.results) < 2:
        return Section("figure-7", "Agreement", "")
    lead = "How often two runs choose the same option, right or wrong, in per cent of what both answered (Figure 7)."
    return Section("figure-7", "Agreement", matrix(report.names, report.compared["agreement"]), lead)


def _pooled(found: Sequence[Result], group: str) -> dict[str, Share]:
    """Hits and questions of all runs of a setting together; an interval only where it is one run."""
    counts: dict[str, list[int]] = {}
    for result in found:
        for name, one in result["figures"][group].items():
            hits, items = counts.setdefault(name, [0, 0])
            counts[name] = [hits + one["hits"], items + one["items"]]
    made: dict[str, Share] = {}
    for name, (hits, items) in counts.items():
        one = share(hits, items)
        made[name] = {"rate": one.rate, "low": one.low, "high": one.high} if len(found) == 1 else {"rate": one.rate}
    return made


def _bounds(one: Share | None) -> dict[str, Any]:
    return {"value": (one or {}).get("rate"), "low": (one or {}).get("low"), "high": (one or {}).get("high")}


def _mark(result: Result, one: Share, name: str) -> Mark:
    return Mark(f"s-{result['run']['setting']}", name, one["rate"], one["low"], one["high"])


def _accuracies(found: Sequence[Result], models: Sequence[str]) -> list[float | None]:
    rates = {result["run"]["model"]: result["figures"]["overall"]["rate"] for result in found}
    return [rates.get(model) for model in models]


def _best_floor(report: Report) -> Line | None:
    rates = {name: one["rate"] for name, one in report.results[0]["figures"]["baselines"].items() if one}
    best = max(rates, key=lambda name: rates[name])
    return Line(rates[best], f"line: best baseline, {best},")


def _chance(report: Report) -> Line:
    return Line(report.results[0]["figures"]["chance"], "dotted line: chance")


def _one_run(report: Report) -> str:
    single = all(len(report.of_setting(name)) == 1 for name in report.settings)
    return " Bars are 95 % intervals." if single else " Where one run has a setting, bars are its 95 % intervals."


def _has(report: Report, group: str, name: str) -> bool:
    return any(name in result["figures"][group] for result in report.results)
