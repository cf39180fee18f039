"""``perspective.adult`` in sentences that no pattern foresaw: how adult a child's sentence reads, word by word.

Adults' evaluation has a thousand phrasings, but a register of its own. So every word of a sentence is
weighed, by itself, by the fragments of its spelling (which tell ``-ation`` in words nobody listed) and with
its neighbour; a sentence that weighs more than ``THRESHOLD`` is a finding. The weights are those of a
logistic regression on labelled sentences and stand in ``evaluation.tsv``, a line each;
``python -m perf.evaluation`` fits them, and ``python -m perf.agreement`` measures what they are worth.

HEART-BENCH appendix B.4 (2), G.2.
"""

from __future__ import annotations

import functools
import math
import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from audits.criteria import criteria
from audits.reading import Subject, at_words
from audits.register import is_said, register
from audits.speech import Quotations, Span
from schemas.findings import Finding

CODE = "perspective.adult"
WEIGHTS = Path(__file__).with_suffix(".tsv")
BIAS = "(bias)"
"""The line of the weights that holds for every sentence."""

THRESHOLD = 0.0
"""Log-odds from which on a sentence is a finding."""

FEWEST_WORDS = 4
"""A sentence of fewer words evaluates nothing."""

_NAMED = 3
_SIZES = (3, 4, 5)
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")


def audit(subject: Subject, quoted: Quotations, spans: Sequence[Span], judged: Collection[Span]) -> Iterator[Finding]:
    """``perspective.adult`` findings of a child's memory, of which ``spans`` are the sentences.

    ``judged`` are the spans that the patterns found: their sentences are judged already.
    """
    criterion = criteria()[CODE]
    for sentence, words in zip(spans, told(quoted, spans), strict=True):
        if not _is_finding(words) or any(first < sentence[1] and last > sentence[0] for first, last in judged):
            continue
        said = [word for word in words if is_said(quoted.text, sentence[0], word)]
        if _is_finding(said):
            most = [said[place] for place in weightiest([word[0] for word in said], _NAMED)]
            span = (most[0].start(), most[-1].end())
            message = f"{criterion.message} (it reads so, by {', '.join(word[0] for word in most)})"
            yield at_words(subject, CODE, criterion.severity, "content_full", span, message, criterion.source)


def _is_finding(words: Sequence[re.Match[str]]) -> bool:
    return len(words) >= FEWEST_WORDS and weight([word[0] for word in words]) > THRESHOLD


def told(quoted: Quotations, sentences: Sequence[Span]) -> Iterator[list[re.Match[str]]]:
    """The narrator's own words of each sentence, but for names: words with a capital that begin nothing."""
    words = [word for start, end in quoted.gaps() for word in _WORD.finditer(quoted.text, start, end)]
    starts = [word.start() for word in words]
    for start, end in sentences:
        said = words[bisect_left(starts, start) : bisect_left(starts, end)]
        yield [word for word in said if word is said[0] or word[0][0].islower() or word[0][0] == "I"]


def weight(words: Sequence[str]) -> float:
    """Log-odds that a sentence of these words is an adult's evaluation."""
    known = _weights()
    spelt = [_spelt(word) for word in words]
    pairs = sum([known.get(f"{one} {other}", 0.0) for one, other in pairwise(spelt)])
    return known[BIAS] + (sum(map(_of_word, spelt)) + pairs) / math.sqrt(len(spelt))


def weightiest(words: Sequence[str], count: int) -> list[int]:
    """The places of the words that say most for it, in order."""
    by_weight = sorted(range(len(words)), key=lambda place: -_of_word(_spelt(words[place])))
    return sorted(by_weight[:count])


def fragments(words: Sequence[str]) -> Iterator[str]:
    """All that is weighed of a sentence: words, their fragments and pairs of neighbours, as often as they occur."""
    spelt = [_spelt(word) for word in words]
    for word in spelt:
        yield from _pieces(word)
        yield f"({register().weight(word)})"
    yield from (f"{one} {other}" for one, other in pairwise(spelt))


def _pieces(word: str) -> Iterator[str]:
    edged = f"<{word}>"
    yield f"={word}"
    for size in _SIZES:
        yield from (edged[start : start + size] for start in range(len(edged) - size + 1))


def _spelt(word: str) -> str:
    return word.lower().replace("\u2019", "'")


@functools.lru_cache(maxsize=1 << 16)
def _of_word(word: str) -> float:
    known = _weights()
    return sum([known.get(piece, 0.0) for piece in (*_pieces(word), f"({register().weight(word)})")])


@functools.cache
def _weights() -> Mapping[str, float]:
    lines = WEIGHTS.read_text("utf-8").splitlines()
    return {piece: float(value) for piece, value in (line.split("\t") for line in lines)}
