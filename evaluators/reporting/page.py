"""The page: sections, style, script and data in one HTML file that needs nothing else.

A content security policy in the page forbids it to load anything, so that a report that is passed on
cannot call home. Without scripts everything but the question browser is there.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

from evaluators.reporting import about, drill, plots, satisfaction, scored, sections
from evaluators.reporting.opening import opening
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
        "head": opening(report),
        "body": "\n".join(part for part in parts if part),
        "data": drill.encoded(drill.data(report.bench, report.results, report.names)),
        "script": (_HERE / "page.js").read_text("utf-8"),
    }
    return _filled(filled)


def scored_page(report: scored.ScoredReport) -> str:
    """The whole page about judged texts."""
    release = report.results[0]["release"]["name"]
    return _filled(
        {
            "title": escape(f"{release}: evaluation"),
            "style": (_HERE / "page.css").read_text("utf-8"),
            "head": scored.head(report),
            "body": "\n".join(part for part in scored.sections(report) if part),
            "data": "",
            "script": (_HERE / "page.js").read_text("utf-8"),
        }
    )


def satisfaction_page(result: Mapping[str, Any]) -> str:
    """The whole page about judges of satisfaction."""
    return _filled(
        {
            "title": escape(f"{result['release']['name']}: satisfaction"),
            "style": (_HERE / "page.css").read_text("utf-8"),
            "head": satisfaction.head(result),
            "body": "\n".join(part for part in satisfaction.sections(result) if part),
            "data": "",
            "script": (_HERE / "page.js").read_text("utf-8"),
        }
    )


def _filled(filled: Mapping[str, str]) -> str:
    pieces = (_HERE / "page.html").read_text("utf-8").split("{{")
    return pieces[0] + "".join(filled[name] + rest for name, rest in (piece.split("}}", 1) for piece in pieces[1:]))
