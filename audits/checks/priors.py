"""Priors: the sequence of sessions of each profile against the rules that need no model.

LikeBench 4.3, Tables 15 to 18. The codes, with examples, stand in ``priors.toml``.

    python -m audits --benchmark likebench --table priors
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from audits.duplicates.neighbours import cosine_pairs
from audits.subjects import Related, Subject, at_row, at_words, entries, values_of
from schemas.findings import Finding
from schemas.records import term_ids
from schemas.tables import Row

ALIKE = 0.9
_BUDGET = {"social": (0.0, 0.2), "antisocial": (0.5, 0.7)}
_OPENINGS = ("ask", "share")

_TURN = re.compile(r"\bturns? (\d+)(?:(?:,| or| and| to) (\d+))*", re.IGNORECASE)
_NUMBER = re.compile(r"\d+")
_LEAK = re.compile(
    r"\b(?:likab\w+|metrics?|rubrics?|(?:emotional|knowledge) adaptation|formality matching|reference understanding|"
    r"humou?r fit|conversation length fit|(?:rate|score|test|evaluate) the (?:assistant|model|ai))\b",
    re.IGNORECASE,
)

Sessions = Mapping[int, Subject]
"""The priors of one profile by the number of the session."""


def audit(
    read: Sequence[Subject], judged: Sequence[Subject], related: Related, wanted: frozenset[str]
) -> list[Finding]:
    """Findings of each prior by itself."""
    return [finding for subject in read for check in _OF_ROW for finding in check(subject)]


def coverage(read: Sequence[Subject], related: Related) -> list[Finding]:
    """Findings of the sessions of each profile together, and of agendas that are much the same.

    ``related["profiles"]`` has type and priority of each profile; without it the budget of surprises and the
    priority metric are not looked at.
    """
    profiles = {str(row.get("persona_id")): row for row in related.get("profiles", ())}
    by_persona: dict[str, list[Subject]] = defaultdict(list)
    for subject in read:
        by_persona[str(subject.row.get("persona_id"))].append(subject)
    usual = Counter(map(len, by_persona.values())).most_common(1)
    found: list[Finding] = []
    for persona, own in by_persona.items():
        found += _numbers(own, usual[0][0])
        sessions = {int(number): subject for subject in own if (number := subject.number("session")) is not None}
        found += [finding for check in _OF_SEQUENCE for finding in check(own, sessions)]
        found += _by_profile(own, profiles.get(persona, {}))
    return [*found, *_duplicates(read)]


def not_checked(rows: Sequence[Row], related: Related, wanted: Collection[str]) -> list[str]:
    """What cannot be looked for, and why: one line each."""
    lost = sorted({"prior.surprise", "prior.priority"} & set(wanted))
    if related.get("profiles") or not lost:
        return []
    return [f"{', '.join(lost)}: no profiles; name a --workspace or --release that has them"]


def _numbers(own: Sequence[Subject], usual: int) -> Iterator[Finding]:
    numbers = sorted(number for subject in own if (number := subject.number("session")) is not None)
    if numbers != list(range(1, len(own) + 1)):
        listed = ", ".join(f"{number:g}" for number in numbers)
        yield at_row(own[0], "prior.sessions", "error", f"1 to {len(own)} expected", "session", listed)
    elif len(own) != usual:
        message = f"{len(own)} sessions; other profiles have {usual}"
        yield at_row(own[0], "prior.sessions", "error", message, "session", len(own))


def _dependencies(own: Sequence[Subject], sessions: Sessions) -> Iterator[Finding]:
    for subject in own:
        number = subject.number("session")
        held = subject.row.get("dependencies")
        named = [each for each in held if isinstance(each, int)] if isinstance(held, list) else []
        for each in named:
            if number is not None and not (each in sessions and each < number):
                message = "no earlier session of this profile"
                yield at_row(subject, "prior.dependency", "error", message, "dependencies", each)
        for where in values_of(subject.row, "hooks_called", "seeded_in"):
            if where not in named:
                message = f"calls back what session {where} mentioned and does not depend on it"
                yield at_row(subject, "prior.dependency", "error", message, "dependencies", where)


def _metrics(own: Sequence[Subject], sessions: Sessions) -> Iterator[Finding]:
    tested = _tested(own)
    for metric in term_ids("likability_metrics"):
        if tested[metric] < 2:
            message = f"{metric} is tested in {tested[metric]} of {len(own)} sessions, two at least expected"
            yield at_row(own[0], "prior.metric", "error", message, "metrics_tested", metric)


def _hooks(own: Sequence[Subject], sessions: Sessions) -> Iterator[Finding]:
    seeded: dict[str, list[float]] = defaultdict(list)
    for subject in own:
        for hook in values_of(subject.row, "hooks_seeded", "hook"):
            seeded[str(hook)].append(subject.number("session") or 0)
    seeding = {number for numbers in seeded.values() for number in numbers}
    if len(seeding) < 2:
        message = f"{len(seeding)} sessions mention a detail for later, two at least expected"
        yield at_row(own[0], "prior.hooks", "error", message, "hooks_seeded")
    called = set()
    for subject in own:
        number = subject.number("session") or 0
        for call in entries(subject.row, "hooks_called"):
            hook, where = str(call.get("hook")), call.get("seeded_in")
            called.add(hook)
            if where not in seeded[hook] or not isinstance(where, int) or where >= number:
                message = f"session {where} is not an earlier session that mentions it"
                yield at_row(subject, "prior.callback", "error", message, "hooks_called", hook)
    for subject in own:
        for hook in map(str, values_of(subject.row, "hooks_seeded", "hook")):
            if len(seeded[hook]) > 1:
                message = f"mentioned first in {len(seeded[hook])} sessions"
                yield at_row(subject, "prior.callback", "error", message, "hooks_seeded", hook)
            elif hook not in called:
                yield at_row(subject, "prior.uncalled", "note", "never comes back", "hooks_seeded", hook)


def _unnamed_hooks(own: Sequence[Subject], sessions: Sessions) -> Iterator[Finding]:
    keywords = {
        str(hook.get("hook")): str(hook.get("keyword")) for each in own for hook in entries(each.row, "hooks_seeded")
    }
    for subject in own:
        agenda = subject.text("agenda").lower()
        named = [*values_of(subject.row, "hooks_seeded", "hook"), *values_of(subject.row, "hooks_called", "hook")]
        for hook in map(str, named):
            if agenda and hook in keywords and keywords[hook].lower() not in agenda:
                message = f"{hook} is not named"
                yield at_row(subject, "prior.unsaid", "warning", message, "agenda", keywords[hook])


def _by_profile(own: Sequence[Subject], profile: Mapping[str, Any]) -> Iterator[Finding]:
    priority = profile.get("priority_metric")
    if priority is not None and not _tested(own)[priority]:
        message = "no session tests what matters most to this user"
        yield at_row(own[0], "prior.priority", "warning", message, "metrics_tested", priority)
    if profile.get("type") not in _BUDGET:
        return
    low, high = _BUDGET[profile["type"]]
    count = sum(subject.row.get("surprise") is True for subject in own)
    least, most = math.ceil(low * len(own)), math.floor(high * len(own) + 1e-9)
    if not least <= count <= most:
        message = f"{count} of {len(own)} sessions of a {profile['type']} profile, {least} to {most} expected"
        yield at_row(own[0], "prior.surprise", "error", message, "surprise", count)


def _plan(subject: Subject) -> Iterator[Finding]:
    steps = entries(subject.row, "plan")
    turns = [turn for step in steps if isinstance(turn := step.get("turn"), int)]
    if turns and (turns != sorted(turns) or set(turns) != set(range(1, max(turns) + 1))):
        yield at_row(subject, "prior.plan", "error", "turns from 1 on, in order, none left out", "plan", turns)
    if steps and steps[0].get("act") not in _OPENINGS:
        message = f"opens with {' or '.join(_OPENINGS)}"
        yield at_row(subject, "prior.plan", "error", message, "plan", steps[0].get("act"))
    for act, field in (("seed", "hooks_seeded"), ("callback", "hooks_called")):
        planned = sorted(str(step.get("hook")) for step in steps if step.get("act") == act)
        held = sorted(map(str, values_of(subject.row, field, "hook")))
        if steps and planned != held:
            message = f"{field} has {', '.join(held) or 'none'}"
            yield at_row(subject, "prior.plan", "error", message, "plan", ", ".join(planned) or "none")
    if any(step.get("turn") == 1 and step.get("act") == "seed" for step in steps):
        yield at_row(subject, "prior.overshare", "warning", "the first turn gives a personal detail away", "plan")
    twists = sum(step.get("act") == "twist" for step in steps)
    if twists > 1 or (steps and bool(twists) != (subject.row.get("surprise") is True)):
        message = f"{twists} surprises planned where surprise is {str(subject.row.get('surprise')).lower()}"
        yield at_row(subject, "prior.surprise", "error", message, "plan", twists)


def _agenda(subject: Subject) -> Iterator[Finding]:
    agenda = subject.text("agenda")
    turns = [turn for step in entries(subject.row, "plan") if isinstance(turn := step.get("turn"), int)]
    for named in _TURN.finditer(agenda):
        late = [int(number) for number in _NUMBER.findall(named[0]) if turns and int(number) > max(turns)]
        if late:
            message = f"the session has {max(turns)} turns"
            yield at_words(subject, "prior.turns", "error", "agenda", named.span(), message)
    for leaked in _LEAK.finditer(agenda):
        message = "a user does not know what is measured"
        yield at_words(subject, "prior.leak", "warning", "agenda", leaked.span(), message)


def _duplicates(read: Sequence[Subject]) -> Iterator[Finding]:
    texts = [subject.text("agenda") for subject in read]
    for first, second, _ in cosine_pairs(texts, ALIKE) if sum(map(bool, texts)) > 1 else ():
        message = f"much the same as that of {read[first].id}"
        yield at_row(read[second], "prior.duplicate", "warning", message, "agenda", read[first].id)


def _tested(own: Sequence[Subject]) -> Counter[str]:
    counted: Counter[str] = Counter()
    for subject in own:
        held = subject.row.get("metrics_tested")
        counted.update({str(metric) for metric in held} if isinstance(held, list) else ())
    return counted


_OF_SEQUENCE = (_dependencies, _metrics, _hooks, _unnamed_hooks)
_OF_ROW = (_plan, _agenda)
