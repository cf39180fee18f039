"""What an option says that no option should: ids, labels, names of traits, a teller in the third person.

The codes, their expressions, and what these hit and miss stand in ``shortcuts.toml``, with the codes
that are computed. HEART-BENCH 4.2: what a question shows must not give its key away.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from audits.duplicates.neighbours import cosine_pairs
from audits.shortcuts.questions import Question, texts_of
from schemas.findings import Finding, Severity

_TWINS = 0.85


@dataclass(frozen=True)
class Code:
    """A code of ``shortcuts.toml``: what it finds, and for texts what must not or must stand in them."""

    code: str
    severity: Severity
    rule: str
    source: str
    expression: re.Pattern[str] | None
    required: re.Pattern[str] | None
    hits: tuple[str, ...]
    misses: tuple[str, ...]

    def find(self, text: str) -> tuple[int, int] | None:
        """Where a text breaks the rule; all of it where a required word is missing."""
        match = self.expression.search(text) if self.expression else None
        if match:
            return match.span()
        return (0, len(text)) if self.required and not self.required.search(text) else None


@functools.cache
def codes() -> Mapping[str, Code]:
    """All shortcut codes, in the order of the file."""
    return {entry["code"]: _code(entry) for entry in _document()["codes"]}


@functools.cache
def _document() -> Mapping[str, Any]:
    return tomllib.loads((Path(__file__).parent / "shortcuts.toml").read_text("utf-8"))


def _code(entry: Mapping[str, Any]) -> Code:
    expression, required = (re.compile(entry[name]) if name in entry else None for name in ("expression", "required"))
    examples = tuple(entry["hits"]), tuple(entry["misses"])
    return Code(entry["code"], entry["severity"], entry["rule"], entry["source"], expression, required, *examples)


def leaks(asked: Sequence[Question]) -> list[Finding]:
    """What single options say that they should not: one finding a code and distinct text."""
    found = []
    for text, (question, place) in texts_of(asked).items():
        for code in codes().values():
            span = code.find(text)
            if span:
                found.append(
                    finding(code.code, question.id, code.rule, option=question.labels[place], text=text, span=span)
                )
    return found


def twins(asked: Sequence[Question]) -> Iterator[Finding]:
    """Options of one question that are nearly the same, on the later of the two."""
    texts = list(texts_of(asked))
    near = {frozenset((texts[i], texts[j])): cosine for i, j, cosine in cosine_pairs(texts, _TWINS)}
    for question in asked:
        for later, text in enumerate(question.texts):
            for earlier, other in enumerate(question.texts[:later]):
                cosine = 1.0 if other == text else near.get(frozenset((other, text)))
                if cosine is not None:
                    twin = f"option {question.labels[earlier]}: TF-IDF cosine {cosine:.4f} > {_TWINS}"
                    message, label, span = f"nearly the same as {twin}", question.labels[later], (0, len(text))
                    yield finding("shortcut.twin", question.id, message, option=label, text=text, span=span)


def finding(
    code: str,
    row_id: str,
    message: str,
    *,
    option: str | None = None,
    text: str | None = None,
    span: tuple[int, int] | None = None,
) -> Finding:
    """A finding on a question (``*``: on all of them), its span within the content of the option named by its label."""
    known = codes()[code]
    return Finding(
        code=code,
        table=_document()["table"],
        row_id=row_id,
        field=f"options.{option}" if option else None,
        severity=known.severity,
        span=span,
        text=text[slice(*span)] if text is not None and span else None,
        message=message,
        source=known.source,
    )
