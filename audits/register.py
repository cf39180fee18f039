"""``age.register``: a child of six to twelve tells plainly; abstract nouns do not pile up in a sentence.

What counts as abstract and how much is allowed stands in ``register.toml``. Only the narrator's own
words are judged, not what others say. HEART-BENCH appendix G.2 (age-stratified constraints).
"""

from __future__ import annotations

import functools
import re
import tomllib
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from audits.reading import Subject, at_words
from audits.sentences import sentences
from audits.speech import Quotations
from schemas.findings import Finding

_DATA = Path(__file__).with_name("register.toml")
_SOURCE = "HEART-BENCH appendix G.2"
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")
_FIELD = "content_full"
_FEWEST_WORDS = 80


@dataclass(frozen=True)
class Band:
    """What is too much up to an age: abstract words in a sentence, words a sentence in the mean."""

    to_age: int
    abstract_in_sentence: int
    mean_words: int


@dataclass(frozen=True)
class Register:
    """The data file, read."""

    bands: tuple[Band, ...]
    shortest: int
    endings: tuple[str, ...]
    abstract: frozenset[str]
    plain: frozenset[str]

    def is_abstract(self, word: str) -> bool:
        """Whether a word names something one can neither see nor touch; plural or singular."""
        stem = word.removesuffix("s") if not word.endswith("ss") else word
        stem = f"{word.removesuffix('ies')}y" if word.endswith("ies") else stem
        if word in self.abstract or stem in self.abstract:
            return True
        return len(stem) >= self.shortest and stem.endswith(self.endings) and not {word, stem} & self.plain


@functools.cache
def register() -> Register:
    """The thresholds and word lists of ``register.toml``."""
    data: Mapping[str, object] = tomllib.loads(_DATA.read_text("utf-8"))
    bands, words, endings = data["bands"], data["words"], data["endings"]
    assert isinstance(bands, list) and isinstance(words, dict) and isinstance(endings, list)
    return Register(
        bands=tuple(Band(**band) for band in bands),
        shortest=int(str(data["shortest"])),
        endings=tuple(endings),
        abstract=frozenset(words["abstract"].split()),
        plain=frozenset(words["plain"].split()),
    )


@functools.lru_cache(maxsize=1 << 16)
def _is_abstract(word: str) -> bool:
    return register().is_abstract(word.lower())


def audit(subject: Subject, age: int | None, quoted: Quotations) -> Iterator[Finding]:
    """``age.register`` findings of a child's memory; none above the last band."""
    known = register()
    band = next((band for band in known.bands if age is not None and age <= band.to_age), None)
    if band is None:
        return
    told = sentences(quoted.text, quoted.spans)
    words = [found for start, end in quoted.gaps() for found in _WORD.finditer(quoted.text, start, end)]
    starts = [found.start() for found in words]
    bounds = [(bisect_left(starts, start), bisect_left(starts, end)) for start, end in told]
    abstract = [number for number, found in enumerate(words) if _is_abstract(found[0])]
    for first, last in bounds if len(abstract) >= band.abstract_in_sentence else ():
        here = [words[number] for number in abstract[bisect_left(abstract, first) : bisect_left(abstract, last)]]
        different = {found[0].lower() for found in here}
        if len(different) >= band.abstract_in_sentence:
            span = (here[0].start(), here[-1].end())
            message = f"abstract for {age}: {', '.join(sorted(different))} in one sentence"
            yield at_words(subject, "age.register", "warning", _FIELD, span, message, _SOURCE)
    lengths = [last - first for first, last in bounds if last > first]
    if sum(lengths) >= _FEWEST_WORDS and sum(lengths) > band.mean_words * len(lengths):
        longest = max(told, key=lambda span: span[1] - span[0])
        mean = sum(lengths) / len(lengths)
        message = f"{mean:.0f} words a sentence in the mean, at most {band.mean_words} for {age}"
        yield at_words(subject, "age.register", "warning", _FIELD, longest, message, _SOURCE)
