"""Runs of words: some words in a row, in lower case, by which text that was copied is known again."""

from __future__ import annotations

import re
from collections.abc import Iterator

Run = tuple[str, ...]
Span = tuple[int, int]

WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")


def word_runs(text: str, size: int) -> frozenset[Run]:
    """The different runs of so many words of a text."""
    words = WORD.findall(text.casefold())
    return frozenset(zip(*(words[start:] for start in range(size)), strict=False))


def placed_runs(text: str, size: int) -> Iterator[tuple[Run, Span]]:
    """Every run of so many words of a text, in order, with its place."""
    words = list(WORD.finditer(text))
    for start in range(len(words) - size + 1):
        window = words[start : start + size]
        yield tuple(word[0].casefold() for word in window), (window[0].start(), window[-1].end())


def first_copied(text: str, size: int, known: frozenset[Run]) -> Span | None:
    """Where the first run of a text stands that is among those known; None where none is."""
    return next((span for run, span in placed_runs(text, size) if run in known), None) if known else None
