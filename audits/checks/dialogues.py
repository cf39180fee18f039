"""Dialogues: whether a simulated user stays the person they are, in messages people would write.

LikeBench A (a user model left its part after session 5), Tables 26 and 27. Rows are messages as
``python -m evaluators run`` writes them (record ``session_turns``). The codes stand in ``dialogues.toml``.

    python -m audits --benchmark likebench --table session_turns --rows TURNS.parquet --release likebench@1.0.0
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from audits.subjects import Related, Subject, at_row, at_words, counted, values_of
from audits.text.word_runs import first_copied, word_runs
from schemas.findings import Finding

MOST_WORDS = 50
OPENING_WORDS = 5
IN_A_ROW = 7
MOST_DETAILS = 2
USER = "user"

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")


def audit(
    read: Sequence[Subject], judged: Sequence[Subject], related: Related, wanted: frozenset[str]
) -> list[Finding]:
    """Findings of each turn; ``related["profiles"]`` are the profiles that users must not read out."""
    secrets = {str(row.get("persona_id")): _Secrets(row) for row in related.get("profiles", ())}
    found = [_empty(subject) for subject in read if not subject.text("text").strip()]
    for subject in filter(_is_users, read):
        found += [*_expressions(subject), *_length(subject)]
        found += _read_out(subject, secrets.get(str(subject.row.get("persona"))))
    return found


def coverage(read: Sequence[Subject], related: Related) -> list[Finding]:
    """Findings of all turns together: sessions of one user that open alike."""
    return list(_openings([each for each in read if _is_users(each)]))


@functools.cache
def expressions() -> Mapping[str, tuple[re.Pattern[str], ...]]:
    """What is looked for, by code."""
    document = tomllib.loads(Path(__file__).with_name("dialogues.toml").read_text("utf-8"))
    return {
        entry["code"]: tuple(re.compile(each, re.IGNORECASE) for each in entry["expressions"])
        for entry in document["codes"]
        if "expressions" in entry
    }


class _Secrets:
    """What of a profile is not to be read out: runs of words, and keywords of details."""

    def __init__(self, profile: Mapping[str, Any]) -> None:
        behaviors = profile.get("behaviors")
        texts = [
            *values_of(profile, "facets", "descriptor"),
            *values_of(profile, "styles", "descriptor"),
            *values_of(profile, "knowledge", "text"),
            *(behaviors.values() if isinstance(behaviors, Mapping) else ()),
            profile.get("persona_summary"),
        ]
        self.runs = frozenset(run for text in texts if isinstance(text, str) for run in word_runs(text, IN_A_ROW))
        self.keywords = [
            str(word).lower()
            for word in (*values_of(profile, "relations", "name"), *values_of(profile, "details", "keyword"))
            if word is not None
        ]


def _is_users(subject: Subject) -> bool:
    return subject.row.get("speaker") == USER and bool(subject.text("text").strip())


def _empty(subject: Subject) -> Finding:
    return at_row(subject, "dialogue.empty", "error", "the message is empty", "text")


def _expressions(subject: Subject) -> Iterator[Finding]:
    breaks, directions = expressions()["dialogue.character_break"], expressions()["dialogue.stage_direction"]
    text = subject.text("text")
    for found in _first(breaks, text):
        message = "the user leaves their part"
        yield at_words(subject, "dialogue.character_break", "error", "text", found.span(), message)
    for found in _first(directions, text):
        message = "a stage direction instead of words"
        yield at_words(subject, "dialogue.stage_direction", "warning", "text", found.span(), message)


def _first(patterns: Sequence[re.Pattern[str]], text: str) -> list[re.Match[str]]:
    """The first match of any of the patterns: one fault is one finding."""
    found = [match for pattern in patterns if (match := pattern.search(text))]
    return sorted(found, key=lambda match: match.start())[:1]


def _length(subject: Subject) -> Iterator[Finding]:
    words = len(_WORD.findall(subject.text("text")))
    if words > MOST_WORDS:
        message = f"{counted(words, 'word')}, at most {MOST_WORDS} expected"
        yield at_row(subject, "dialogue.long", "warning", message, "text", words)


def _read_out(subject: Subject, secrets: _Secrets | None) -> Iterator[Finding]:
    if secrets is None:
        return
    text = subject.text("text")
    if copied := first_copied(text, IN_A_ROW, secrets.runs):
        message = "word for word from the profile"
        yield at_words(subject, "dialogue.profile_read_out", "error", "text", copied, message)
    folded = text.lower()
    named = [word for word in secrets.keywords if re.search(rf"\b{re.escape(word)}", folded)]
    if len(named) > MOST_DETAILS:
        message = f"{len(named)} personal details in one message, at most {MOST_DETAILS} expected"
        yield at_row(subject, "dialogue.profile_read_out", "error", message, "text", ", ".join(named))


def _openings(said: Sequence[Subject]) -> Iterator[Finding]:
    seen: dict[tuple[str, tuple[str, ...]], Subject] = {}
    first = [subject for subject in said if _number(subject, "turn") == 1]
    for subject in sorted(first, key=lambda each: (str(each.row.get("persona")), _number(each, "session") or 0)):
        words = tuple(word.lower() for word in _WORD.findall(subject.text("text"))[:OPENING_WORDS])
        earlier = seen.setdefault((str(subject.row.get("persona")), words), subject)
        if earlier is not subject:
            message = f"opens like {earlier.id}"
            yield at_row(subject, "dialogue.opening_repeated", "warning", message, "text", " ".join(words))


def _number(subject: Subject, field: str) -> int | None:
    """A number that is written as text, as 001; None for anything else."""
    value = subject.row.get(field)
    return int(value) if isinstance(value, str) and value.isdigit() else None
