"""``--deep``: perspective, identity and Rubin's dimensions judged by a model, with rubrics (``prompts/*.md``).

Patterns find the words they know; a model finds hindsight in any wording, sees whom a name is for among
many, and that a dimension is only named and not told. What it says is held to the text: a defect whose
words do not stand there is dropped and counted. A reply that cannot be read is asked for again with the
reason, three times in all; then the memory is unscored, never clean.
Offline there is no judge; the command says so and asks nothing.

HEART-BENCH appendix B.4 (LLM-based classifiers), B.3 (3) and 3.2 (stage 3).

    python -m audits --benchmark heart --table memories --deep --backend messages --model NAME
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from audits.checks.memories import KEY, NARRATIVE, age_of
from audits.checks.pattern_criteria import MODEL, read_like
from audits.checks.rubin import has_dialogue, signs
from audits.patterns.criteria import criteria
from audits.patterns.matcher import matches
from audits.subjects import Subject, at_row, at_words, subjects
from audits.text.passage import Passage
from models import prompts
from models.remedies import ask
from models.request import Chain, Reply, Request
from schemas.findings import Finding
from schemas.tables import Row, term_ids

_CRITERIA = {"perspective": ("future", "adult"), "identity": ("named", "gendered")}
"""What is asked of words in a memory, and what may be wrong with them."""

CODES = (
    *(f"{name}.{each}" for name, several in _CRITERIA.items() for each in several),
    *(f"rubin.{name}" for name in term_ids("rubin_dimensions")),
)
"""The codes a model is asked about."""

_PROMPTS = Path(__file__).parent / "prompts"
_CHILD = 12


@dataclass(frozen=True)
class Judged:
    """What a model said of one memory: findings, and how many claims were dropped.

    ``ageless`` are questions that could not be asked, ``unanswered`` those that three replies did not answer.
    """

    findings: list[Finding] = field(default_factory=list)
    ageless: list[str] = field(default_factory=list)
    unanswered: list[str] = field(default_factory=list)
    dropped: int = 0


def judge(row: Row, number: int, wanted: frozenset[str]) -> Chain[Judged]:
    """Ask about one memory, the ``number``-th of its table; a chain for ``models.backends.run``."""
    (subject,) = subjects("memories", KEY, [row], number - 1)
    judged = Judged()
    for name in (*_CRITERIA, "rubin"):
        if not any(code.startswith(name) for code in wanted) or not subject.text(NARRATIVE).strip():
            continue
        if name == "perspective" and age_of(subject) is None:
            judged.ageless.append(f"{subject.id} perspective: no age")
            continue
        reply = yield from ask(_request(name, subject))
        if reply.status != "answered":
            judged.unanswered.append(
                f"{subject.id} {name}: {reply.status}{f', {reply.reason}' if reply.reason else ''}"
            )
            continue
        judged = _taken(judged, name, subject, reply)
    return replace(judged, findings=[found for found in judged.findings if found.code in wanted])


def words_schema(name: str) -> Mapping[str, Any]:
    """The answer about perspective or identity: the words that are wrong, the criterion each breaks, and why."""
    text = {"type": "string", "minLength": 1}
    properties = {"criterion": {"type": "string", "enum": list(_CRITERIA[name])}, "words": text, "reason": text}
    defect = {
        "type": "object",
        "additionalProperties": False,
        "required": list(properties),
        "properties": properties,
    }
    return {
        "type": "object",
        "additionalProperties": False,
        "required": ["defects"],
        "properties": {"defects": {"type": "array", "items": defect}},
    }


def rubin_schema() -> Mapping[str, Any]:
    """The answer about Rubin's dimensions: one entry each, with the words that show it."""
    shown = {
        "type": "object",
        "additionalProperties": False,
        "required": ["present", "words"],
        "properties": {"present": {"type": "boolean"}, "words": {"type": "string"}},
    }
    names = list(term_ids("rubin_dimensions"))
    return {
        "type": "object",
        "additionalProperties": False,
        "required": names,
        "properties": dict.fromkeys(names, shown),
    }


def _request(name: str, subject: Subject) -> Request:
    prompt = prompts.load(_PROMPTS / f"{name}.md")
    variables = {"age": age_of(subject)} if name == "perspective" else {}
    rendered = prompt.render(narrative=subject.text(NARRATIVE), **variables)
    return Request(
        id=f"audits/{name}/{subject.id}",
        role="judge",
        fixed=rendered.fixed,
        prompt=rendered.prompt,
        prompt_id=f"{prompt.id}@{prompt.version}",
        prompt_digest=prompt.digest,
        compose=functools.partial(_composed, name, subject.text(NARRATIVE), age_of(subject)),
        schema=words_schema(name) if name in _CRITERIA else rubin_schema(),
        max_tokens=2048,
        temperature=0.0,
    )


def _taken(judged: Judged, name: str, subject: Subject, reply: Reply) -> Judged:
    found, dropped = list(judged.findings), judged.dropped
    by = f"judged by {reply.model or 'a model'}"
    if name == "rubin":
        for dimension in term_ids("rubin_dimensions"):
            if not reply.answer[dimension]["present"]:
                message = f"the dimension is missing ({by})"
                source = "HEART-BENCH appendix B.3 (3)"
                found.append(at_row(subject, f"rubin.{dimension}", "warning", message, NARRATIVE, source=source))
        return replace(judged, findings=found, dropped=dropped)
    for defect in reply.answer["defects"]:
        span = locate(subject.text(NARRATIVE), defect["words"])
        grown = defect["criterion"] == "adult" and (age_of(subject) or 0) > _CHILD
        if span is None or grown:
            dropped += 1
            continue
        code = f"{name}.{defect['criterion']}"
        source = criteria()[code].source
        found.append(at_words(subject, code, "warning", NARRATIVE, span, f"{defect['reason']} ({by})", source))
    return replace(judged, findings=found, dropped=dropped)


def locate(text: str, words: str) -> tuple[int, int] | None:
    """Where words stand in a text, whatever the white space and the kind of quotation mark; None: nowhere."""
    plain = str.maketrans("\u2018\u2019\u201c\u201d", "''\"\"")
    parts = [re.escape(part) for part in words.translate(plain).split()]
    if not parts:
        return None
    found = re.search(r"\s{1,8}".join(parts), text.translate(plain)) or re.search(
        r"\s{1,8}".join(parts), text.translate(plain), re.IGNORECASE
    )
    return found.span() if found else None


def _composed(name: str, text: str, age: int | None) -> Any:
    """The answer the patterns would give: what a rehearsal of the judge replies with."""
    if name == "rubin":
        return _composed_rubin(text)
    grown = age is None or age > _CHILD
    passage = Passage(text)
    defects: list[Mapping[str, str]] = []
    for each in (each for each in _CRITERIA[name] if not (grown and each == "adult")):
        code = f"{name}.{each}"
        found = [((match.start, match.end), match.name) for match in matches(criteria()[code], passage)]
        found += [(span, MODEL) for span, _ in read_like(code, passage, [span for span, _ in found])]
        defects += [{"criterion": each, "words": text[slice(*span)], "reason": why} for span, why in found]
    return {"defects": defects}


def _composed_rubin(text: str) -> Any:
    passage = Passage(text)
    known = {code: c for code, c in criteria().items() if code.startswith("rubin.")}
    present = {code.split(".")[1]: signs(c, passage) >= (c.at_least or 1) for code, c in known.items()}
    present["dialogue"] = has_dialogue(passage)
    return {name: {"present": present[name], "words": ""} for name in term_ids("rubin_dimensions")}


def findings(judged: Sequence[Judged], known: Sequence[Finding]) -> Iterator[Finding]:
    """What the model found and the patterns did not: words that overlap a known finding of the code are left out."""
    seen: dict[tuple[str, str], list[tuple[int, int] | None]] = {}
    for finding in known:
        seen.setdefault((finding.code, finding.row_id), []).append(finding.span)
    for each in judged:
        for finding in each.findings:
            spans = seen.get((finding.code, finding.row_id), [])
            if not any(_overlap(finding.span, span) for span in spans):
                yield finding


def _overlap(one: tuple[int, int] | None, other: tuple[int, int] | None) -> bool:
    return one is None or other is None or (one[0] < other[1] and other[0] < one[1])


def starts(rows: Sequence[Row], wanted: frozenset[str]) -> list[functools.partial[Chain[Judged]]]:
    """One chain a memory, in order."""
    return [functools.partial(judge, row, number, wanted) for number, row in enumerate(rows, 1)]
