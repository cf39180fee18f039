"""Criteria as data: the files ``audits/patterns/*.toml``, one a criterion, read and checked.

A file says which fields of which table it reads, what a match means, and lists patterns: each a few expressions,
one a line, why they are there, and sentences they must hit and must miss. Most of what there is to know of a code
is in its labelled cases (``tests/cases/audits``) and in the linear model that is fitted to them
(``audits.text.linear_model``); patterns are the phrases that are wrong wherever they stand.

Expressions are those of ``re`` and see folded text (``audits.text.normalisation``): lower case, straight apostrophes,
one space between words, ``\\n`` for the end of a paragraph. ``{name}`` stands for an entry of the file's ``[parts]``;
``{gap}`` is up to 80 characters within one sentence, ``{few}`` up to 30, ``{clause}`` up to 60 without a comma,
``{given}`` a given name (once an expression). Each is compiled when it is first looked for.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from audits.patterns.needed_words import Parts, Words, needed_words
from schemas.errors import RequestError
from schemas.findings import Severity

FOLDER = Path(__file__).parent

Voice = Literal["narrator", "speech", "any"]

_VOICES = ("narrator", "speech", "any")
_PARTS = {"gap": r"[^.!?\n]{0,80}?", "few": r"[^.!?\n]{0,30}?", "clause": r"[^.!?,;:\n\u2014]{0,60}?"}
# Any word: whether it is a given name is looked up, as thousands of alternatives are tried one after the other.
_PARTS["given"] = r"(?P<given>[^\W\d_]++(?:-[^\W\d_]++)?+)"
_PART = re.compile(r"\{([a-z_]+)\}")
_NEEDED = {"name", "expressions", "why", "hits", "misses"}
_OPTIONAL = {"source", "unless", "unless_after", "voice"}
_FILE_NEEDED = {"code", "table", "title", "severity", "message", "source", "fields", "voice", "patterns"}
_FILE_OPTIONAL = {"parts", "unless_after", "max_age", "below_intensity", "at_least", "from_share", "also"}


@dataclass(frozen=True, eq=False)
class Expression:
    """A line of a pattern; compiled when it is first looked for."""

    line: str
    parts: Parts
    file: Path
    pattern: str

    @functools.cached_property
    def words(self) -> Words | None:
        """Words of which all that it matches has one; None where no such are known."""
        return needed_words(self.line, self.parts)

    @functools.cached_property
    def compiled(self) -> re.Pattern[str]:
        """The expression. Raises RequestError for one that is malformed or has an unknown part."""
        try:
            return re.compile(filled(self.line, self.parts))
        except KeyError as error:
            expected = f"one of {', '.join(sorted(self.parts))}"
            what = f"unknown part {{{error.args[0]}}}"
            raise RequestError(what, self.file, row=self.pattern, expected=expected) from None
        except re.error as error:
            what = f"malformed expression {self.line}"
            raise RequestError(what, self.file, row=self.pattern, expected=str(error)) from None


@dataclass(frozen=True, eq=False)
class Pattern:
    """Expressions of a criterion that belong together; what they find overlapping each other is one match.

    ``unless`` is what, standing right before a match in its sentence, excuses it; ``unless_after`` what stands right
    after it. A group named ``words`` is what a finding points at (else all of the match); one named ``capital`` has to
    begin with a capital in the original, one named ``given`` to be a given name. ``voice`` says whose words count: the
    "narrator"'s (outside quotations), "speech" (inside) or "any".
    """

    code: str
    name: str
    expressions: tuple[Expression, ...]
    why: str
    source: str
    unless: Expression | None
    unless_after: Expression | None
    voice: Voice
    hits: tuple[str, ...]
    misses: tuple[str, ...]
    file: Path

    @property
    def excuse_before(self) -> re.Pattern[str] | None:
        """What excuses a match that it stands right before."""
        return self.unless.compiled if self.unless else None

    @property
    def excuse_after(self) -> re.Pattern[str] | None:
        """What excuses a match that it stands right after."""
        return self.unless_after.compiled if self.unless_after else None


@dataclass(frozen=True, eq=False)
class Criterion:
    """A finding code and the patterns that raise it.

    ``fields`` are read; ``max_age`` (years) and ``below_intensity`` limit the rows it judges. With ``at_least`` it is
    the other way round: its patterns show what has to be there, and the finding is that fewer matches stand in the
    text from ``from_share`` of its length on. A file may take in the patterns of others (``also``).
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


@functools.cache
def criteria(folder: Path = FOLDER) -> Mapping[str, Criterion]:
    """All criteria of a folder by code, in order. Raises RequestError for a file that breaks a rule."""
    return {path.stem: read(path) for path in sorted(folder.glob("*.toml"))}


def read(path: Path) -> Criterion:
    """The criterion of a file. Raises RequestError for a file that breaks a rule."""
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise RequestError("malformed TOML", path, expected=str(error), fix="Correct that line") from None
    except FileNotFoundError:
        raise RequestError("missing file", path, expected="a TOML file of patterns") from None
    except (OSError, UnicodeDecodeError) as error:
        raise RequestError("unreadable file", path, expected=str(error)) from None
    _check_keys(data, _FILE_NEEDED, _FILE_OPTIONAL, path)
    parts = Parts(_PARTS | data.get("parts", {}))
    patterns = tuple(_pattern(entry, data, parts, path) for entry in data["patterns"])
    names = [pattern.name for pattern in patterns]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise RequestError("two patterns of one name", path, row=twice[0], fix="Rename one of them")
    for other in data.get("also", ()):
        patterns += tuple(replace(pattern, code=data["code"]) for pattern in read(path.with_stem(other)).patterns)
    return Criterion(
        **{name: data[name] for name in ("code", "table", "title", "severity", "message", "source")},
        fields=tuple(data["fields"]),
        max_age=data.get("max_age"),
        below_intensity=data.get("below_intensity"),
        at_least=data.get("at_least"),
        from_share=data.get("from_share", 0.0),
        patterns=patterns,
    )


def _pattern(entry: Mapping[str, Any], data: Mapping[str, Any], parts: Parts, path: Path) -> Pattern:
    name = entry.get("name", "?")
    _check_keys(entry, _NEEDED, _OPTIONAL, path, name)
    voice = entry.get("voice", data["voice"])
    if voice not in _VOICES:
        raise RequestError(f"unknown voice {voice!r}", path, row=name, expected=f"one of {', '.join(_VOICES)}")
    made = partial(Expression, parts=parts, file=path, pattern=name)
    before, after = entry.get("unless"), entry.get("unless_after", data.get("unless_after"))
    return Pattern(
        code=data["code"],
        name=name,
        expressions=tuple(made(line) for line in entry["expressions"].split("\n") if line),
        why=entry["why"],
        source=entry.get("source", data["source"]),
        unless=made(f"(?:{before})$") if before else None,
        unless_after=made(after) if after else None,
        voice=voice,
        hits=tuple(entry["hits"]),
        misses=tuple(entry["misses"]),
        file=path,
    )


def _check_keys(
    entry: Mapping[str, Any], needed: set[str], optional: set[str], path: Path, name: str | None = None
) -> None:
    every = needed | optional
    if odd := sorted(entry.keys() - every):
        raise RequestError(f"unknown key {odd[0]!r}", path, row=name, expected=f"one of {', '.join(sorted(every))}")
    if missing := sorted(needed - entry.keys()):
        raise RequestError(f"missing key {missing[0]!r}", path, row=name, fix="Compare with the other files there")


def filled(line: str, parts: Mapping[str, str]) -> str:
    """An expression with its parts. Raises KeyError for an unknown part."""
    return _PART.sub(lambda part: f"(?:{filled(parts[part[1]], parts)})", line)
