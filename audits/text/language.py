"""Whether a text is English, which all that is looked for, weighed or counted in texts takes for granted.

Told by its script, and by the words that no English goes without (``language.txt``: those another
language in Latin letters has, too, such as "in" and "was", are not among them). A short text, or one
with words of another language in it, passes for English.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from pathlib import Path

from audits.subjects import Subject, at_row
from schemas.findings import Finding

CODE = "format.script"

FEWEST = 20
"""Letters, and words, of a text that is judged at least."""

LEAST_SHARE = 0.06
"""Of the words of a text. Twenty English words have some; hundreds of words of another language may have none."""

_READ = 1_000  # characters
_LETTER = re.compile(r"[^\W\d_]")
_NOT_LATIN = re.compile(r"[^\W\d_A-Za-z\u00c0-\u024f]")
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")


def sorted_out(read: Sequence[Subject], field: str) -> tuple[list[Subject], dict[int, Finding]]:
    """The rows whose text is English, and ``format.script`` by place for the others, whose words are not judged."""
    judged: list[Subject] = []
    others: dict[int, Finding] = {}
    for place, subject in enumerate(read):
        what = _other_than_english(subject.text(field))
        if what is None:
            judged.append(subject)
        else:
            message = f"{what}: the English patterns do not apply, so its words are not audited"
            others[place] = at_row(subject, CODE, "warning", message, field)
    return judged, others


def _other_than_english(text: str) -> str | None:
    text = text[:_READ]
    others = 0 if text.isascii() else len(_NOT_LATIN.findall(text))
    if others and (letters := len(_LETTER.findall(text))) >= FEWEST and others * 2 > letters:
        return "most letters are not Latin"
    text = text.lower().replace("\u2019", "'")
    if sum(map(_words().__contains__, text.split())) >= LEAST_SHARE * (len(text) + 1) / 2:
        return None  # there cannot be more words than every other sign begins one
    words = _WORD.findall(text)
    if len(words) >= FEWEST and sum(map(_words().__contains__, words)) < LEAST_SHARE * len(words):
        return "it has hardly a word that every English text has"
    return None


@functools.cache
def _words() -> frozenset[str]:
    return frozenset(Path(__file__).with_suffix(".txt").read_text("utf-8").split())
