"""What every section of the report is made of: a heading that can be linked to, tables that fit a phone, lists."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

import orjson

from evaluators.scoring.ranking import Ranked
from schemas.errors import RequestError

BLOCK_BYTES = 1_150_000
"""What the items of a chapter may take of a page of 1.5 MB."""

FIRST_ITEMS = 1_000
"""How many of very many items are tried first."""

PLACED = "Here are {count:,} of {all:,} {what}, evenly spread: a page of fewer runs has room for more."
"""The note where not all items fit."""


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


def head_html(result: Mapping[str, Any], verdict: str, lead: str, cautions: Sequence[str]) -> str:
    """A chapter's head: the answer in a sentence, what it rests on, what it cannot show (all HTML), and the content."""
    caution = f'<p class="caution"><strong>What this cannot show.</strong> {" ".join(cautions)}</p>' if cautions else ""
    digest = f'<p class="digest">content <code>{result["release"]["content_digest"][:16]}</code></p>'
    return f'<p class="verdict">{verdict}</p><p>{lead}</p>{caution}{digest}'


def only_result(paths: Sequence[Path], results: Sequence[Mapping[str, Any]], fix: str) -> Mapping[str, Any]:
    """The one result of a chapter that can hold no more. Raises RequestError for several."""
    if len(results) > 1:
        raise RequestError(
            f"{len(results)} results of `{results[0]['kind']}`", paths[1], expected="one a page", fix=fix
        )
    return results[0]


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


def data_block_within(
    kind: str, ids: Sequence[str], make: Callable[[Sequence[str]], Any], most: int = BLOCK_BYTES
) -> tuple[str, int]:
    """The block of as many ids as fit ``most`` bytes, evenly spread, and how many those are; ``make`` makes the
    document of some of them. At least one id is in it, whatever its size.

    Of very many ids some are tried first, so that time and memory go with what fits and not with how many there are."""
    count, too_many = min(len(ids), FIRST_ITEMS), len(ids) + 1
    while True:
        block = data_block(kind, make([ids[place * len(ids) // count] for place in range(count)]))
        fitting = int(count * most / len(block) * 0.97)
        if len(block) > most and count > 1:
            too_many = count
            count = max(1, min(count - 1, fitting))
        elif fitting <= count or count + 1 >= too_many:
            return block, count
        else:
            count = min(fitting, too_many - 1)


@dataclass
class SharedWords:
    """Texts that several items of a document have in common, once each."""

    words: list[str] = field(default_factory=list)
    places: dict[str, int] = field(default_factory=dict)

    def place(self, word: str) -> int:
        """The place of a text in ``words``."""
        if word not in self.places:
            self.places[word] = len(self.words)
            self.words.append(word)
        return self.places[word]
