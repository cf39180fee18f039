"""Sections on recovered traits: each character beside the truth, each trait, and how reliable the answers are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from evaluators.psychometrics.statements import trait_labels
from evaluators.reporting.charts import Mark, dots, legend
from evaluators.reporting.parts import Section, table
from evaluators.reporting.scored_report import ScoredReport


def profiles(report: ScoredReport) -> Section:
    """Recovered and true value of every trait of every character, a chart a trait, folded by run."""
    body = ""
    labels = trait_labels()
    for name, found in _found(report):
        charts = ""
        for trait in found["by"]:
            rows = [
                (who, [Mark("s-truth", "release", own[trait]["truth"]), Mark("s-said", "answers", own[trait]["value"])])
                for who, own in found["profiles"].items()
                if trait in own
            ]
            charts += f"<h3>{escape(labels.get(trait, trait))}</h3>{dots(rows, 1.0)}"
        body += f"<details><summary>{name}</summary>{charts}</details>"
    key = legend([("s-truth", "as the release has it"), ("s-said", "as the answers show it")])
    lead = "Traits of each character, from 0 to 100 %: as it was written, and as the subject answers as this character."
    return Section("profiles", "Recovered traits", key + body if body else "", lead)


def traits(report: ScoredReport) -> Section:
    """Error, bias, correlation, ranks and internal consistency of each trait."""
    rows = []
    labels = trait_labels()
    for name, found in _found(report):
        for trait, own in found["by"].items():
            rows.append(
                [
                    f"{escape(labels.get(trait, trait))} <small>{name}</small>",
                    _figure(own["error"]),
                    _figure(own["bias"], "{:+.3f}"),
                    _figure(own["correlation"]),
                    _number(own["ranks"]),
                    _number(own["alpha"]),
                ]
            )
    head = ["Trait", "Error", "Bias", "Correlation", "Ranks, Spearman", "Alpha"]
    lead = (
        "Over characters, intervals for characters like these. Ranks: are the characters in the right order? Alpha: do "
        "the ten statements of a trait go together?"
    )
    return Section("traits", "Trait by trait", table(head, rows) if rows else "", lead)


def reliability(report: ScoredReport) -> Section:
    """What other wordings and another order of the options change."""
    rows = []
    for name, found in _found(report):
        for group in ("wordings", "orders"):
            own = found[group]
            if own:
                same = "–" if own["same"] is None else f"{100 * own['same']:.1f} %"
                rows.append(
                    [
                        f"{own['count']} {group} <small>{name}</small>",
                        _number(own["correlation"]),
                        same,
                        _number(own["distance"]),
                    ]
                )
        rows.append([f"Agreement whatever is said <small>{name}</small>", "", "", f"{found['acquiescence']:+.3f}"])
    head = ["Put differently", "Correlation of traits", "Same answer", "Distance, points of 1 to 5"]
    lead = (
        "The same statements in other words, and with the options listed from the other end. The last line is how far "
        "agreement lies above the middle whichever way statements are keyed: yes-saying."
    )
    return Section("reliability", "Reliability of the answers", table(head, rows) if rows else "", lead)


def _found(report: ScoredReport) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name, one in report.judged():
        if "traits" in one and one["traits"]["cells"]:
            yield f"{escape(name)}, {escape(one['judge'])}", one["traits"]


def _figure(figure: Mapping[str, Any], form: str = "{:.3f}") -> str:
    if figure["value"] is None:
        return "–"
    (spread,) = figure["intervals"]
    bounds = "" if spread["low"] is None else f" <small>{spread['low']:.2f} to {spread['high']:.2f}</small>"
    return form.format(figure["value"]) + bounds


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"
