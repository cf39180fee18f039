"""``age.register``: a child of six to twelve tells plainly; abstract nouns do not pile up in a sentence.

What counts as abstract and how much is allowed stands in ``register.toml``. Only the narrator's own
words are judged, not what others say. HEART-BENCH appendix G.2 (age-stratified constraints).
"""

from __future__ import annotations

import functools
import re
import tomllib
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


def audit(subject: Subject, age: int | None, quoted: Quotations) -> Iterator[Finding]:
    """``age.register`` findings of a child's memory; none above the last band."""
    known = register()
    band = next((band for band in known.bands if age is not None and age <= band.to_age), None)
    if band is None:
        return
    lengths: list[int] = []
    for start, end in sentences(quoted.text):
        words = [found for found in _WORD.finditer(quoted.text, start, end) if quoted.around(found.start()) is None]
        if words:
            lengths.append(len(words))
        abstract = [found for found in words if known.is_abstract(found[0].lower())]
        different = {found[0].lower() for found in abstract}
        if len(different) >= band.abstract_in_sentence:
            span = (abstract[0].start(), abstract[-1].end())
            message = f"abstract for {age}: {', '.join(sorted(different))} in one sentence"
            yield at_words(subject, "age.register", "warning", _FIELD, span, message, _SOURCE)
    if sum(lengths) >= _FEWEST_WORDS and sum(lengths) > band.mean_words * len(lengths):
        longest = max(sentences(quoted.text), key=lambda span: span[1] - span[0])
        mean = sum(lengths) / len(lengths)
        message = f"{mean:.0f} words a sentence in the mean, at most {band.mean_words} for {age}"
        yield at_words(subject, "age.register", "warning", _FIELD, longest, message, _SOURCE)
