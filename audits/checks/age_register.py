"""``age.register``: a child of six to twelve tells plainly, in words a child has.

Every word is weighed: one that stands on a list of ``age_register.toml``, or is formed like the learned
words of adults (``-tion``, ``-ity``, ``-ulous``) and is none of those a child hears every day. Only the
narrator's own words are judged, not what others say, and no word that is merely mentioned.

HEART-BENCH appendix G.2 (age-stratified constraints).
"""

from __future__ import annotations

import functools
import re
import tomllib
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from audits.subjects import Subject, at_words
from audits.text.quotations import Quotations, Span
from schemas.findings import Finding

CODE = "age.register"

_DATA = Path(__file__).with_suffix(".toml")
_SOURCE = "HEART-BENCH appendix G.2"
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")
_FIELD = "content_full"
_FEWEST_WORDS = 80

_ADULT, _OLDER = 3, 1
_INFLECTIONS = (("ies", "y"), ("es", ""), ("s", ""), ("ied", "y"), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", ""))
_DERIVATIONS = (("ically", "ic"), ("bly", "ble"), ("ily", "y"), ("ly", ""), ("ly", "le"), ("iness", "y"), ("ness", ""))
_DOUBLED = re.compile(r"([bdgklmnprt])\1(?:ed|ing)$")
_NEGATED = re.compile(r"(?:un|in|im|il|ir|dis|non|over|under|mis)(?=[a-z]{5})")
_MENTIONED = re.compile(
    r"\b(?:sa(?:id|ys?)|call(?:s|ed)?|told (?:me|us)|means?|spell(?:s|ed|ing)?|words?|named|reads?|wrote|written)\b"
    r"[^,;:.!?]{0,40}$"
)


@dataclass(frozen=True)
class Band:
    """What is too much up to an age: the weight of a sentence's words, words a sentence in the mean."""

    to_age: int
    weight_in_sentence: int
    mean_words: int


@dataclass(frozen=True)
class Register:
    """The data file, read. All spellings in it are those of ``_spelt``."""

    bands: tuple[Band, ...]
    weights: Mapping[str, int]
    shortest: int
    adult_endings: tuple[str, ...]
    older_from: int
    older_endings: tuple[str, ...]
    phrases: re.Pattern[str]

    def weight(self, word: str) -> int:
        """How far a word is above a child: 0 for those of every day, 1 or 3."""
        spelt = _spelt(word)
        if "-" in spelt and spelt not in self.weights:
            parts = spelt.split("-")
            return _ADULT if parts[0] == "self" else max(map(self.weight, parts))
        for form in _forms(spelt):
            known = self.weights.get(form)
            if known is not None:
                return known
        if any(self.weights.get(_NEGATED.sub("", form, count=1)) == _ADULT for form in _forms(spelt)):
            return _ADULT
        return max(map(self._by_ending, _forms(spelt)))

    def _by_ending(self, form: str) -> int:
        if len(form) >= self.shortest and form.endswith(self.adult_endings):
            return _ADULT
        return _OLDER if len(form) >= self.older_from and form.endswith(self.older_endings) else 0


@functools.cache
def register() -> Register:
    """The thresholds and word lists of ``age_register.toml``."""
    data: Mapping[str, Any] = tomllib.loads(_DATA.read_text("utf-8"))
    words, endings = data["words"], data["endings"]
    weights = {"adult": _ADULT, "older": _OLDER, "plain": 0}
    return Register(
        bands=tuple(Band(**band) for band in data["bands"]),
        weights={_spelt(word): weight for name, weight in weights.items() for word in words[name].split()},
        shortest=endings["shortest"],
        adult_endings=tuple(endings["adult"]),
        older_from=endings["older_from"],
        older_endings=tuple(endings["older"]),
        phrases=re.compile(rf"\b(?:{'|'.join(words['phrases'].strip().splitlines())})\b"),
    )


def _spelt(word: str) -> str:
    """Lower case, without a genitive, in one of the spellings on both sides of the Atlantic."""
    plain = word.lower().replace("\u2019", "'").removesuffix("'s")
    plain = re.sub(r"([a-z]{3}i|[a-z]{3}y)s(e|es|ed|ing|ation|ations|er)$", r"\1z\2", plain)
    return re.sub(r"([a-z]{2})our", r"\1or", plain).replace("\u00ef", "i").replace("\u00e9", "e")


def _forms(word: str) -> list[str]:
    """A word and what it may be an inflection or plain derivation of."""
    forms = [word]
    for endings in (_INFLECTIONS, _DERIVATIONS):
        for form in tuple(forms):
            for ending, instead in endings:
                if (
                    form.endswith(ending)
                    and len(form) - len(ending) >= 3
                    and not (ending == "s" and form.endswith("ss"))
                ):
                    forms.append(form.removesuffix(ending) + instead)
    if _DOUBLED.search(word):
        forms.append(_DOUBLED.sub(r"\1", word))
    return forms


@functools.lru_cache(maxsize=1 << 16)
def _weight(word: str) -> int:
    return register().weight(word)


def audit(subject: Subject, age: int, quoted: Quotations, sentence_spans: Sequence[Span]) -> Iterator[Finding]:
    """``age.register`` findings of a child's memory, none above the last band; spans are those of its sentences."""
    band = next((band for band in register().bands if age <= band.to_age), None)
    if band is None:
        return
    words = [found for start, end in quoted.gaps() for found in _WORD.finditer(quoted.text, start, end)]
    for said in _heavy(quoted, sentence_spans, words).values():
        if sum(_ADULT if " " in word else _weight(word) for word in said) >= band.weight_in_sentence:
            span = (min(found.start() for found in said.values()), max(found.end() for found in said.values()))
            message = f"no words of a child of {age}: {', '.join(sorted(said))}"
            yield at_words(subject, CODE, "warning", _FIELD, span, message, _SOURCE)
    yield from _long_sentences(subject, age, band, sentence_spans, [found.start() for found in words])


def _heavy(
    quoted: Quotations, sentence_spans: Sequence[Span], words: Sequence[re.Match[str]]
) -> Mapping[Span, Mapping[str, re.Match[str]]]:
    """The narrator's own words above a child, by sentence: each word once, in lower case."""
    said: dict[Span, dict[str, re.Match[str]]] = {}
    for found in [*(found for found in words if _weight(found[0])), *_phrases(quoted)]:
        sentence = sentence_spans[bisect_right(sentence_spans, found.start(), key=lambda span: span[0]) - 1]
        if is_said(quoted.text, sentence[0], found):
            said.setdefault(sentence, {})[found[0].lower()] = found
    return said


def _long_sentences(
    subject: Subject, age: int | None, band: Band, sentence_spans: Sequence[Span], starts: Sequence[int]
) -> Iterator[Finding]:
    lengths = [bisect_left(starts, end) - bisect_left(starts, start) for start, end in sentence_spans]
    lengths = [length for length in lengths if length]
    if sum(lengths) >= _FEWEST_WORDS and sum(lengths) > band.mean_words * len(lengths):
        longest = max(sentence_spans, key=lambda span: span[1] - span[0])
        mean = sum(lengths) / len(lengths)
        message = f"{mean:.0f} words a sentence in the mean, at most {band.mean_words} for {age}"
        yield at_words(subject, CODE, "warning", _FIELD, longest, message, _SOURCE)


def is_said(text: str, start: int, found: re.Match[str]) -> bool:
    """Whether a word is the narrator's own: no name, and not mentioned as what somebody says or what is written."""
    if text[found.start()].isupper() and found.start() > start:
        return False
    return _MENTIONED.search(text, max(start, found.start() - 60), found.start()) is None


def _phrases(quoted: Quotations) -> Iterator[re.Match[str]]:
    found = register().phrases.finditer(quoted.text.lower())
    return (each for each in found if quoted.around(each.start()) is None)
