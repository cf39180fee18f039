"""The chapter of judged texts: figures with interval and meaning, judges with their examination, ranks with ties.

    python -m evaluators report build/evaluations/fidelity@0.1.0/scores.*.json --out report.html

Sections follow from what the results hold, not from the benchmark: fidelity figures where rubrics aggregate by
sentences, means elsewhere; agreement where there are several judges; an examination where quality was planted.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from evaluators.reporting import psychometrics
from evaluators.reporting.charts import round_scale, whisker
from evaluators.reporting.dialogues.curves import curves, gains
from evaluators.reporting.dialogues.learned import learned
from evaluators.reporting.dialogues.reader import reader
from evaluators.reporting.lines import figures_of, metric_name, population
from evaluators.reporting.parts import Chapter, Section, table
from evaluators.reporting.ranking import ranking
from evaluators.reporting.scored_report import ScoredReport
from evaluators.scoring.metrics import STATES
from evaluators.scoring.ranking import Ranked, names_of, ranked
from evaluators.scoring.score_rows import read_scores

_MEANINGS = Path(__file__).with_name("meanings.toml")
_AGREEMENT = ("exact", "within_one", "kappa", "spearman", "bias", "not_applicable")
_HEADS = ("Exact", "Within one", "Kappa, quadratic", "Spearman", "Bias", "Same on applies", "Items")


def scored_chapter(paths: Sequence[Path], results: Sequence[Mapping[str, Any]], seed: int) -> Chapter:
    """The chapter of results of ``judge`` on one content."""
    names = names_of(results)
    scores = {name: read_scores(path, one) for name, path, one in zip(names, paths, results, strict=True)}
    report = ScoredReport(results, names, ranked(scores, seed))
    held = [
        curves(names, results),
        gains(names, results, scores, seed),
        learned(paths, names, results, seed),
        reader(paths, names, results),
    ]
    shown = [*held[:3], *sections(report), held[3]]
    about = f"judged: {results[0]['run']['protocol'].replace('_', ' ')}"
    return Chapter(results[0]["release"]["name"], about, head(report), shown, report.ranks)


def head(report: ScoredReport) -> str:
    """The page's head: what was judged, by whom, and what stands first."""
    release = report.results[0]["release"]
    judges = sorted({one["judge"] for _, one in report.judged()})
    offline = [judge for judge in judges if judge.startswith("offline:")]
    cautions = []
    if all(result["run"]["model"].startswith("offline:") for result in report.results):
        cautions.append("No model has been asked: the texts are planted, to rehearse with and to examine judges.")
    if offline:
        cautions.append(f"Judges without a model, ceilings and floors: {escape(', '.join(offline))}.")
    best = [one for one in report.ranks if one.rank == 1]
    verdict = "Nothing to rank." if not best else _verdict(report, best)
    caution = f'<p class="caution"><strong>What this cannot show.</strong> {" ".join(cautions)}</p>' if cautions else ""
    return (
        f'<p class="verdict">{verdict}</p>'
        f"<p>Judged by {escape(', '.join(judges))}: {_units(report)}. Intervals are at 95 %; each says whom it speaks "
        "(the same ones asked again, or others like these).</p>"
        f'{caution}<p class="digest">content <code>{release["content_digest"][:16]}</code></p>'
    )


def _units(report: ScoredReport) -> str:
    """How many of which unit, of all runs."""
    items: dict[str, int] = {}
    for name, result in zip(report.names, report.results, strict=True):
        counts = {(name, one["unit"]): one["items"] for one in result["figures"]["judged"]}
        for (_, unit), count in counts.items():
            items[unit] = items.get(unit, 0) + count
    return ", ".join(f"{count:,} {unit}s" for unit, count in items.items())


def _verdict(report: ScoredReport, best: Sequence[Ranked]) -> str:
    names = " and ".join(f"<strong>{escape(one.name)}</strong>" for one in best)
    tied = "share the first rank" if len(best) > 1 else "ranks first"
    return f"{names} {tied}, by {escape(best[0].metric)} ({best[0].value:.3f})."


def sections(report: ScoredReport) -> list[Section]:
    """All sections that the results have something for, in order."""
    return [
        figures(report),
        ranking(report.ranks, "Whole clusters of the rubric are resampled."),
        psychometrics.profiles(report),
        psychometrics.traits(report),
        psychometrics.reliability(report),
        groups(report),
        examination(report),
        judges(report),
        counted(report),
        measured(report),
    ]


def figures(report: ScoredReport) -> Section:
    """Each figure: what it means, what would change it, and its value and intervals for every run and judge."""
    meanings = tomllib.loads(_MEANINGS.read_text("utf-8"))
    found: dict[str, list[tuple[str, Mapping[str, Any]]]] = {}
    for name, one in report.judged():
        for metric, figure in figures_of(one).items():
            found.setdefault(metric, []).append((f"{escape(name)} <small>{escape(one['judge'])}</small>", figure))
    body = ""
    for metric, rows in found.items():
        known = meanings.get(metric, {})
        title = escape(known.get("name", metric_name(metric).capitalize()))
        means = escape(known.get("means", f"Mean of the scores of {metric_name(metric)} over what applies."))
        changes = escape(known.get("changes", "The answers, and the judge's bias."))
        body += (
            f'<div class="figure"><h3>{title}</h3><p>{means} <span class="changes">Changes with: {changes}</span></p>'
            f"{_figure_table(rows)}</div>"
        )
    lead = "What was measured, how sure it is (95 % intervals, each for whom it speaks of), and what would change it."
    return Section("scores", "Scores", body, lead)


def _figure_table(rows: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    """A row a run and judge, a column a kind of interval, and the first interval drawn."""
    kinds = list(dict.fromkeys(spread["over"] for _, figure in rows for spread in figure["intervals"]))
    values = [value for _, figure in rows for value in _extent(figure)]
    least, most = round_scale(values)
    cells = []
    for name, figure in rows:
        spreads = {spread["over"]: spread for spread in figure["intervals"]}
        drawn = whisker(figure["value"], spreads.get(kinds[0]) if kinds else None, least, most)
        shown = "not defined"
        if figure["value"] is not None:
            shown = f'<span data-value="{figure["value"]:.6f}">{figure["value"]:.3f}</span>'
        cells.append([name, drawn, shown, *(_bounds(spreads.get(kind)) for kind in kinds)])
    head = ["Run", f"{least:g} to {most:g}", "Value", *(population(kind).capitalize() for kind in kinds)]
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
            rows = [[escape(key), *(_value(own[metric]) for metric in metrics)] for key, own in by.items()]
            told = f"{escape(name)}, {escape(one['judge'])}: by {escape(group.replace('_', ' '))}"
            body += f"<details><summary>{told}</summary>{table([group, *metrics], rows)}</details>"
    return Section("groups", "By group", body)


def examination(report: ScoredReport) -> Section:
    """Each judge against what was planted."""
    rows = [
        [f"{escape(one['judge'])} <small>{escape(one['metric'])}, {escape(name)}</small>", *_agreed(one)]
        for name, result in zip(report.names, report.results, strict=True)
        for one in result["figures"]["examined"]
    ]
    lead = "The judges on texts whose quality was planted: how far a figure above can be trusted to be the text's."
    return Section("examination", "Judges examined", table(["Judge", *_HEADS], rows) if rows else "", lead)


def judges(report: ScoredReport) -> Section:
    """How judges agree, and what each contributes."""
    rows, left = [], []
    for name, result in zip(report.names, report.results, strict=True):
        for one in result["figures"]["agreement"]:
            who = f"{escape(one['first'])} and {escape(one['second'])} <small>{escape(one['metric'])}, {escape(name)}"
            rows.append([f"{who}</small>", *_agreed(one)])
        for one in result["figures"]["consensus"]:
            who = "all judges" if one["without"] is None else f"without {escape(one['without'])}"
            told = ", ".join(f"{metric} {_value(figure)}" for metric, figure in figures_of(one).items())
            left.append([f"{who} <small>{escape(one['metric'])}, {escape(name)}</small>", told])
    body = table(["Judges", *_HEADS], rows) if rows else ""
    return Section("judges", "Judges compared", body + (table(["Judged by", "Figures"], left, 9) if left else ""))


def counted(report: ScoredReport) -> Section:
    """How many items are in each state, and what judging used."""
    rows = []
    for name, result in zip(report.names, report.results, strict=True):
        used = result["figures"].get("used", {})
        for one in result["figures"]["judged"]:
            own = used.get(one["judge"], {})
            cost = own.get("cost")
            rows.append(
                [
                    f"{escape(name)} <small>{escape(one['judge'])}, {escape(one['metric'])}</small>",
                    f"{one['items']:,}",
                    *(f"{one['states'][state]:,}" for state in STATES),
                    f"{own.get('input_tokens', 0):,} / {own.get('output_tokens', 0):,}",
                    "not known" if cost is None else f"${cost:,.4f}",
                ]
            )
    names = [state.replace("_", " ") for state in STATES]
    lead = "What has no score is counted here and stands for no number anywhere."
    return Section("counts", "Counts and cost", table(["Run", "Items", *names, "Tokens in / out", "Cost"], rows), lead)


def measured(report: ScoredReport) -> Section:
    """Which rubrics, which run, which tables."""
    rows = [
        [
            escape(name),
            escape(", ".join(result["run"]["served_by"]) or "none"),
            escape(", ".join(sorted({f"{one['rubric']} {one['digest'][:12]}" for one in result["metrics"]}))),
            escape(", ".join(f"{table} {digest[:12]}" for table, digest in result["said"]["tables"].items())),
        ]
        for name, result in zip(report.names, report.results, strict=True)
    ]
    return Section("measured", "What was measured", table(["Run", "Model that answered", "Rubrics", "Judged"], rows, 9))


def _groups(one: Mapping[str, Any]) -> Mapping[str, Any]:
    if "traits" in one:
        return {}
    if "fidelity" in one:
        by: Mapping[str, Any] = one["fidelity"]["by"]
        return by
    return {
        name: {key: {one["metric"]: figure} for key, figure in by.items()} for name, by in one["mean"]["by"].items()
    }


def _value(figure: Mapping[str, Any]) -> str:
    if figure["value"] is None:
        return "–"
    spread = f" <small>{figure['low']:.2f}–{figure['high']:.2f}</small>" if figure.get("low") is not None else ""
    return f"{figure['value']:.3f}{spread}"


def _agreed(one: Mapping[str, Any]) -> list[str]:
    cells = ["–" if one[name] is None else f"{one[name]:.3f}" for name in _AGREEMENT]
    return [*cells, f"{one['items']:,}"]
