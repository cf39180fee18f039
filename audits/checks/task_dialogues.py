"""Dialogues about a task: whether the user agent stays in its part, and whether the assistant invents preferences.

Rows are messages as ``python -m evaluators run`` writes them. The codes stand in ``task_dialogues.toml``. Which
preferences somebody has is looked up in ``users``, what a task draws on in ``tasks``, and what counts as a value of a
preference type in ``preferences`` and in what any user has. PersonaLens 3.1 and appendix B (first-turn check); the
share of dialogues with ``task_dialogue.preference_invented`` is the rate of hallucinated personalization.

    python -m audits --benchmark personalens --table task_turns --rows TURNS.parquet --release personalens@1.0.0
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from audits.checks import task_preferences
from audits.checks.task_preferences import IN_A_ROW, Profiles
from audits.subjects import Related, Subject, at_row, at_words
from audits.text.word_runs import first_copied
from schemas.findings import Finding, Severity
from schemas.tables import Row

STOP_WORD = "TERMINATE"
MOST_DEMOGRAPHICS = 2
USER, ASSISTANT = "user", "assistant"

_PREFIX = "task_dialogue"


def audit(
    read: Sequence[Subject], judged: Sequence[Subject], related: Related, wanted: frozenset[str]
) -> list[Finding]:
    """Findings of each message by itself."""
    profiles = task_preferences.profiles(related)
    found: list[Finding] = []
    for subject in read:
        if not subject.text("text").strip():
            found.append(_at(subject, "empty", "the message is empty"))
            continue
        found += _residue(subject)
        if subject.row.get("speaker") == USER:
            found += [*_swapped(subject), *_leaked(subject, profiles), *_read_out(subject, profiles)]
    return found


def coverage(read: Sequence[Subject], related: Related) -> list[Finding]:
    """Findings of messages that depend on what was said before, and of how dialogues end."""
    profiles = task_preferences.profiles(related)
    dialogues: dict[str, list[Subject]] = defaultdict(list)
    for subject in read:
        dialogues[str(subject.row.get("dialogue"))].append(subject)
    return [finding for said in dialogues.values() for finding in _dialogue(_in_order(said), profiles)]


def not_checked(rows: Sequence[Row], related: Related, wanted: frozenset[str]) -> Iterator[str]:
    """What was not looked for, and why: one line each."""
    missing = [name for name in ("users", "tasks", "preferences") if not related.get(name)]
    if missing:
        codes = "preference_first, goal_leaked, preference_invented, profile_contradicted and profile_read_out"
        yield f"{codes} not checked: no {', '.join(missing)}; name the release with --release"
    users, tasks = (
        {row[key] for row in related.get(name, ())} for name, key in (("users", "user_id"), ("tasks", "task_id"))
    )
    for name, known in (("user_id", users), ("task_id", tasks)):
        unknown = {str(row.get(name)) for row in rows} - known
        if known and unknown:
            yield f"{len(unknown)} {name} of the dialogues are not in the release, e.g. {min(unknown)}: not compared"


@functools.cache
def rules() -> Mapping[str, Mapping[str, Any]]:
    """The entries of the file by the code's name."""
    document = tomllib.loads(Path(__file__).with_name("task_dialogues.toml").read_text("utf-8"))
    return {entry["code"].removeprefix(f"{_PREFIX}."): entry for entry in document["codes"]}


@functools.cache
def _expressions(name: str, field: str = "expressions") -> re.Pattern[str]:
    return re.compile("|".join(rules()[name][field]), re.IGNORECASE)


def _in_order(said: Sequence[Subject]) -> list[Subject]:
    """The messages of a dialogue as they were said: of one turn the user's first."""
    return sorted(said, key=lambda each: (str(each.row.get("turn")), each.row.get("speaker") != USER))


def _dialogue(said: Sequence[Subject], profiles: Profiles) -> Iterator[Finding]:
    users = [each for each in said if each.row.get("speaker") == USER]
    broken = said[0].row.get("ended") == "failed"  # nobody ended it: a message did not come
    if users and said[-1] is users[-1] and len(said) > 1 and not broken:
        yield _at(said[-1], "not_ended", "the limit of turns ended the dialogue, not the user")
    if len(users) <= 1 and len(said) <= 2 and not broken:
        yield _at(said[0], "ended_at_once", "the user ended the dialogue after one message")
    person = profiles.of(said[0].row.get("user_id"), said[0].row.get("task_id"))
    if person is None:
        return
    if users:
        yield from _stated_first(users[0], person)
    stated = ""
    for each in said:
        text = each.text("text")
        if each.row.get("speaker") == USER:
            yield from _claims(each, person, "profile_contradicted", "claims", "the user's profile has")
            stated += f"\n{text.casefold()}"
        else:
            yield from _inventions(each, person, stated)


def _stated_first(subject: Subject, person: task_preferences.Person) -> Iterator[Finding]:
    for value, span in person.own_values(subject.text("text")):
        if value not in person.intent:
            yield _words(subject, "preference_first", span, "a preference in the first message")
            return


def _inventions(subject: Subject, person: task_preferences.Person, stated: str) -> Iterator[Finding]:
    """Values called the user's that the user neither has nor stated; each value once."""
    rule, unless = rules()["preference_invented"], _expressions("preference_invented", "unless")
    for start, sentence in task_preferences.sentences(subject.text("text")):
        if sentence.rstrip().endswith("?") or unless.search(sentence):
            continue
        cues = [(found.end(), _end(sentence, found.end())) for each in rule["after"] for found in _all(each, sentence)]
        cues += [(0, found.start()) for each in rule["before"] for found in _all(each, sentence)]
        for value, (first, last) in person.foreign_values(sentence):
            if value not in stated and any(low <= first and last <= high for low, high in cues):
                message = f"attributed to the user, who has {person.described(value)}"
                yield _words(subject, "preference_invented", (start + first, start + last), message)


def _end(sentence: str, start: int) -> int:
    """Where what is said from ``start`` on turns to something else."""
    found = _expressions("preference_invented", "ends").search(sentence, start)
    return found.start() if found else len(sentence)


def _claims(
    subject: Subject, person: task_preferences.Person, code: str, field: str, described: str
) -> Iterator[Finding]:
    claims, unless = _expressions(code, field), _expressions(code, "unless")
    for start, sentence in task_preferences.sentences(subject.text("text")):
        claim = claims.search(sentence)
        if claim is None or unless.search(sentence):
            continue
        for value, (first, last) in person.foreign_values(sentence):
            if first >= claim.end() and value not in person.intent:
                message = f"{described} {person.described(value)}"
                yield _words(subject, code, (start + first, start + last), message)


def _all(expression: str, sentence: str) -> Iterator[re.Match[str]]:
    return _compiled(expression).finditer(sentence)


@functools.cache
def _compiled(expression: str) -> re.Pattern[str]:
    return re.compile(expression, re.IGNORECASE)


def _residue(subject: Subject) -> Iterator[Finding]:
    place = subject.text("text").find(STOP_WORD)
    if place >= 0:
        span = (place, place + len(STOP_WORD))
        yield _words(subject, "stop_word_left", span, "the word that ends a dialogue was left in the text")


def _swapped(subject: Subject) -> Iterator[Finding]:
    found = _expressions("role_swapped").search(subject.text("text"))
    if found:
        yield _words(subject, "role_swapped", found.span(), "the user speaks as the assistant")


def _leaked(subject: Subject, profiles: Profiles) -> Iterator[Finding]:
    goal = profiles.goal_runs(subject.row.get("task_id"))
    if span := first_copied(subject.text("text"), IN_A_ROW, goal):
        yield _words(subject, "goal_leaked", span, "word for word from the goal, which the user is not shown")


def _read_out(subject: Subject, profiles: Profiles) -> Iterator[Finding]:
    folded = subject.text("text").casefold()
    named = [
        value
        for value in profiles.demographics(subject.row.get("user_id"))
        if re.search(rf"\b{re.escape(value)}\b", folded)
    ]
    if len(named) > MOST_DEMOGRAPHICS:
        message = f"{len(named)} demographics in one message, at most {MOST_DEMOGRAPHICS} expected"
        yield at_row(
            subject, f"{_PREFIX}.profile_read_out", _severity("profile_read_out"), message, "text", ", ".join(named)
        )


def _severity(name: str) -> Severity:
    return rules()[name]["severity"]  # type: ignore[no-any-return]


def _at(subject: Subject, name: str, message: str) -> Finding:
    return at_row(subject, f"{_PREFIX}.{name}", _severity(name), message, "text")


def _words(subject: Subject, name: str, span: tuple[int, int], message: str) -> Finding:
    return at_words(subject, f"{_PREFIX}.{name}", _severity(name), "text", span, message)
