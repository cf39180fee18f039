"""The page: sections, style, script and data in one HTML file that needs nothing else.

A content security policy in the page forbids it to load anything, so that a report that is passed on
cannot call home. Without scripts everything but the question browser is there.
"""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

from evaluators.reporting import about, drill, plots, sections
from evaluators.reporting.charts import percent, points
from evaluators.reporting.parts import Report

_HERE = Path(__file__).parent


def page(report: Report) -> str:
    """The whole page."""
    parts = [
        sections.results(report),
        plots.by_model(report),
        plots.by_character(report),
        plots.by_stage(report),
        plots.by_diamonds(report),
        plots.agreement(report),
        sections.comparisons(report),
        sections.orders(report),
        (_HERE / "questions.html").read_text("utf-8"),
        about.characters(report),
        about.audits(report),
        about.measured(report),
    ]
    filled = {
        "title": escape(f"{report.bench.release.name}: evaluation"),
        "style": (_HERE / "page.css").read_text("utf-8"),
        "head": _head(report),
        "body": "\n".join(part for part in parts if part),
        "data": drill.encoded(drill.data(report.bench, report.results, report.names)),
        "script": (_HERE / "page.js").read_text("utf-8"),
    }
    pieces = (_HERE / "page.html").read_text("utf-8").split("{{")
    return pieces[0] + "".join(filled[name] + rest for name, rest in (piece.split("}}", 1) for piece in pieces[1:]))


def _head(report: Report) -> str:
    """The first screen: what this is, and the answer in one sentence."""
    best = max(zip(report.names, report.results, strict=True), key=lambda pair: pair[1]["figures"]["overall"]["rate"])
    overall, floor = best[1]["figures"]["overall"], _floor_of(report, best[0])
    verdict = "above" if floor["low"] > 0 else "below" if floor["high"] < 0 else "not told apart from"
    release = report.bench.release
    said = (
        f"The best of {len(report.results)} run{'s' if len(report.results) > 1 else ''}, "
        f"<strong>{escape(best[0])}</strong>, chooses the character’s own decision in "
        f"<strong>{percent(overall['rate'])}</strong> of {overall['items']:,} questions "
        f"(95 % interval {100 * overall['low']:.1f}–{100 * overall['high']:.1f}). That is {verdict} the best baseline "
        f"without a model, <em>{escape(floor['baseline'])}</em>: {points(floor['difference'])} points "
        f"[{points(floor['low'])}, {points(floor['high'])}]."
    )
    return (
        f'<p class="eyebrow">{escape(report.manifest["title"])}</p><h1>{escape(str(release.name))}</h1>'
        f'<p class="verdict">{said}</p>'
        f'<p class="digest">content <code>{release.content_digest[:16]}</code></p>'
    )


def _floor_of(report: Report, name: str) -> dict[str, Any]:
    floors: list[dict[str, Any]] = report.compared["floors"]
    return next(floor for floor in floors if floor["name"] == name)
