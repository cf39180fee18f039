"""What tells a name from a word: given names, titles, and words of the language that may begin with a capital.

The lists stand beside this file: ``given_names.txt``, ``*_titles.txt``, ``not_names.txt`` (no name although it
stands where a name may) and ``common_words.txt`` (what begins sentences, and has its capital from there).
"""

from __future__ import annotations

import functools
import re
import unicodedata
from pathlib import Path

_FOLDER = Path(__file__).parent
_JOINT = re.compile(r"['\u2019-]")
_ENDINGS = (("s", ""), ("es", ""), ("ies", "y"), ("ed", ""), ("ed", "e"), ("ing", ""), ("ing", "e"), ("ly", ""))


@functools.cache
def given_names() -> frozenset[str]:
    """The given names of ``given_names.txt`` in lower case, with and without accents."""
    return _listed("given_names")


@functools.cache
def titles() -> frozenset[str]:
    """Titles before a name, in lower case: "mrs", "dr"."""
    return _listed("neutral_titles") | _listed("gendered_titles")


@functools.lru_cache(maxsize=4096)
def is_given_name(word: str) -> bool:
    """Whether a word, in whatever case and with or without accents, is a given name that is no common word."""
    word = word.rstrip("'\u2019-").lower().removesuffix("'s").removesuffix("\u2019s")
    if word in _listed("not_names"):
        return False
    parts = _JOINT.split(word)
    return not given_names().isdisjoint((word, _plain(word), parts[0], "".join(parts)))


@functools.lru_cache(maxsize=4096)
def is_common(word: str) -> bool:
    """Whether a word is of the language, and has its capital only from where it stands."""
    low = _JOINT.split(word.lower())[0]
    common = _listed("common_words")
    if low in common or low in _listed("not_names"):
        return True
    return any(low.endswith(end) and low[: -len(end)] + add in common for end, add in _ENDINGS)


@functools.cache
def _listed(name: str) -> frozenset[str]:
    words = (_FOLDER / f"{name}.txt").read_text("utf-8").lower().split()
    return frozenset(words) | frozenset(map(_plain, words))


def _plain(word: str) -> str:
    if word.isascii():
        return word
    return "".join(sign for sign in unicodedata.normalize("NFD", word) if not unicodedata.combining(sign))
