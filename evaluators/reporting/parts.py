"""What the parts of the report share: the report itself, sections, tables, and who the characters are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from evaluators.protocols.bench import Bench
from evaluators.scoring.results import Result
from schemas.tables import vocabulary

SETTINGS = {
    "vanilla": "nothing is known of the person",
    "recent": "the last memories before the situation",
    "naive_rag": "the memories most similar to the situation",
    "mem0": "what the package mem0 keeps and finds",
    "persona_db": "narratives and statements, by fields of the persona",
    "oracle": "the memories that the release says the situation calls up",
    "full": "all memories up to the situation",
}


@dataclass(frozen=True)
class Report:
    """What the page is about; ``names`` are those of ``results``, ``compared`` what ``comparison`` says of them."""

    bench: Bench
    results: Sequence[Result]
    names: Sequence[str]
    compared: Mapping[str, Any]

    @property
    def manifest(self) -> Mapping[str, Any]:
        """The release's."""
        return self.bench.release.manifest

    @property
    def settings(self) -> list[str]:
        """The settings of the runs, in the order of the paper."""
        present = {result["run"]["setting"] for result in self.results}
        return [name for name in SETTINGS if name in present]

    def of_setting(self, setting: str) -> list[Result]:
        """The runs under a setting."""
        return [result for result in self.results if result["run"]["setting"] == setting]


def section(name: str, title: str, body: str, lead: str = "") -> str:
    """A section with a heading that can be linked to."""
    if not body:
        return ""
    said = f'<p class="lead">{lead}</p>' if lead else ""
    return (
        f'<section id="{name}" aria-labelledby="{name}-h"><h2 id="{name}-h">{escape(title)}</h2>{said}{body}</section>'
    )


def table(head: Sequence[str], rows: Sequence[Sequence[str]], numbers: int = 1) -> str:
    """A table of ready cells; columns from ``numbers`` on hold numbers. The first column names the row."""
    top = "".join(
        f'<th scope="col"{" class=n" if place >= numbers else ""}>{escape(name)}</th>'
        for place, name in enumerate(head)
    )
    body = "".join(
        f'<tr><th scope="row">{row[0]}</th>'
        + "".join(f"<td{' class=n' if place >= numbers else ''}>{cell}</td>" for place, cell in enumerate(row[1:], 1))
        + "</tr>"
        for row in rows
    )
    return f'<div class="wide"><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'


def people(report: Report) -> dict[str, str]:
    if "characters" not in report.bench.release.tables:
        return {}
    labels = {term["id"]: term["label"] for term in vocabulary("archetypes")}
    rows = report.bench.release.table("characters", ["character_id", "archetype"]).to_pylist()
    return {
        row["character_id"]: f"{row['character_id']}, {labels.get(row['archetype'], row['archetype'])}" for row in rows
    }


def counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items()))
