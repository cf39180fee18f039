"""A text as the audits read it: its quotations, sentences, folded form and what the linear model says of it.

Each is found when first asked for and then shared by every audit of the text; ``weigh`` asks the model about many texts
at a time, which is quicker.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from audits.text.linear_model import model
from audits.text.normalisation import Folded, fold
from audits.text.quotations import Quotations, Span
from audits.text.tokens import Sentence, tokenized
from schemas.text.sentences import sentences

OPENING = "\n\n"
"""What a folded text begins with, so that its first word is like that of any paragraph."""

RUNNING = 600
"""Characters from which on a text is running text and no single sentence."""

LONGEST, OVERLAP = 2_000, 300
"""Characters of a window; a longer sentence is looked through in windows that overlap by so many."""


class Passage(Quotations):
    """A text that is audited."""

    @functools.cached_property
    def told(self) -> list[Span]:
        """The spans of its sentences."""
        return sentences(self.text, self.spans)

    @functools.cached_property
    def read(self) -> list[Sentence]:
        """Its sentences as the model reads them."""
        return tokenized(self.text, self.spans, self.told)

    @functools.cached_property
    def scores(self) -> npt.NDArray[np.float64]:
        """Log-odds of every sentence of ``read`` for every code of the model."""
        return model().scores([self.read])[0]

    @functools.cached_property
    def folded(self) -> Folded:
        """Its folded form, behind ``OPENING``."""
        return fold(OPENING + self.text)

    def original(self, start: int, end: int) -> Span:
        """Where a stretch of the folded text stands in the text."""
        return max(self.folded.at(start) - len(OPENING), 0), max(self.folded.at(end) - len(OPENING), 0)

    def places(self, code: str, least: float) -> npt.NDArray[np.int64]:
        """The places in ``read`` of the sentences whose log-odds for a code are ``least`` or more."""
        return np.flatnonzero(self.scores[:, model().codes.index(code)] >= least)

    @property
    def running(self) -> bool:
        """Whether it is running text."""
        return len(self.text) >= RUNNING

    def likeliest(self, code: str) -> list[int]:
        """The places in ``read`` of all sentences, the likeliest for a code first."""
        order: list[int] = np.argsort(-self.scores[:, model().codes.index(code)], kind="stable").tolist()
        return order

    def likely(self, code: str) -> list[int]:
        """The places in ``read`` of the sentences that the model takes for what a code is for."""
        known = model().settings[code]
        found: list[int] = self.places(code, known.running if self.running else known.threshold).tolist()
        return found

    def windows(self, code: str) -> Iterator[Span]:
        """Stretches of the folded text in which patterns of a code are looked for, each a sentence, if not too long.

        Of a code that the model knows those that it does not rule out, else all.
        """
        known = model().settings.get(code)
        if known is None:
            stretches = [(0, len(self.text))]
        else:
            gate = known.running_gate if self.running else known.gate
            stretches = [self.read[place].span for place in self.places(code, gate)]
        yield from self.stretches(stretches)

    def stretches(self, spans: Sequence[Span]) -> Iterator[Span]:
        """Stretches of the text as windows of its folded form."""
        for start, end in spans:
            first, last = self.folded.place(start + len(OPENING)), self.folded.place(end + len(OPENING))
            for low in range(first, max(last - OVERLAP, first + 1), LONGEST - OVERLAP):
                yield low, min(low + LONGEST, last + 1)


def weigh(passages: Sequence[Passage]) -> None:
    """Find the scores of many texts at a time."""
    for passage, scores in zip(passages, model().scores([each.read for each in passages]), strict=True):
        passage.scores = scores
