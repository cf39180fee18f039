"""``perspective.adult`` in sentences that no pattern foresaw: how adult a child's sentence reads, word by word.

Adult evaluation has a thousand phrasings, but a register of its own. So every word of a sentence is weighed: by
itself, by the fragments of its spelling (``-ation`` tells in words nobody listed), by how far it is above a
child (``audits.register``), and with the one or two behind it. Names and numbers are weighed as such. The
weights are those of a logistic regression on labelled sentences and stand in ``evaluation.tsv``, a line each;
``python -m perf.evaluation`` fits them, and ``python -m perf.agreement`` measures what they are worth.

HEART-BENCH appendix B.4 (2), G.2.
"""

from __future__ import annotations

import functools
import math
import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from audits.criteria import criteria
from audits.reading import Subject, at_words
from audits.register import register
from audits.speech import Quotations, Span
from schemas.findings import Finding

CODE = "perspective.adult"
WEIGHTS = Path(__file__).with_suffix(".tsv")

FEWEST_WORDS = 4
"""A sentence of fewer words evaluates nothing."""

BIAS = "(bias)"
"""What every sentence weighs; such that one of more than 0 is a finding."""

HOPELESS = -3.0
"""A sentence whose words weigh less by themselves is no finding, whatever stands beside what."""

NAME, NUMBER = "(name)", "(number)"

_NAMED = 3
_FIELD = "content_full"
_SIZES = (4, 5)
_TOKEN = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*|\d+|[,;:?!\u2013\u2014]")


def audit(subject: Subject, quoted: Quotations, spans: Sequence[Span], judged: Collection[Span]) -> Iterator[Finding]:
    """``perspective.adult`` findings of a child's memory, of which ``spans`` are the sentences.

    ``judged`` are the spans that the patterns found: their sentences are judged already.
    """
    criterion = criteria()[CODE]
    for at, words in told(quoted, spans):
        if weights().sentence(words) > 0 and not any(first < at[-1][1] and last > at[0][0] for first, last in judged):
            most = _heaviest(words)
            named = ", ".join(quoted.text[slice(*at[place])] for place in most)
            span = (at[most[0]][0], at[most[-1]][1])
            message = f"{criterion.message} (it reads so, by {named})"
            yield at_words(subject, CODE, criterion.severity, _FIELD, span, message, criterion.source)


def told(quoted: Quotations, sentences: Sequence[Span]) -> Iterator[tuple[list[Span], list[str]]]:
    """The narrator's own sentences that can be weighed: the places of their tokens, and these."""
    text = quoted.text
    at = [found.span() for start, end in quoted.gaps() for found in _TOKEN.finditer(text, start, end)]
    starts = [start for start, _ in at]
    for start, end in sentences:
        own = at[bisect_left(starts, start) : bisect_left(starts, end)]
        words = [_token(text[start:end], number > 0) for number, (start, end) in enumerate(own)]
        if sum(map(_is_word, words)) >= FEWEST_WORDS:
            yield own, words


def _heaviest(words: Sequence[str]) -> list[int]:
    """The places of the words that say most for it, in order."""
    known = weights()
    spoken = [place for place, word in enumerate(words) if _is_word(word)]
    return sorted(sorted(spoken, key=lambda place: -known.token(words[place]))[:_NAMED])


def _is_word(token: str) -> bool:
    return token[0].isalpha() or token[0] == "("


@dataclass(frozen=True)
class Weights:
    """Weights by piece of a sentence, in log-odds."""

    by_piece: Mapping[str, float]
    _tokens: dict[str, float] = field(default_factory=dict, repr=False)

    def sentence(self, tokens: Sequence[str]) -> float:
        """Log-odds that a sentence of these tokens is of the kind."""
        known, root = self.by_piece, math.sqrt(len(tokens))
        weight = known[BIAS] + sum(map(self.token, tokens)) / root
        return weight if weight < HOPELESS else weight + sum([known.get(run, 0.0) for run in _runs(tokens)]) / root

    def token(self, token: str) -> float:
        """What a token weighs by itself, whatever stands beside it."""
        weight = self._tokens.get(token)
        if weight is None:
            weight = self._tokens[token] = sum([self.by_piece.get(piece, 0.0) for piece in _pieces(token)])
        return weight


@functools.cache
def weights() -> Weights:
    """The weights of ``evaluation.tsv``."""
    lines = WEIGHTS.read_text("utf-8").splitlines()
    return Weights({piece: float(value) for piece, value in (line.split("\t") for line in lines)})


def pieces(tokens: Sequence[str]) -> Iterator[str]:
    """All that is weighed of a sentence, as often as it occurs."""
    for token in tokens:
        yield from _pieces(token)
    yield from _runs(tokens)


def _token(word: str, inside: bool) -> str:
    if word[0].isdigit():
        return NUMBER
    if inside and word[0].isupper() and word[0] != "I":
        return NAME
    return word.lower().replace("\u2019", "'")


def _pieces(token: str) -> Iterator[str]:
    yield token
    if token[0].isalpha():
        edged = f"<{token}>"
        yield f"(register {register().weight(token)})"
        for size in _SIZES:
            yield from (f"~{edged[start : start + size]}" for start in range(len(edged) - size + 1))


def _runs(tokens: Sequence[str]) -> Iterator[str]:
    yield from map(" ".join, pairwise(tokens))
    yield from map(" ".join, zip(tokens, tokens[1:], tokens[2:], strict=False))
