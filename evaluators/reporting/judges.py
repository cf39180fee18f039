"""Who judged, and how far that is to be trusted: judges examined and compared, what was counted, used and measured.

python -m evaluators report build/evaluations/fidelity@0.1.0/scores.*.json --out report.html
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from evaluators.reporting.dialogues.said import said_header
from evaluators.reporting.lines import figures_of, metric_name
from evaluators.reporting.parts import Section, long_table, table
from evaluators.reporting.scored_report import ScoredReport
from evaluators.scoring.metrics import STATES

_AGREEMENT = ("exact", "within_one", "kappa", "spearman", "bias", "not_applicable")
_HEADS = ("Exact", "Within one", "Kappa, quadratic", "Spearman", "Bias", "Same on applies", "Items")
_TERMS = (
    '<p class="note">Exact and within one: shares of the items that both have a score for. Kappa: agreement beyond '
    "chance, by squared distance; 1 complete, 0 as chance has it. Spearman: whether the order is the same. Bias: first "
    "less second, or judge less truth, in points. Same on applies: how often both say alike whether there is something "
    "to score.</p>"
)

Result = Mapping[str, Any]


def examinations(report: ScoredReport) -> dict[tuple[str, str], Mapping[str, Any]]:
    """(judge, metric) -> its examination, of several that with the highest kappa.

    On texts whose quality hardly varies kappa is near 0 for any judge: they do not examine it."""
    found: dict[tuple[str, str], Mapping[str, Any]] = {}
    for result in report.results:
        for one in result["figures"]["examined"]:
            key = one["judge"], one["metric"]
            if key not in found or _kappa(one) > _kappa(found[key]):
                found[key] = one
    return found


def _kappa(one: Mapping[str, Any]) -> float:
    return -1.0 if one["kappa"] is None else float(one["kappa"])


def examined_as(found: Mapping[tuple[str, str], Mapping[str, Any]], judge: str, metric: str) -> str:
    """How far a judge's scores on a metric are to be trusted, for a cell beside a figure."""
    one = found.get((judge, metric))
    if one is None:
        return "not examined"
    shown = (("kappa", one["kappa"], ".2f"), ("bias", one["bias"], "+.2f"))
    return ", ".join(f"{name} {value:{form}}" for name, value, form in shown if value is not None) or "nothing scored"


def examination(report: ScoredReport) -> Section:
    """Each judge against what was planted."""
    rows = [
        [f"{escape(one['judge'])} <small>{escape(metric_name(one['metric']))}, {escape(name)}</small>", *_agreed(one)]
        for name, result in _named(report)
        for one in result["figures"]["examined"]
    ]
    lead = "The judges on texts whose quality was planted: how far a figure above can be trusted to be the text's."
    return Section(
        "examination", "Judges examined", long_table(["Judge", *_HEADS], rows) + _TERMS if rows else "", lead
    )


def compared(report: ScoredReport) -> Section:
    """How judges agree, and the figures of all of them together and without each."""
    rows = [
        [
            f"{escape(one['first'])} and {escape(one['second'])} "
            f"<small>{escape(metric_name(one['metric']))}, {escape(name)}</small>",
            *_agreed(one),
        ]
        for name, result in _named(report)
        for one in result["figures"]["agreement"]
    ]
    body = table(["Judges", *_HEADS], rows) + _TERMS if rows else ""
    for name, result in _named(report):
        if result["figures"]["consensus"]:
            body += f"<h3>{escape(name)}: with and without each judge</h3>{_with_and_without(result)}"
    lead = (
        "Where several judges scored the same items; a figure that hangs on one of them changes without it. All "
        "judges: the mean of their scores of an item; of persona fidelity the median, halves taken toward the middle "
        "of the scale."
    )
    return Section("judges", "Judges compared", body, lead)


def _with_and_without(result: Result) -> str:
    """A row a figure; a column for all judges, and one without each."""
    columns: dict[str, str] = {}
    cells: dict[str, dict[str, str]] = {}
    for one in result["figures"]["consensus"]:
        who = "All judges" if one["without"] is None else f"Without {one['without']}"
        columns[who] = who
        for metric, figure in figures_of(one).items():
            cells.setdefault(metric_name(metric), {})[who] = figure_cell(figure)
    rows = [[escape(metric), *(own.get(who, "–") for who in columns)] for metric, own in cells.items()]
    return table(["Figure", *columns], rows)


def counted(report: ScoredReport) -> Section:
    """How many items are in each state."""
    rows = [
        [
            f"{escape(name)} <small>{escape(one['judge'])}, {escape(metric_name(one['metric']))}</small>",
            f"{one['items']:,}",
            *(f"{one['states'][state]:,}" for state in STATES),
        ]
        for name, one in report.judged()
    ]
    names = [state.replace("_", " ").capitalize() for state in STATES]
    lead = (
        "What has no score stands for no number anywhere. Not applicable: the judge finds nothing to score. Unscored: "
        "its reply holds no score of the scale, or quotes what was not said. Refused: the model declined. Failed: no "
        "reply came."
    )
    return Section("counts", "Counts", long_table(["Run", "Items", *names], rows), lead)


def used(report: ScoredReport, paths: Sequence[Path]) -> Section:
    """Tokens and dollars of what was said, and of each judge."""
    rows = []
    for (name, result), path in zip(_named(report), paths, strict=True):
        said = said_header(path, result)
        if said is not None:
            rows.append([f"{escape(name)} <small>what was said</small>", *_spent(said["figures"])])
        for judge, own in result["figures"].get("used", {}).items():
            rows.append([f"{escape(name)} <small>judged by {escape(judge)}</small>", *_spent(own)])
    body = table(["Run", "Tokens in", "Tokens out", "Cost"], rows)
    return Section("cost", "Cost", body, "At list prices; replies that were in the journal already are counted too.")


def _spent(own: Mapping[str, Any]) -> list[str]:
    cost = own.get("cost")
    shown = "no price known" if cost is None else f"${cost:,.2f}"
    return [f"{own.get('input_tokens', 0):,}", f"{own.get('output_tokens', 0):,}", shown]


def measured(report: ScoredReport) -> Section:
    """Which rubrics, which run, which tables."""
    rows = [
        [
            escape(name),
            escape(", ".join(result["run"]["served_by"]) or "none"),
            escape(", ".join(sorted({f"{one['rubric']} {one['digest'][:12]}" for one in result["metrics"]}))),
            escape(", ".join(f"{table} {digest[:12]}" for table, digest in result["said"]["tables"].items())),
        ]
        for name, result in _named(report)
    ]
    lead = "Rubrics and rows by the beginning of their SHA-256: the same digest is the same file."
    body = table(["Run", "Model that answered", "Rubrics", "Judged"], rows, 9)
    return Section("measured", "What was measured", body, lead)


def figure_cell(figure: Mapping[str, Any], digits: int = 3) -> str:
    """A figure with its first interval in so many digits, for a cell."""
    if figure["value"] is None:
        return "–"
    spread = figure["intervals"][0] if figure.get("intervals") else figure
    low, high = spread.get("low"), spread.get("high")
    shown = "" if low is None or high is None else f" <small>{low:.{digits}f}–{high:.{digits}f}</small>"
    return f"{figure['value']:.3f}{shown}"


def _named(report: ScoredReport) -> Iterator[tuple[str, Result]]:
    return zip(report.names, report.results, strict=True)


def _agreed(one: Mapping[str, Any]) -> list[str]:
    cells = ["–" if one[name] is None else f"{one[name]:.3f}" for name in _AGREEMENT]
    return [*cells, f"{one['items']:,}"]
