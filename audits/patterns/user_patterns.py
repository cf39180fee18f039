"""A user's own pattern file: read, checked against its own hits and misses, and run beside ours.

The file has the form of ``audits/patterns/*.toml`` and a code of its own, such as ``mine.weather``. Every pattern
needs five hits, which it has to find, and five misses, in which no pattern of the file may find anything.
"""

from __future__ import annotations

from pathlib import Path

from audits.patterns.criteria import Criterion, Pattern, criteria, read
from audits.patterns.matcher import matches
from audits.text.passage import Passage
from schemas.errors import RequestError

FEWEST = 5
"""Hits, and misses, of a pattern at least."""


def user_criteria(path: Path) -> dict[str, Criterion]:
    """The criterion of a user's own file by its code, for ``pattern_criteria.findings(..., own=...)``.

    Raises RequestError, which names file and pattern, for a file that breaks a rule of form, has a code of ours, has a
    pattern of fewer than five hits or misses, or does not hold them.
    """
    criterion = read(path)
    if criterion.code in criteria():
        raise RequestError(f"code {criterion.code} is taken", path, fix="Choose a code of your own, e.g. mine.weather")
    for pattern in criterion.patterns:
        _check(criterion, pattern, path)
    return {criterion.code: criterion}


def _check(criterion: Criterion, pattern: Pattern, path: Path) -> None:
    for name, texts in (("hits", pattern.hits), ("misses", pattern.misses)):
        if len(set(texts)) < FEWEST:
            expected = f"{FEWEST} different ones at least, {len(set(texts))} are there"
            raise RequestError(f"too few {name}", path, row=pattern.name, expected=expected)
    for text in pattern.hits:
        if all(match.name != pattern.name for match in matches(criterion, Passage(text))):
            raise RequestError("hit that is not found", path, row=pattern.name, expected=f"a match in {text!r}")
    for text in pattern.misses:
        if found := matches(criterion, Passage(text)):
            expected = f"no match in {text!r}, but {found[0].name} finds {text[found[0].start : found[0].end]!r}"
            raise RequestError("miss that is found", path, row=pattern.name, expected=expected)
