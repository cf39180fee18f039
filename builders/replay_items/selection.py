"""Which turns are replayed: the published "hard" selection, which looks at target gold, and a blind one.

The paper says that 300 turns of 90 raters are replayed and not which (PersTurnBench 5.1); the released code's "hard"
mode does it like this. Every turn but the first of a conversation gets a score: +3 for gold of 3 or less, +2 for gold
of 3 or 4, +1.5 for a specific reason, +1 if substantive else -1.5, +1 for a user message of 20 characters or more,
-0.5 for gold of 5. Then at most one turn a conversation, at most three a block (of gold up to 4, then one of gold 5),
one a rater first, quotas by gold score, and the best of the rest up to the budget. So the set is enriched in turns that
the original assistant failed: a mean over it says nothing of all turns. The blind selection draws as many turns from
the same pool (not the first, substantive), one a rater first and one a conversation, with no look at gold.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from builders.pipeline.streams import Streams

BUDGET = 300
QUOTAS: Mapping[int, int] = {1: 25, 2: 50, 4: 75}

_FIRST_TURN, _PER_CONVERSATION, _PER_BLOCK, _CONTROLS = 1, 1, 3, 1
_SHORT_USER, _CLEAR_USER, _SHORT_REPLY = 8, 20, 25
_ACKNOWLEDGEMENTS = frozenset(
    {"好的", "好", "可以", "没问题", "明白", "收到", "当然", "当然可以", "ok", "okay", "sure", "of course", "all right"}
)
_UNSPECIFIC = frozenset({"", "other", "satisfied"})


@dataclass(frozen=True)
class Candidate:
    """A turn that may be replayed: what was asked, what was answered, and (for ``hard`` only) its gold."""

    sample_id: str
    conversation_id: str
    rater_id: str
    task: str
    turn: int
    user: str
    reply: str
    score: int
    reason: str


@dataclass(frozen=True)
class Selected:
    """A selected turn; ``value`` and ``reasons`` are what the published selection ranks by."""

    turn: Candidate
    value: float | None = None
    reasons: tuple[str, ...] = field(default=())


def is_substantive(user: str, reply: str) -> bool:
    """Whether there is something to answer: no bare acknowledgement, no two very short messages."""
    user, reply = user.strip(), reply.strip()
    bare = reply.translate({ord(mark): None for mark in "。！!."}).strip().lower()
    if len(user) < _SHORT_USER or bare in _ACKNOWLEDGEMENTS:
        return False
    return not (len(reply) < _SHORT_REPLY and len(user) < _SHORT_REPLY)


def selection_value(turn: Candidate) -> Selected:
    """The published score of a turn, and what it is made of. Uses gold."""
    parts = [
        (3.0, "score_le_3", turn.score <= 3),
        (2.0, "boundary_3_4", turn.score in (3, 4)),
        (1.5, "specific_dsat_reason", turn.score <= 3 and turn.reason not in _UNSPECIFIC),
        (1.0, "substantive", is_substantive(turn.user, turn.reply)),
        (-1.5, "non_substantive", not is_substantive(turn.user, turn.reply)),
        (1.0, "clear_user_request", len(turn.user.strip()) >= _CLEAR_USER),
        (-0.5, "positive_control_candidate", turn.score == 5),
    ]
    return Selected(
        turn, sum(value for value, _, holds in parts if holds), tuple(name for _, name, holds in parts if holds)
    )


def hard_selection(
    turns: Iterable[Candidate], budget: int = BUDGET, quotas: Mapping[int, int] = QUOTAS
) -> list[Selected]:
    """The published selection, in its order."""
    pool = _block_limited(turns)
    pool.sort(key=lambda each: (-_value(each), _block(each), each.turn.sample_id))
    first = _best_of_raters(pool)[:budget]
    chosen = {each.turn.sample_id: each for each in first}
    rest = sorted(first, key=lambda each: each.turn.rater_id) + [e for e in pool if e.turn.sample_id not in chosen]
    for score, quota in sorted(quotas.items()):
        fresh = [each for each in rest if each.turn.score == score and each.turn.sample_id not in chosen]
        chosen.update({each.turn.sample_id: each for each in fresh[:quota]})
    for each in rest:
        if len(chosen) >= budget:
            break
        chosen.setdefault(each.turn.sample_id, each)
    return list(chosen.values())[:budget]


def blind_selection(turns: Iterable[Candidate], streams: Streams, budget: int = BUDGET) -> list[Selected]:
    """As many turns drawn without gold: one a rater first, then one a conversation, in random order."""
    pool = [turn for turn in turns if turn.turn >= _FIRST_TURN and is_substantive(turn.user, turn.reply)]
    pool.sort(key=lambda turn: (streams.rng("replay", turn.sample_id).random(), turn.sample_id))
    chosen: dict[str, Candidate] = {}
    for limit in ("rater_id", "conversation_id"):
        used = {getattr(turn, limit) for turn in chosen.values()}
        for turn in pool:
            if len(chosen) < budget and turn.sample_id not in chosen and getattr(turn, limit) not in used:
                chosen[turn.sample_id] = turn
                used.add(getattr(turn, limit))
    return [Selected(turn) for turn in chosen.values()]


def _block_limited(turns: Iterable[Candidate]) -> list[Selected]:
    """At most one turn a conversation, then at most three a block."""
    conversations: dict[str, list[Selected]] = {}
    for turn in turns:
        found = selection_value(turn)
        if turn.turn < _FIRST_TURN or ("non_substantive" in found.reasons and turn.score >= 4):
            continue
        conversations.setdefault(turn.conversation_id, []).append(found)
    blocks: dict[str, list[Selected]] = {}
    for own in conversations.values():
        best = sorted(own, key=lambda each: (-_value(each), each.turn.sample_id))[:_PER_CONVERSATION]
        for each in best:
            blocks.setdefault(_block(each), []).append(each)
    kept: list[Selected] = []
    for own in blocks.values():
        ordered = sorted(own, key=lambda each: (-_value(each), each.turn.sample_id))
        low = [each for each in ordered if each.turn.score <= 4][:_PER_BLOCK]
        controls = [each for each in ordered if each.turn.score == 5 and "substantive" in each.reasons]
        kept += low + controls[: min(_PER_BLOCK - len(low), _CONTROLS)]
    return kept


def _best_of_raters(pool: Sequence[Selected]) -> list[Selected]:
    """The first of each rater in the order of the pool, raters in order of name."""
    best: dict[str, Selected] = {}
    for each in pool:
        best.setdefault(each.turn.rater_id, each)
    return [best[name] for name in sorted(best)]


def _block(each: Selected) -> str:
    return f"{each.turn.rater_id}__{each.turn.task}"


def _value(each: Selected) -> float:
    return each.value or 0.0
