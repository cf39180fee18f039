"""What a figure means and what would change it, in words, shown where the figure stands.

The words are in ``meanings.toml``, by metric or measure; a figure without an entry is named by its key.

    python -m evaluators report RESULT --out report.html
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path

from evaluators.reporting.parts import table

_FILE = Path(__file__).with_name("meanings.toml")


@functools.cache
def meanings() -> Mapping[str, Mapping[str, str]]:
    """Metric or measure -> ``name``, ``means`` and ``changes``."""
    return tomllib.loads(_FILE.read_text("utf-8"))


def figure_name(metric: str) -> str:
    """What a figure is called."""
    return meanings().get(metric, {}).get("name", metric.replace("_", " ").capitalize())


def explained(metric: str, body: str, name: str | None = None, means: str | None = None) -> str:
    """A figure's block: its name, what it means, what changes it, then ``body``, which is HTML.

    ``name`` and ``means`` stand where the file has no entry.
    """
    known = meanings().get(metric, {})
    title = escape(known.get("name", name or figure_name(metric)))
    said = escape(known.get("means", means or f"Mean of the scores of {metric.replace('_', ' ')} over what applies."))
    changes = escape(known.get("changes", "The answers, and the judge's bias."))
    return (
        f'<div class="figure"><h3>{title}</h3><p>{said} <span class="changes">Changes with: {changes}</span></p>'
        f"{body}</div>"
    )


def glossary(names: Iterable[str]) -> str:
    """A table of figures or methods: what each is, and what would change it. Names without an entry are left out."""
    rows = [
        [escape(figure_name(name)), escape(known["means"]), escape(known["changes"])]
        for name in names
        if (known := meanings().get(name))
    ]
    return table(["Name", "What it is", "Changes with"], rows, 9)
