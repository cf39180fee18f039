"""The names in a narrative: runs of capitalised words, of whom each may be, and what tells a name from a word.

Words are in ``patterns``: ``given_names.txt``, ``*_titles.txt``, ``not_names.txt`` (what is no name although it
stands where a name may) and ``common_words.txt`` (what begins sentences, and so has its capital
from there).
"""

from __future__ import annotations

import functools
import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from audits.patterns.criteria import given_names
from audits.text.quotations import Quotations

_WORDS = Path(__file__).parents[1] / "patterns"
_UPPER = "A-Z\u00c0-\u00de\u0100\u010c\u010e\u0130\u0141\u014c\u0150\u0158\u015a\u015e\u0160\u0179\u017b\u017d"
# What stands before the capital is looked at behind it: a search that begins with a set of letters is quicker.
_CAPITAL = re.compile(rf"[{_UPPER}](?<!\w\w)\w*+(?:['\u2019-](?!(?:s|t|d|ll|ve|m|re)\b)\w++)*+(?!['\u2019]t\b)")
_JOINT = re.compile(r"['\u2019-]")
_BEGINS = re.compile(r"(?:^|[.!?\u2026:\u2014\u2013\"\u201c\u201d\u2018\u00ab\n(]|(?<!\w)')\W*$")
_BETWEEN = re.compile(r"(?<=\b\w)\. ?|(?<=\b\w\w)\. |(?<=\b\w\w\w)\. (?<=(?:Mrs|MRS)\. )| ")
# "Pleeease"
_DRAWN = re.compile(r"(.)\1\1")
_RUN = 4
_AGAIN = 60


@dataclass(frozen=True)
class Name:
    """A run of capitalised words that may be a name."""

    title: str
    words: tuple[str, ...]
    start: int
    """Where it begins, title included."""
    first: int
    """Where the name itself begins."""
    end: int
    begins: bool
    """Whether it begins a sentence, so that its capital says nothing."""
    number: int | None
    """The quotation it stands in."""

    @functools.cached_property
    def given(self) -> bool:
        """Whether a word of it is a given name, or it has a title."""
        return bool(self.title) or any(is_given_name(word) or word in _doubled() for word in self.words)

    @functools.cached_property
    def proper(self) -> bool:
        """Whether it is a name at all: given, or a word that is not of the language and no word in capitals."""
        word = max(self.words, key=len)
        if self.given or word.isupper():
            return self.given
        return len(word) > 1 and not is_common(word) and not self._of_a_place and not _DRAWN.search(word)

    @property
    def _of_a_place(self) -> bool:
        return len(self.words) > 1 and self.words[-1].lower() in _listed("place_words")

    @functools.cached_property
    def initialled(self) -> bool:
        """Whether it has an initial and a surname: "M. Okafor"."""
        return len(self.words) > 1 and any(len(word) == 1 for word in self.words)

    @functools.cached_property
    def capitals(self) -> bool:
        """Whether it is written in capitals, as on labels."""
        word = max(self.words, key=len)
        return word.isupper() and len(word) > 2


class Names:
    """The names of a text, each once found, and those that the narrator uses."""

    def __init__(self, quoted: Quotations) -> None:
        self.quoted = quoted
        self.all = list(_names(quoted))
        self._used: dict[str, bool] = {}

    @functools.cached_property
    def told(self) -> frozenset[str]:
        """Words of names outside quotations, which are those of others."""
        words = {word for name in self.all if name.number is None for word in name.words}
        return frozenset(words | {part for word in words for part in _JOINT.split(word)})

    def between(self, start: int, end: int) -> list[Name]:
        """The names that begin in a stretch of the text."""
        return self.all[bisect_left(self._starts, start) : bisect_left(self._starts, end)]

    @functools.cached_property
    def _starts(self) -> list[int]:
        return [name.start for name in self.all]

    def is_used(self, name: Name) -> bool:
        """Whether the narrator says a word of a name aloud in a scene, so that it is another's."""
        return self.quoted.scene.is_wide and any(map(self._is_used, name.words))

    def _is_used(self, word: str) -> bool:
        if word not in self._used:
            self._used[word] = any(map(self.quoted.mine, self._said_in.get(word, ())))
        return self._used[word]

    @functools.cached_property
    def _said_in(self) -> dict[str, set[int]]:
        """The quotations a word of a name stands in."""
        numbers: dict[str, set[int]] = {}
        for name in self.all:
            if name.number is not None:
                for word in name.words:
                    numbers.setdefault(word, set()).add(name.number)
        return numbers

    def once(self, name: Name) -> bool:
        """Whether the text has no word of a name a second time, but right behind it."""
        every = [self._places[word] for word in name.words]  # each in order
        return all(name.start <= places[0] and places[-1] - name.start < _AGAIN for places in every)

    @functools.cached_property
    def _places(self) -> dict[str, list[int]]:
        places: dict[str, list[int]] = {}
        for name in self.all:
            for word in name.words:
                places.setdefault(word, []).append(name.start)
        return places


def _names(quoted: Quotations) -> Iterator[Name]:
    text, skipped, doubles, titles, never = quoted.text, _skipped(), _doubled(), _titles(), _listed("not_names")
    run: list[re.Match[str]] = []
    titled = 0
    for found in _CAPITAL.finditer(text):
        word = found[0]
        if run and (len(run) == _RUN + titled or not _BETWEEN.fullmatch(text, run[-1].end(), found.start())):
            yield from _name(quoted, run, titled)
            run, titled = [], 0
        # What is of the language is part of a name only behind another word of it.
        doubled = word in doubles and not _begins(text, found.start())
        if not run and word in skipped and not doubled:
            continue
        low = word.lower()
        if low in titles and titled == len(run):
            titled += 1
        elif (low in never and not doubled) or (_is_word(found) and not (titled and len(word) == 1 and word != "I")):
            if run:
                yield from _name(quoted, run, titled)
                run, titled = [], 0
            continue
        run.append(found)
    yield from _name(quoted, run, titled)


def _is_word(found: re.Match[str]) -> bool:
    """Whether it is in capitals and no name: "HAPPY", "A"."""
    word = found[0]
    if len(word) == 1:
        return found.string[found.end() :][:1] != "."
    return word.isupper() and is_common(word)


def is_gendered_title(word: str) -> bool:
    """Whether a title says man or woman."""
    return word.lower() in _listed("gendered_titles")


def _name(quoted: Quotations, run: list[re.Match[str]], titled: int) -> Iterator[Name]:
    if len(run) == titled:
        return
    start, title = run[0].start(), run[titled - 1][0] if titled else ""
    run = run[titled:]
    words = [found[0] for found in run]
    begins = not title and _begins(quoted.text, start)
    # "Whenever Anna comes": the first word has its capital from the sentence.
    while begins and not is_given_name(words[0]) and is_common(words[0]):
        run, words, begins = run[1:], words[1:], False
        if not run:
            return
        start = run[0].start()
    yield Name(title, tuple(words), start, run[0].start(), run[-1].end(), begins, quoted.around(start))


def _begins(text: str, place: int) -> bool:
    """Whether a sentence or a quotation begins there."""
    return _BEGINS.search(text[max(0, place - 4) : place]) is not None


@functools.cache
def _skipped() -> frozenset[str]:
    """Words of the language with a capital or in capitals; titles are none."""
    words = (_listed("common_words") | _listed("not_names")) - _titles()
    return frozenset(shape for word in words for shape in (word.capitalize(), word.upper()))


@functools.cache
def _titles() -> frozenset[str]:
    return _listed("neutral_titles") | _listed("gendered_titles")


@functools.cache
def _doubled() -> frozenset[str]:
    """Given names that are words, too, and are names where a capital is not the sentence's."""
    return frozenset(map(str.capitalize, _listed("names_and_words")))


@functools.lru_cache(maxsize=4096)
def is_given_name(word: str) -> bool:
    """Whether a word, in whatever case and with or without accents, is a given name that is no common word."""
    word = word.rstrip("'\u2019-").lower()
    if word in _listed("not_names") or word.endswith(("'s", "\u2019s")):
        return False
    names = _given()
    parts = _JOINT.split(word)
    return word in names or _plain(word) in names or parts[0] in names or "".join(parts) in names


@functools.lru_cache(maxsize=4096)
def is_common(word: str) -> bool:
    """Whether a word is of the language, and has its capital only from where it stands."""
    low = _JOINT.split(word.lower())[0]
    common = _listed("common_words")
    if low in common or low in _listed("not_names"):
        return True
    return any(low.endswith(end) and low[: -len(end)] + add in common for end, add in _ENDINGS)


_ENDINGS = (("s", ""), ("es", ""), ("ies", "y"), ("ed", ""), ("ed", "e"), ("ing", ""), ("ing", "e"), ("ly", ""))


@functools.cache
def _given() -> frozenset[str]:
    return frozenset(map(_plain, given_names())) | given_names()


@functools.cache
def _listed(name: str) -> frozenset[str]:
    words = (_WORDS / f"{name}.txt").read_text("utf-8").lower().split()
    return frozenset(words) | frozenset(map(_plain, words))


def _plain(word: str) -> str:
    return "".join(sign for sign in unicodedata.normalize("NFD", word) if not unicodedata.combining(sign))
