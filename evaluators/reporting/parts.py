"""What every section of the report is made of: a heading that can be linked to, tables that fit a phone, lists."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import orjson

from evaluators.scoring.ranking import Ranked


@dataclass(frozen=True)
class Section:
    """A section of a chapter; false where it has nothing to show. ``body`` and ``lead`` are HTML."""

    name: str
    title: str
    body: str
    lead: str = ""

    def __bool__(self) -> bool:
        return bool(self.body)

    def html(self, prefix: str = "") -> str:
        """The section; ``prefix`` keeps its id apart from other chapters'."""
        name = f"{prefix}{self.name}"
        lead = f'<p class="lead">{self.lead}</p>' if self.lead else ""
        heading = f'<h2 id="{name}-h">{escape(self.title)}</h2>'
        return f'<section id="{name}" aria-labelledby="{name}-h">{heading}{lead}{self.body}</section>'


@dataclass(frozen=True)
class Chapter:
    """What results of one kind on one release come to: a head (HTML) and sections; ``title`` names the release."""

    title: str
    about: str
    head: str
    sections: Sequence[Section]
    ranks: Sequence[Ranked] = ()


def table(head: Sequence[str], rows: Sequence[Sequence[str]], numbers: int = 1) -> str:
    """A table of ready cells; columns from ``numbers`` on hold numbers. The first column names the row.

    A narrow screen shows each row as a list, so every cell carries its column's name."""
    top = "".join(
        f'<th scope="col"{" class=n" if place >= numbers else ""}>{escape(name)}</th>'
        for place, name in enumerate(head)
    )
    body = "".join(f'<tr><th scope="row">{row[0]}</th>{_cells(head, row, numbers)}</tr>' for row in rows)
    return f'<div class="wide"><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'


def _cells(head: Sequence[str], row: Sequence[str], numbers: int) -> str:
    return "".join(
        f'<td{" class=n" if place >= numbers else ""} data-label="{escape(head[place])}">{cell}</td>'
        for place, cell in enumerate(row[1:], 1)
    )


def counted(counts: Mapping[str, int]) -> str:
    """Names with their counts, in order of name."""
    return ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items()))


def data_block(kind: str, document: Any) -> str:
    """A document for the page's script, compressed (gzip, base64) so that no text in it can end the element.

    The script hands it, unpacked once somebody comes near, to its function of this ``kind`` together with the section
    it stands in. The same document gives the same bytes.
    """
    packed = base64.b64encode(gzip.compress(orjson.dumps(document), 9, mtime=0)).decode()
    return f'<script type="text/plain" class="data" data-kind="{kind}">{packed}</script>'
