"""One expression of a pattern: the anchors that say where to look, and what is found there.

An anchor in a text tells where a match round it can begin, mostly to the letter. So an expression is
tried at these few places and not at every letter of a sentence. Only where anything may stand before
the anchor it is searched for; then without the ``\\b`` that nearly every expression begins with, as
``re`` leaps to the first letter of one that begins with a letter.
"""

from __future__ import annotations

import functools
import re
import re._compiler as compiler  # type: ignore[import-not-found]
import re._constants as sre  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from audits.patterns.anchors import anchors
from audits.patterns.runs import Anchors, Lead

NEAR, FEW = 48, 4
"""Characters in which a match may begin and edges, or else all places, are tried one by one; in more it is searched."""

_EDGE = re.compile(r"\b")


@dataclass(frozen=True)
class Expression:
    """An expression over folded text (``audits.text.normalisation``), in the language of ``re``."""

    source: str

    @functools.cached_property
    def anchors(self) -> Anchors:
        """Strings of which every match contains one, and how far behind its beginning; {} where there are none."""
        return anchors(self.source)

    def matches(self, text: str, start: int, end: int) -> Iterator[re.Match[str]]:
        """What is found from ``start`` to ``end`` of a text, from left to right and none overlapping another."""
        return self._compiled[0].finditer(text, start, end)

    def matches_at(self, text: str, start: int, end: int, anchor: int, lead: Lead) -> Sequence[re.Match[str]]:
        """What is found from ``start`` to ``end`` of a text and begins ``lead`` characters before an anchor.

        At every place the match of ``re``; they may overlap each other.
        """
        compiled, edgeless = self._compiled
        first, last = max(start, anchor - lead[1]), anchor - lead[0]
        if first == last:
            found = compiled.match(text, first, end)
            return () if found is None else (found,)
        if last - first >= (FEW if edgeless is None else NEAR):
            return list(self._searched(text, first, last, end))
        places = range(first, last + 1) if edgeless is None else _edges(text, first, last)
        tried = (compiled.match(text, place, end) for place in places)
        return [found for found in tried if found is not None]

    def _searched(self, text: str, first: int, last: int, end: int) -> Iterator[re.Match[str]]:
        compiled, edgeless = self._compiled
        search = (edgeless or compiled).search
        while first <= last and (found := search(text, first, end)) is not None:
            first = found.start() + 1
            if first <= last + 1 and (edgeless is None or _EDGE.match(text, first - 1)):
                yield found

    @functools.cached_property
    def _compiled(self) -> tuple[re.Pattern[str], re.Pattern[str] | None]:
        """The expression and, where it begins at an edge, what is behind that."""
        # Taking it apart is most of the work of compiling, and done once. Where its parse begins at an edge, so does
        # every branch of it.
        parse = parser.parse(self.source)
        at_edge = bool(parse) and parse[0] == (sre.AT, sre.AT_BOUNDARY)
        return compiler.compile(parse), compiler.compile(parse[1:]) if at_edge else None


def _edges(text: str, first: int, last: int) -> list[int]:
    # To see an edge the letter behind it is needed, which may be an edge itself.
    return [edge.start() for edge in _EDGE.finditer(text, first, last + 1) if edge.start() <= last]
