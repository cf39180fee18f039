"""Criteria as data: the files ``audits/patterns/*.toml``, one a criterion, read and checked.

A file says which fields of which table it reads, what a match means, and lists patterns: each a few
expressions, one a line, why they are there, and sentences they must hit and must miss. To add a
pattern is to add an entry, or a line with its hits and misses; ``tests/test_audits_patterns.py`` runs
every sentence of every file.

Expressions see folded text (``audits.text.normalisation``): lower case, straight apostrophes, one space
between words, ``\\n`` for the end of a paragraph. ``{name}`` stands for an entry of the file's
``[parts]``; ``{gap}`` is up to 80 characters within one sentence, ``{few}`` up to 30, ``{clause}`` up to 60
without a comma, ``{given}`` a given name of ``given_names.txt`` (once an expression). An expression is only tried on
sentences that hold one of its anchors, which ``audits.patterns.anchors`` finds in it.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from audits.patterns.expressions import Expression
from audits.patterns.kept import kept
from audits.patterns.runs import Anchors
from schemas.errors import RequestError
from schemas.findings import Severity

_HERE = Path(__file__).parent

Voice = Literal["narrator", "speech", "self", "others", "toward", "to_me", "of_me", "any"]

_PARTS = {"gap": r"[^.!?\n]{0,80}?", "few": r"[^.!?\n]{0,30}?", "clause": r"[^.!?,;:\n\u2014]{0,60}?"}
# Any word: whether it is a given name is looked up, as thousands of alternatives are tried one after the other.
_PARTS["given"] = r"(?P<given>[^\W\d_]++(?:-[^\W\d_]++)?+)"
_NAMES = _HERE / "given_names.txt"

_PART = re.compile(r"\{([a-z_]+)\}")
_NEEDED = {"name", "expressions", "why", "hits", "misses"}
_KEYS = _NEEDED | {"source", "unless", "unless_after", "voice"}


@dataclass(frozen=True)
class Pattern:
    """Expressions of a criterion that belong together; what they find overlapping each other is one match.

    ``unless`` is what, standing right before a match in its sentence, excuses it; ``unless_after`` what
    stands right after it. A group named ``words`` is what a finding points at (else all of the match).
    A group named ``capital`` has to begin with a capital in the original, one named ``given`` to be a
    given name. ``voice`` says whose words count: the "narrator"'s (outside quotations), "speech",
    "self" (the narrator's, aloud or not), "others", "toward" (others, but not to somebody else),
    "to_me" (others, evidently to the narrator), "of_me" (others, evidently of the narrator) or "any".
    """

    code: str
    name: str
    expressions: tuple[Expression, ...]
    why: str
    source: str
    unless: re.Pattern[str] | None
    unless_after: re.Pattern[str] | None
    voice: Voice
    hits: tuple[str, ...]
    misses: tuple[str, ...]

    def anchors(self, each: Expression) -> Anchors:
        """The anchors of an expression of it. Raises RequestError for one that is malformed, or has none."""
        try:
            found = each.anchors
        except re.error as error:
            raise self._bad(each, "malformed expression", str(error)) from None
        if not found:
            raise self._bad(each, "expression without an anchor", "three letters or more that every match contains")
        if any(anchor != anchor.lower() for anchor in found):
            raise self._bad(each, "capitals in the expression", "lower case, as the texts it is looked for in")
        return found

    def _bad(self, expression: Expression, what: str, expected: str) -> RequestError:
        return RequestError(f"{what} {expression.source}", f"{self.code}.toml", row=self.name, expected=expected)


@dataclass(frozen=True)
class Criterion:
    """A finding code and the patterns that raise it.

    ``fields`` are read; ``max_age`` (years) and ``below_intensity`` limit the rows it judges. With
    ``at_least`` it is the other way round: its patterns show what has to be there, and the finding
    is that fewer matches stand in the text from ``from_share`` of its length on. A file may take in
    the patterns of another one (``also``).
    """

    code: str
    table: str
    title: str
    severity: Severity
    message: str
    source: str
    fields: tuple[str, ...]
    max_age: int | None
    below_intensity: float | None
    at_least: int | None
    from_share: float
    patterns: tuple[Pattern, ...]

    @functools.cached_property
    def anchored(self) -> Sequence[tuple[Pattern, Expression, Anchors]]:
        """All expressions with their patterns and anchors. Raises RequestError as ``Pattern.anchors``."""
        every = [(pattern, each) for pattern in self.patterns for each in pattern.expressions]
        sources = [each.source for _, each in every]
        found = kept(self.code, sources, lambda: [pattern.anchors(each) for pattern, each in every])
        return [(pattern, each, anchors) for (pattern, each), anchors in zip(every, found, strict=True)]


@functools.cache
def criteria(folder: Path = _HERE) -> Mapping[str, Criterion]:
    """All criteria by code, in order. Raises RequestError for a file that breaks a rule."""
    return {path.stem: read(path) for path in sorted(folder.glob("*.toml"))}


def read(path: Path) -> Criterion:
    """The criterion of a file. Raises RequestError for a file that is missing or breaks a rule."""
    if not path.is_file():
        raise RequestError("missing file", path, expected="a TOML file of patterns")
    return _criterion(path)


@functools.cache
def given_names() -> frozenset[str]:
    """The given names of ``given_names.txt``, in lower case."""
    return frozenset(_NAMES.read_text("utf-8").lower().split())


def _criterion(path: Path) -> Criterion:
    try:
        data = tomllib.loads(path.read_text("utf-8"))
        parts = {**_PARTS, **data.get("parts", {})}
        patterns = tuple(_pattern(entry, data, parts, path) for entry in data["patterns"])
        names = [pattern.name for pattern in patterns]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise RequestError("two patterns of one name", path, row=twice[0], mend="Rename one of them")
        for other in data.get("also", ()):
            borrowed = _criterion(path.with_stem(other)).patterns
            patterns += tuple(replace(pattern, code=data["code"]) for pattern in borrowed)
        return Criterion(
            code=data["code"],
            table=data["table"],
            title=data["title"],
            severity=data["severity"],
            message=data["message"],
            source=data["source"],
            fields=tuple(data["fields"]),
            max_age=data.get("max_age"),
            below_intensity=data.get("below_intensity"),
            at_least=data.get("at_least"),
            from_share=data.get("from_share", 0.0),
            patterns=patterns,
        )
    except tomllib.TOMLDecodeError as error:
        raise RequestError("malformed TOML", path, expected=str(error), mend="Mend that line") from None
    except KeyError as error:
        raise RequestError(f"missing key {error}", path, mend="Compare with the other files there") from None


def _pattern(entry: Mapping[str, Any], data: Mapping[str, Any], parts: Mapping[str, str], path: Path) -> Pattern:
    name = entry["name"]
    if odd := sorted(entry.keys() - _KEYS):
        raise RequestError(f"unknown key {odd[0]!r}", path, row=name, expected=f"one of {', '.join(sorted(_KEYS))}")
    if missing := sorted(_NEEDED - entry.keys()):
        raise RequestError(f"missing key {missing[0]!r}", path, row=name, mend="Compare with the other patterns there")
    before, after = entry.get("unless"), entry.get("unless_after", data.get("unless_after"))
    return Pattern(
        code=data["code"],
        name=name,
        expressions=tuple(
            Expression(_filled(line, parts, path, name)) for line in entry["expressions"].split("\n") if line
        ),
        why=entry["why"],
        source=entry.get("source", data["source"]),
        unless=_compiled(f"(?:{before})$", parts, path, name) if before else None,
        unless_after=_compiled(after, parts, path, name) if after else None,
        voice=entry.get("voice", data["voice"]),
        hits=tuple(entry["hits"]),
        misses=tuple(entry["misses"]),
    )


def _compiled(text: str, parts: Mapping[str, str], path: Path, name: str) -> re.Pattern[str]:
    try:
        return re.compile(_filled(text, parts, path, name))
    except re.error as error:
        raise RequestError(f"malformed expression {text}", path, row=name, expected=str(error)) from None


def _filled(text: str, parts: Mapping[str, str], path: Path, name: str) -> str:
    def part(found: re.Match[str]) -> str:
        if found[1] not in parts:
            expected = f"one of {', '.join(sorted(parts))}"
            raise RequestError(f"unknown part {found[0]}", path, row=name, expected=expected)
        return f"(?:{_PART.sub(part, parts[found[1]])})"

    return _PART.sub(part, text)
