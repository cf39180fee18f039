"""A text as the audits read it: its quotations, sentences, folded form and what the linear model says of it.

Each is found when first asked for and then shared by every audit of the text; ``weigh`` asks the model about many texts
at a time, which is quicker.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from audits.text.linear_model import Floats, model
from audits.text.normalisation import Folded, fold
from audits.text.quotations import Quotations, Span
from audits.text.tokens import Cut, Sentence, cut, read
from schemas.text.sentences import sentences

OPENING = "\n\n"
"""What a folded text begins with, so that its first word is like that of any paragraph."""

RUNNING = 600
"""Characters from which on a text is running text and no single sentence."""

LONGEST, OVERLAP = 2_000, 300
"""Characters of a window; a longer sentence is looked through in windows that overlap by so many."""


Window = tuple[int, int, int]
"""A stretch of a folded text that expressions see: half-open, and the place of its sentence in ``stretches``."""


class Passage(Quotations):
    """A text that is audited."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.scans: dict[object, Any] = {}
        """What ``audits.patterns.matcher`` found in it, by who looked."""
        self._likely: Mapping[str, Sequence[int]] = {}

    @functools.cached_property
    def sentence_spans(self) -> list[Span]:
        """The spans of its sentences."""
        return sentences(self.text, self.spans)

    @functools.cached_property
    def cut(self) -> Cut:
        """Its words."""
        return cut(self.text, self.spans, self.sentence_spans)

    @property
    def stretches(self) -> Sequence[Span]:
        """The spans of its sentences that have words, very long ones in parts."""
        return self.cut.sentences

    @functools.cached_property
    def read(self) -> list[Sentence]:
        """Its sentences as the model reads them, those of ``stretches``."""
        return read([self.cut]).sentences()

    @functools.cached_property
    def scores(self) -> Floats:
        """Log-odds of every sentence for every code of the model."""
        weigh([self])
        return self.scores

    def likely(self, code: str) -> Sequence[int]:
        """The places in ``stretches`` of the sentences that the model takes for what a code is for."""
        if not self.is_weighed:
            weigh([self])
        return self._likely.get(code, ())

    def scores_of(self, code: str) -> list[float]:
        """Log-odds of every sentence for a code."""
        scores: list[float] = self.scores[:, model().codes.index(code)].tolist()
        return scores

    def possible(self, code: str) -> list[bool]:
        """Whether the model does not rule a sentence out for a code, for each of ``stretches``."""
        gate = model().settings[code].gate
        return [score >= gate for score in self.scores_of(code)]

    @property
    def is_weighed(self) -> bool:
        """Whether the model was asked about it."""
        return "scores" in self.__dict__

    @functools.cached_property
    def folded(self) -> Folded:
        """Its folded form, behind ``OPENING``."""
        return fold(OPENING + self.text)

    def original(self, start: int, end: int) -> Span:
        """Where a stretch of the folded text stands in the text."""
        return max(self.folded.at(start) - len(OPENING), 0), max(self.folded.at(end) - len(OPENING), 0)

    @property
    def running(self) -> bool:
        """Whether it is running text."""
        return len(self.text) >= RUNNING

    @functools.cached_property
    def windows(self) -> list[Window]:
        """Its sentences as windows of its folded form, in order; a long one in several."""
        return list(self._windows(self.stretches))

    @property
    def long_windows(self) -> list[Window]:
        """All of it as windows of its folded form."""
        return list(self._windows([(0, len(self.text))]))

    def _windows(self, spans: Sequence[Span]) -> Iterator[Window]:
        for number, (start, end) in enumerate(spans):
            first, last = self.folded.place(start + len(OPENING)), self.folded.place(end + len(OPENING))
            if last - first < LONGEST:
                yield first, last + 1, number
            else:
                for low in range(first, last - OVERLAP, LONGEST - OVERLAP):
                    yield low, min(low + LONGEST, last + 1), number


def weigh(passages: Sequence[Passage]) -> None:
    """Find what the model says of many texts at a time."""
    known = model()
    texts = read([each.cut for each in passages])
    scores = known.scores(texts)
    firsts = np.cumsum([0, *texts.counts])
    running = np.repeat(np.array([each.running for each in passages], dtype=bool), texts.counts)
    settings = known.settings.values()
    alone, among = np.array([each.threshold for each in settings]), np.array([each.running for each in settings])
    likely: list[dict[str, list[int]]] = [{} for _ in passages]
    owners = np.repeat(np.arange(len(passages)), texts.counts)
    for sentence, column in np.argwhere(scores >= np.where(running[:, None], among, alone)).tolist():
        owner = owners[sentence]
        likely[owner].setdefault(known.codes[column], []).append(int(sentence - firsts[owner]))
    for number, passage in enumerate(passages):
        passage._likely, passage.scores = likely[number], scores[firsts[number] : firsts[number + 1]]
