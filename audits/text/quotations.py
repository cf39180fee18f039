"""The quotations of a text: where they are, and as talk, who speaks and to whom.

A narrator who tells what happens now may quote an aunt who says what will be known years later; so
the perspective criteria listen outside quotations only, and the identity criteria inside those of
others. Which marks belong together is ``schemas.text.quotation_marks``; who speaks, and to whom,
``audits.checks.identity.scenes``.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

from audits.checks.identity.scenes import Scene
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

    @functools.cached_property
    def scene(self) -> Scene:
        """Who speaks, and to whom."""
        return Scene(self.text, self.spans)

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

    def mine(self, number: int) -> bool:
        """Whether the narrator speaks a quotation."""
        return self.scene.mine(number)

    def to_me(self, number: int) -> bool:
        """Whether the narrator evidently hears it."""
        return self.scene.to_me(number)

    def to_another(self, number: int) -> bool:
        """Whether it is evidently meant for somebody else."""
        return self.scene.to_another(number)

    def of_me(self, number: int) -> bool:
        """Whether the words beside it say that the narrator is spoken of."""
        return self.scene.of_me(number)
