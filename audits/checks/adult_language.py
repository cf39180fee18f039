"""``perspective.adult`` in sentences that no pattern foresaw: how adult a child's sentence reads, word by word.

Adult evaluation has a thousand phrasings, but a register of its own. So every word of a sentence is weighed: by
itself, by the fragments of its spelling (``-ation`` tells in words nobody listed), by how far it is above a
child (``audits.checks.age_register``), and with the one or two behind it. Names and numbers are weighed as such. The
weights are those of a logistic regression on labelled sentences and stand in ``evaluation.tsv``, a line each;
``python -m perf.evaluation`` fits them, and ``python -m perf.agreement`` measures what they are worth.

HEART-BENCH appendix B.4 (2), G.2.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from audits.checks.age_register import register
from audits.patterns.criteria import criteria
from audits.subjects import Subject, at_words
from audits.text.quotations import Quotations, Span
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
_MARKS = frozenset(",;:?!\u2013\u2014")
_TOKEN = re.compile(rf"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*|\d+|[{''.join(sorted(_MARKS))}]")


def audit(subject: Subject, quoted: Quotations, spans: Sequence[Span], judged: Collection[Span]) -> Iterator[Finding]:
    """``perspective.adult`` findings of a child's memory, of which ``spans`` are the sentences.

    ``judged`` are the spans that the patterns found: their sentences are judged already.
    """
    criterion, told, known = criteria()[CODE], _told(quoted), weights()
    for start, end in spans:
        words = _tokens(told, start, end)
        if not words or known.sentence(words) <= 0:
            continue
        at = [found.span() for found in _TOKEN.finditer(told, start, end)]
        if not any(first < at[-1][1] and last > at[0][0] for first, last in judged):
            most = _heaviest(words)
            named = ", ".join(quoted.text[slice(*at[place])] for place in most)
            span = (at[most[0]][0], at[most[-1]][1])
            message = f"{criterion.message} (it reads so, by {named})"
            yield at_words(subject, CODE, criterion.severity, _FIELD, span, message, criterion.source)


def told(quoted: Quotations, sentences: Sequence[Span]) -> Iterator[list[str]]:
    """The tokens of each of the narrator's own sentences that can be weighed."""
    text = _told(quoted)
    return filter(None, (_tokens(text, start, end) for start, end in sentences))


def _told(quoted: Quotations) -> str:
    """The text with blanks for what is quoted, every character in its place."""
    parts: list[str] = []
    done = 0
    for start, end in quoted.gaps():
        parts += [" " * (start - done), quoted.text[start:end]]
        done = end
    return "".join(parts)


def _tokens(told: str, start: int, end: int) -> list[str]:
    """The tokens of a sentence; none where it has too few words to evaluate anything."""
    found = _TOKEN.findall(told, start, end)
    if len(found) < FEWEST_WORDS:
        return []
    words = [_token(found[0], False), *[_token(word, True) for word in found[1:]]]
    return words if len([word for word in words if word not in _MARKS]) >= FEWEST_WORDS else []


def _heaviest(words: Sequence[str]) -> list[int]:
    """The places of the words that say most for it, in order."""
    known = weights()
    spoken = [place for place, word in enumerate(words) if word not in _MARKS]
    return sorted(sorted(spoken, key=lambda place: -known.token(words[place]))[:_NAMED])


@dataclass(frozen=True)
class Weights:
    """Weights by piece of a sentence, in log-odds."""

    by_piece: Mapping[str, float]

    def sentence(self, tokens: Sequence[str]) -> float:
        """Log-odds that a sentence of these tokens is of the kind."""
        known, root = self.by_piece, math.sqrt(len(tokens))
        weight = known[BIAS] + sum(map(self.token, tokens)) / root
        return weight if weight < HOPELESS else weight + sum([known.get(run, 0.0) for run in _runs(tokens)]) / root

    @functools.cached_property
    def token(self) -> Callable[[str], float]:
        """What a token weighs by itself, whatever stands beside it."""
        return functools.cache(lambda token: sum([self.by_piece.get(piece, 0.0) for piece in _pieces(token)]))


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


@functools.cache  # texts have few different words, and many of each
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
