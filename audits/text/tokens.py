"""A text as the linear model reads it: words, numbers and marks, each known by whether it is quoted.

Names stand for themselves no longer: ``(name)`` is a given name, or a word with a capital inside a sentence that
no word list has; ``(other name)`` is one that is said in a quotation and that the narrator uses outside, so that it
is somebody else's. A token inside a quotation differs from the same one outside (``>``), as "I never saw her
again" is another matter when an aunt says it.

Texts are read many at a time: what a word may stand for is looked up once a word, and all else is sums over arrays of
numbers of tokens. Used by ``audits.text.linear_model``.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from audits.text.names import is_common, is_given_name, titles
from schemas.text.quotation_marks import Span, spans
from schemas.text.sentences import sentences

QUOTED = ">"
"""What a token inside a quotation begins with."""

NAME, OTHER_NAME, CAPITALS, NUMBER, MARK = "(name)", "(other name)", "(capitals)", "(number)", '"'
START, END = "(start)", "(end)"
"""What stands before and behind every sentence."""

Numbers = npt.NDArray[np.int64]

_MARKS = frozenset("\"'\u201c\u201d\u2018\u2019\u00ab\u00bb")
_ENDS = frozenset((".", "!", "?", ":", "\n", MARK))
# A blank is taken along, and words of plain letters tried first: this is most of the time that reading takes.
_TOKEN = re.compile(
    r" ?+([A-Za-z]++(?!['\u2019\u0080-\U0010ffff])|[,.?!:;\n*\u2013\u2014-]|[^\W\d_]++(?:['\u2019][^\W\d_]++)*+|\d+"
    r"|[\"\u201c\u201d\u00ab\u00bb]|(?<!\w)['\u2018\u2019](?=\w)|['\u2019](?!\w))"
)
_GENITIVE = re.compile(r"['\u2019]s$")

MOST_TOKENS = 400
"""Tokens of a sentence; a longer one is read in parts, so that a text without a full stop has parts, too."""


class _Tokens(dict[str, int]):
    """The numbers of tokens, even outside and odd inside quotations, given when a token is first met."""

    def __init__(self) -> None:
        super().__init__()
        self.spelled: list[str] = []

    def __missing__(self, token: str) -> int:
        self[token] = number = len(self.spelled)
        self.spelled += token, QUOTED + token
        return number


class _Words(dict[str, int]):
    """The numbers of words, and a row each of what is known of one.

    That is the token it is where a sentence begins and elsewhere, whether the next word begins one, and its number
    without a genitive.
    """

    def __init__(self) -> None:
        super().__init__()
        self.known = np.zeros((1 << 10, 4), dtype=np.int64)

    def __missing__(self, word: str) -> int:
        self[word] = number = len(self)
        bare = _GENITIVE.sub("", word)
        first, other = _token(word, True), _token(word, False)
        row = _TOKENS[first], _TOKENS[other], first in _ENDS, number if bare == word else self[bare]
        while number >= len(self.known):
            self.known = np.concatenate((self.known, np.zeros_like(self.known)))
        self.known[number] = row
        return number


def _token(word: str, begins: bool) -> str:
    if word[0].isdigit():
        return NUMBER
    if word in _MARKS:
        return MARK
    if word[0].isupper() and len(word) > 1 and word[:2] not in ("I'", "I\u2019"):
        if is_given_name(word):
            return NAME
        if not begins and word.lower() not in titles() and not is_common(word):
            return CAPITALS if word.isupper() else NAME
    return word.lower().replace("\u2019", "'")


_TOKENS, _WORDS = _Tokens(), _Words()
_START, _END, _NAME, _OTHER_NAME = (_TOKENS[token] for token in (START, END, NAME, OTHER_NAME))


def spelling(number: int) -> str:
    """The token of a number."""
    return _TOKENS.spelled[number]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A stretch of a text: half-open ``span``, and the numbers of its tokens, ``START`` and ``END`` among them."""

    span: Span
    numbers: Numbers

    @property
    def tokens(self) -> list[str]:
        """Its tokens, without ``START`` and ``END``."""
        return [spelling(number) for number in self.numbers[1:-1].tolist()]


@dataclass(frozen=True, slots=True)
class Read:
    """The sentences of several texts that have words: ``spans``, and ``counts`` of them in each text.

    The numbers of the tokens of all sentences stand in a row; a sentence begins at its place of ``starts``.
    """

    spans: Sequence[Span]
    counts: Sequence[int]
    numbers: Numbers
    starts: Numbers
    sizes: Numbers

    def sentences(self) -> list[Sentence]:
        """Every sentence by itself."""
        parts = np.split(self.numbers, self.starts[1:]) if len(self.starts) else []
        return [Sentence(span, part) for span, part in zip(self.spans, parts, strict=True)]


@dataclass(frozen=True, slots=True)
class Cut:
    """A text cut into words, and which of them are of which sentence and in quotations, as half-open ranges."""

    words: Sequence[str]
    sentences: Sequence[Span]
    of_sentences: Sequence[Span]
    of_quotations: Sequence[Span]


def cut(text: str, quoted: Sequence[Span] | None = None, sentence_spans: Sequence[Span] | None = None) -> Cut:
    """Cut a text into words; its time is linear in its length.

    ``quoted`` are the spans of its quotations and ``sentence_spans`` those of its sentences, where at hand.
    """
    quoted = spans(text) if quoted is None else quoted
    sentence_spans = sentences(text, quoted) if sentence_spans is None else sentence_spans
    words: list[str] = []
    before: dict[int, int] = {}
    for start, end in _pieces(text, (0, len(text)), [*quoted, *sentence_spans]):
        before[start] = len(words)
        if end - start > 1 or text[start] != " ":
            words += _TOKEN.findall(text, start, end)
    before[len(text)] = len(words)
    stretches: list[Span] = []
    inside: list[Span] = []
    for span in sentence_spans:
        first, last = before[span[0]], before[span[1]]
        if 0 < last - first <= MOST_TOKENS:
            stretches.append(span)
            inside.append((first, last))
        elif last > first:
            places = word_places(text, span, quoted)
            for low in range(0, last - first, MOST_TOKENS):
                high = min(low + MOST_TOKENS, last - first)
                stretches.append((places[low][0], places[high - 1][1]))
                inside.append((first + low, first + high))
    return Cut(words, stretches, inside, [(before[start], before[end]) for start, end in quoted])


def _pieces(text: str, span: Span, edges: Sequence[Span]) -> Iterator[Span]:
    """A stretch of a text without edges inside, one after another."""
    places = {place for edge in edges for place in edge if span[0] <= place <= span[1]}
    return itertools.pairwise(sorted(places | {*span}))


def word_places(text: str, span: Span, quoted: Sequence[Span]) -> list[Span]:
    """Where the words of a sentence begin and end in its text."""
    pieces = _pieces(text, span, quoted)
    return [found.span(1) for start, end in pieces for found in _TOKEN.finditer(text, start, end)]


def read(several: Sequence[Cut]) -> Read:
    """The sentences of texts that are cut into words."""
    lengths = np.array([len(each.words) for each in several], dtype=np.int64)
    words = np.fromiter(
        map(_WORDS.__getitem__, itertools.chain.from_iterable(each.words for each in several)), np.int64, lengths.sum()
    )
    known = _WORDS.known[words]
    text_starts = np.cumsum(lengths) - lengths
    begins = np.concatenate(([1], known[:-1, 2])).astype(bool)[: len(words)]
    begins[text_starts[text_starts < len(words)]] = True
    numbers = np.where(begins, known[:, 0], known[:, 1])
    quoted = _inside(_ranges([each.of_quotations for each in several], text_starts), len(words))
    _set_other_names(numbers, quoted, known[:, 3], np.repeat(np.arange(len(several)), lengths))
    numbers += quoted
    ranges = _ranges([each.of_sentences for each in several], text_starts)
    sizes = ranges[:, 1] - ranges[:, 0] + 2
    starts = np.cumsum(sizes) - sizes
    every = np.full(sizes.sum(), _END, dtype=np.int64)
    every[starts] = _START
    between = np.ones(len(every), dtype=bool)
    between[starts] = between[starts + sizes - 1] = False
    every[between] = numbers[_inside(ranges, len(words))]
    stretches = [span for each in several for span in each.sentences]
    return Read(stretches, [len(each.sentences) for each in several], every, starts, sizes)


def _ranges(of_texts: Sequence[Sequence[Span]], starts: Numbers) -> Numbers:
    """Ranges of words of each text as such of all words."""
    offsets = np.repeat(starts, [len(each) for each in of_texts])
    return np.array([span for each in of_texts for span in each], dtype=np.int64).reshape(-1, 2) + offsets[:, None]


def _inside(ranges: Numbers, length: int) -> npt.NDArray[np.bool_]:
    """Which of so many words lie in one of the disjoint ranges."""
    steps = np.zeros(length + 1, dtype=np.int64)
    np.add.at(steps, ranges[:, 0], 1)
    np.add.at(steps, ranges[:, 1], -1)
    return np.cumsum(steps[:-1]) > 0


def _set_other_names(numbers: Numbers, quoted: npt.NDArray[np.bool_], bare: Numbers, texts: Numbers) -> None:
    names = np.flatnonzero(numbers == _NAME)
    keys, said = texts[names] * (len(_WORDS) + 1) + bare[names], quoted[names]
    numbers[names[said][np.isin(keys[said], keys[~said])]] = _OTHER_NAME


def tokenized(text: str) -> list[Sentence]:
    """The sentences of a text that have words."""
    return read([cut(text)]).sentences()
