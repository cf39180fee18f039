"""The quotations of a text: what stands inside quotation marks, and what the narrator tells outside them.

A narrator who tells what happens now may quote an aunt who says what will be known years later; so the perspective
criteria look outside quotations only. Which marks belong together is ``schemas.text.quotation_marks``.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

from schemas.text.quotation_marks import Span as Span
from schemas.text.quotation_marks import around as around
from schemas.text.quotation_marks import inside as inside
from schemas.text.quotation_marks import spans as spans


class Quotations:
    """The quotations of a text; found when first asked for."""

    def __init__(self, text: str) -> None:
        self.text = text

    @functools.cached_property
    def spans(self) -> list[Span]:
        """Half-open ranges, marks included, in order and disjoint."""
        return spans(self.text)

    def around(self, place: int) -> int | None:
        """The number of the quotation a place lies in; None outside."""
        return around(self.spans, place)

    def gaps(self) -> Iterator[Span]:
        """What stands before, between and after the quotations."""
        edges = [0, *(edge for span in self.spans for edge in span), len(self.text)]
        return zip(edges[::2], edges[1::2], strict=True)

    def outside(self) -> str:
        """The text without its quotations."""
        return " ".join(self.text[start:end] for start, end in self.gaps())
