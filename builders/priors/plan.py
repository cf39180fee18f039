"""The plan of a profile's sessions: everything about a prior but its words, drawn so that the rules hold.

LikeBench 4.3, Tables 15 to 18: kinds of session interleaved, every metric tested at least twice and the
profile's priority metric once more, details seeded in at least two sessions and called back later, surprises
within the budget of the profile's type. ``audits.checks.priors`` checks the same rules on anybody's rows.

    python -m builders.priors
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from builders.offline.sessions.banks import bank
from schemas.errors import RequestError
from schemas.records import term_ids, vocabulary
from schemas.tables import Row

LEAST_SESSIONS = 3
"""With fewer no metric that needs an earlier session could be tested twice."""

_SURPRISES = {"social": (0.0, 0.2), "antisocial": (0.5, 0.7)}
_OPENINGS = {"topic": ("ask",), "goal": ("ask",), "scenario": ("share",), "guided": ("ask", "share")}
_ACTS_OF = {
    "emotional_adaptation": "feel",
    "humor_fit": "joke",
    "reference_understanding": "allude",
    "knowledge_adaptation": "follow_up",
    "conversation_length": "react",
    "formality_matching": "react",
}


@dataclass
class Session:
    """One session as it is planned."""

    number: int
    category: str
    surprise: bool
    mood: str
    subject: Row
    focus: str
    metrics: list[str] = field(default_factory=list)
    seeds: list[Row] = field(default_factory=list)
    calls: list[Row] = field(default_factory=list)
    dependencies: set[int] = field(default_factory=set)


@dataclass(frozen=True)
class _Notes:
    """What the user says in their own words, one line a session, none twice before all have been used."""

    allusions: list[str]
    twists: list[str]
    moods: Mapping[str, list[str]]


def plan_sessions(profile: Row, sessions: int, turns: int, rng: Random) -> list[Row]:
    """The priors of a profile without agenda and provenance, in order of session.

    Raises RequestError for fewer than three sessions or turns.
    """
    if sessions < LEAST_SESSIONS or turns < LEAST_SESSIONS:
        expected = f"at least {LEAST_SESSIONS} sessions of {LEAST_SESSIONS} turns, not {sessions} of {turns}"
        raise RequestError("too few sessions or turns", "priors", expected=expected, fix="Plan more of them")
    planned = _outlines(profile, sessions, rng)
    _place_hooks(profile, planned, rng)
    _place_metrics(profile["priority_metric"], planned, rng)
    _build_on_earlier(planned)
    notes = _Notes(
        allusions=_cycled([term["line"] for term in vocabulary("allusions")], sessions, rng),
        twists=_cycled(bank("agendas")["twists"]["any"], sessions, rng),
        moods={mood: _cycled(lines, sessions, rng) for mood, lines in bank("agendas")["moods"].items()},
    )
    return [_row(profile, each, turns, notes, rng) for each in planned]


def hooks_of(profile: Row) -> list[Row]:
    """The personal details of a profile that can be mentioned: its people, its animals, its small facts."""
    people = [
        {
            "kind": each["kind"],
            "mention": f"my {each['relation']} {each['name']}",
            "text": each["text"],
            "keyword": each["name"],
        }
        for each in profile["relations"]
    ]
    return people + [{key: each[key] for key in ("kind", "mention", "text", "keyword")} for each in profile["details"]]


def surprises(kind: str, sessions: int) -> range:
    """How many sessions of a profile of this type may bring a surprise (Table 18)."""
    low, high = _SURPRISES[kind]
    return range(math.ceil(low * sessions), math.floor(high * sessions + 1e-9) + 1)


def _outlines(profile: Row, sessions: int, rng: Random) -> list[Session]:
    categories = _cycled(term_ids("prior_categories"), sessions, rng)
    moods = _cycled(term_ids("session_moods"), sessions, rng)
    surprised = set(rng.sample(range(sessions), rng.choice(surprises(profile["type"], sessions))))
    pairs = [
        (subject, item)
        for subject in profile["subjects"]
        for entry in profile["entities"]
        if entry["set"] == subject["set"]
        for item in entry["items"]
    ]
    foci = _cycled(pairs, sessions, rng)
    return [
        Session(place + 1, categories[place], place in surprised, moods[place], *foci[place])
        for place in range(sessions)
    ]


def _cycled(items: Sequence[Any], count: int, rng: Random) -> list[Any]:
    """Items in rounds of random order: all once before any comes again."""
    drawn: list[Any] = []
    while len(drawn) < count:
        drawn += rng.sample(items, len(items))
    return drawn[:count]


def _place_hooks(profile: Row, planned: Sequence[Session], rng: Random) -> None:
    """Seed details in two or more sessions, the first of them the first; call each back at least once, later."""
    hooks = hooks_of(profile)
    rng.shuffle(hooks)
    wanted = min(len(hooks), max(2, len(planned) // 2))
    earlier = planned[: max(2, len(planned) - 3)]
    seeding = sorted([earlier[0], *rng.sample(earlier[1:], wanted - 1)], key=lambda each: each.number)
    for number, (session, hook) in enumerate(zip(seeding, hooks, strict=False), 1):
        named = {"hook": f"hook_{number}", **hook}
        session.seeds.append(named)
        later = rng.choice(planned[session.number :])
        later.calls.append({"hook": named["hook"], "seeded_in": session.number})
    calling = [each for each in planned if each.calls]
    if len(calling) < 2:  # the metric needs two sessions
        free = rng.choice([each for each in planned[1:] if not each.calls])
        seeded = [(hook, each.number) for each in planned[: free.number - 1] for hook in each.seeds]
        hook, where = rng.choice(seeded)
        free.calls.append({"hook": hook["hook"], "seeded_in": where})


def _place_metrics(priority: str, planned: Sequence[Session], rng: Random) -> None:
    """Every metric in two sessions, the priority in three, the least loaded first; callbacks where they are planned."""
    for session in planned:
        if session.calls:
            session.metrics.append("callback")
    for metric in rng.sample(term_ids("likability_metrics"), len(term_ids("likability_metrics"))):
        if metric == "callback":
            continue
        wanted = 3 if metric == priority else 2
        order = sorted(planned, key=lambda each: (len(each.metrics), rng.random()))
        for session in order[:wanted]:
            session.metrics.append(metric)
    for session in planned:
        missing = [metric for metric in _ACTS_OF if metric not in session.metrics]
        while len(session.metrics) < 2:
            session.metrics.append(missing.pop(rng.randrange(len(missing))))
    if priority == "callback":
        _third_callback(planned, rng)


def _third_callback(planned: Sequence[Session], rng: Random) -> None:
    free = [each for each in planned[1:] if not each.calls]
    while free and sum(1 for each in planned if each.calls) < LEAST_SESSIONS:
        session = free.pop(rng.randrange(len(free)))
        hook, where = rng.choice([(hook, e.number) for e in planned[: session.number - 1] for hook in e.seeds])
        session.calls.append({"hook": hook["hook"], "seeded_in": where})
        session.metrics.append("callback")


def _build_on_earlier(planned: Sequence[Session]) -> None:
    """A session depends on those whose details it calls back, and on the last one about the same set."""
    last: dict[str, int] = {}
    for session in planned:
        session.dependencies = {call["seeded_in"] for call in session.calls}
        if session.subject["set"] in last:
            session.dependencies.add(last[session.subject["set"]])
        last[session.subject["set"]] = session.number


def _row(profile: Row, session: Session, turns: int, notes: _Notes, rng: Random) -> Row:
    order = list(term_ids("likability_metrics"))
    return {
        "persona_id": profile["persona_id"],
        "session": session.number,
        "category": session.category,
        "metrics_tested": sorted(session.metrics, key=order.index),
        "dependencies": sorted(session.dependencies),
        "surprise": session.surprise,
        "set": session.subject["set"],
        "focus": session.focus,
        "mood": session.mood,
        "hooks_seeded": session.seeds,
        "hooks_called": session.calls,
        "plan": _plan(profile["type"], session, turns, notes, rng),
    }


def _plan(kind: str, session: Session, turns: int, notes: _Notes, rng: Random) -> list[Row]:
    """What is done in which turn: an opening, the acts the metrics call for spread over the middle, a close."""
    place = session.number - 1
    said = {"feel": notes.moods[session.mood][place], "allude": notes.allusions[place]}
    wanted = dict.fromkeys(_ACTS_OF[metric] for metric in session.metrics if metric in _ACTS_OF)
    acts = [_step(act, note=said.get(act)) for act in wanted]
    rng.shuffle(acts)
    seeds = [_step("seed", hook=hook["hook"]) for hook in session.seeds]
    calls = [_step("callback", hook=call["hook"]) for call in session.calls]
    # Who is predictable discloses early, who is not late.
    acts = [*seeds, *acts, *calls] if kind == "social" else [*acts, *calls, *seeds]
    if session.surprise:
        acts.insert(max(1, len(acts) // 2), _step("twist", note=notes.twists[place]))
    middle = range(2, turns)
    acts += [_step("follow_up") for _ in range(len(middle) - len(acts))]
    placed = [{"turn": 1, **_step(rng.choice(_OPENINGS[session.category]))}]
    placed += [{"turn": middle[number * len(middle) // len(acts)], **act} for number, act in enumerate(acts)]
    return [*placed, {"turn": turns, **_step("close")}]


def _step(act: str, hook: str | None = None, note: str | None = None) -> Row:
    return {"act": act, "hook": hook, "note": note}
