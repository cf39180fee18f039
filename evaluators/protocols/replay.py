"""Replay: candidates answer turns of recorded conversations anew, and the recorded replies beside them.

A candidate gets the conversation up to an assistant message and fills that message; the prefix is what really was
said, whatever the candidate would have said before. PersTurnBench 5.1 and appendix G.

    --mode raw       the prefix alone, without a system prompt
    --mode task      with the task family and its background
    --mode profile   with the rater's profile
    --mode memory    with four earlier turns of the rater in other tasks that are like this one, without any score
    --mode diverse   the same, one of each task family in turn

``offline:original`` writes the recorded replies of all rated turns, as the reference that judges are measured and
calibrated on. A reply that is empty after three attempts is failed and missing, as is one that was cut off.

    python -m evaluators run --release persturn@1.0.1 --model offline:original
    python -m evaluators run --release persturn@1.0.1 --model NAME --mode memory --selection hard
"""

from __future__ import annotations

import argparse
import functools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from evaluators.protocols import replay_candidates
from evaluators.protocols.plan import Plan
from evaluators.protocols.replay_prompts import MODES, SystemMessages
from evaluators.running import asking
from evaluators.satisfaction.turn_fields import FIELDS, NUMBERS, RatedTurns, before, reply_of
from evaluators.scoring.said_rows import Said, said_frame
from models.backends import BackendSettings
from models.request import Chain, Message, Reply, Request
from releases import Release
from schemas.errors import RequestError
from schemas.randomness import rng_for
from schemas.tables import Row

ORIGINAL = "original"
NEEDS = ("replay_items", "conversations", "ratings")
OFFLINE = (ORIGINAL, *replay_candidates.SUBJECTS)
ARGUMENTS = ("mode", "selection", "split", "limit", "max_tokens")
SELECTIONS = ("hard", "blind")
SPLITS = ("test", "all")
MAX_TOKENS = 1024

_TEMPERATURE, _ATTEMPTS = 0.7, 3
_GROUPS = ("rater", "task")
_COLUMNS = ("item", "state", "reason", "model", *_GROUPS, *FIELDS, *NUMBERS, "planted_state",
            "input_tokens", "output_tokens", "cost")  # fmt: skip
_UNUSABLE = ("answered", "unparsable", "invalid")  # with nothing to show: asked for again
_STATE = {"answered": "said", "refused": "refused", "truncated": "truncated"}
_THOUGHTS = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
_FENCE = re.compile(r"\A```[a-z]*\n(.*)\n```\Z", re.DOTALL)


@dataclass(frozen=True)
class Options:
    """What is replayed: how candidates are asked, on which items; ``split`` of the raters for recorded replies."""

    mode: str = "raw"
    selection: str = "hard"
    split: str = "test"
    limit: int | None = None
    seed: int = 7


@dataclass(frozen=True)
class Turn:
    """One reply that is wanted: the n-th of a conversation, from 0."""

    sample_id: str
    conversation: Row
    turn: int


@dataclass(frozen=True)
class Filled:
    """What came for a turn: the reply without thoughts and fences, and the planted levels of an offline one."""

    reply: Reply
    text: str
    levels: Mapping[str, int] | None = None


def add_arguments(made: argparse.ArgumentParser) -> None:
    """Its own arguments."""
    own = made.add_argument_group("replay", "for releases of rated conversations")
    own.add_argument("--mode", choices=MODES, metavar="NAME", help=f"what is shown: {', '.join(MODES)} (default: raw)")
    own.add_argument("--selection", choices=SELECTIONS, metavar="NAME", help="which turns: hard (default) or blind")
    own.add_argument(
        "--split", choices=SPLITS, metavar="NAME",
        help="raters of offline:original: test (default), or all, those that train too",
    )  # fmt: skip


def plan(release: Release, parsed: argparse.Namespace, offline: str | None) -> Plan:
    """The run that the arguments ask for; ``offline`` names a candidate without a model."""
    _demand_sensible(parsed, offline)
    original, settings = offline == ORIGINAL, asking(parsed, subject=parsed.model)
    options = Options(
        parsed.mode or "raw", parsed.selection or "hard", parsed.split or "test", parsed.limit, parsed.seed
    )
    known, room = RatedTurns(release, parsed.seed), parsed.max_tokens or MAX_TOKENS
    turns, shown = wanted(release, known, original, options), SystemMessages(known, options.mode)
    return Plan(
        unit="replies",
        starts=chains(release, known, turns, offline or parsed.model, options, room),
        settings=replace(settings, name="offline") if offline else settings,
        tables=lambda filled: tables(known, turns, filled, settings, None if offline else parsed.model),
        served=lambda filled: {one.reply.model for one in filled},
        about={
            "mode": None if offline else options.mode,
            "selection": None if original else options.selection,
            "split": options.split if original else None,
            "prompt": None if offline else shown.prompt_id,
            "prompt_digest": None if offline else shown.digest,
            "max_tokens": None if offline else room,
        },
        named=(parsed.mode or "", parsed.selection or "", f"split-{parsed.split}" if parsed.split else ""),
    )


def _demand_sensible(parsed: argparse.Namespace, offline: str | None) -> None:
    """Raises RequestError for an argument that changes nothing for this model."""
    original = offline == ORIGINAL
    refused = {
        **(dict.fromkeys(("mode", "selection"), "recorded replies are of no mode and selection") if original else {}),
        **({} if original else {"split": "candidates answer the replay items"}),
        **({"mode": "offline candidates are shown nothing"} if offline else {}),
    }
    for name, why in refused.items():
        if getattr(parsed, name) is not None:
            raise RequestError(f"--{name} for {parsed.model}", expected=why, fix=f"Leave --{name} out")


def wanted(release: Release, known: RatedTurns, original: bool, options: Options) -> list[Turn]:
    """The turns to fill, in order of sample id; ``options.limit`` takes a seeded sample of them."""
    rows = _recorded(known, options.split) if original else _items(release, options.selection)
    turns = [Turn(row["sample_id"], known.conversations[row["conversation_id"]], row["turn"]) for row in rows]
    turns.sort(key=lambda turn: turn.sample_id)
    if options.limit is None or options.limit >= len(turns):
        return turns
    rng = rng_for(options.seed, release.name.benchmark, "evaluators", "limit")
    return [turns[place] for place in sorted(rng.sample(range(len(turns)), options.limit))]


def chains(
    release: Release, known: RatedTurns, turns: Sequence[Turn], model: str, options: Options, room: int
) -> list[Callable[[], Chain[Filled]]]:
    """A chain a turn; an offline candidate's (``model`` in ``OFFLINE``) asks nobody."""
    if model == ORIGINAL:
        return [functools.partial(_recorded_reply, known, turn) for turn in turns]
    if model in replay_candidates.SUBJECTS:
        pool = replay_candidates.Pool(known)
        return [functools.partial(_drawn, pool, model, turn, options.seed) for turn in turns]
    instructions = SystemMessages(known, options.mode)
    name = f"evaluate/replay/{release.name}/{options.mode}"
    return [functools.partial(_asked, f"{name}/{turn.sample_id}", instructions, turn, room) for turn in turns]


def tables(
    known: RatedTurns, turns: Sequence[Turn], filled: Sequence[Filled], settings: BackendSettings, model: str | None
) -> dict[str, Said]:
    """The rows of what was said; ``model`` is the price's, None for an offline candidate."""
    levels = {turn.sample_id: one.levels for turn, one in zip(turns, filled, strict=True) if one.levels}
    truth = known.truth(sorted(levels), levels)
    rows = []
    for turn, one in zip(turns, filled, strict=True):
        usage, conversation = one.reply.usage, turn.conversation
        tokens = usage.input_tokens + usage.cache_write_tokens + usage.cache_read_tokens
        cost = 0.0 if model is None else settings.prices.cost(model, usage, settings.batch)
        rows.append(
            {
                "item": turn.sample_id,
                **_state(one),
                "model": one.reply.model,
                "rater": conversation["rater_id"],
                "task": conversation["task"],
                **known.fields(conversation, turn.turn, one.text),
                **truth.get(turn.sample_id, {}),
                "planted_state": "scored" if turn.sample_id in truth else None,
                "input_tokens": tokens,
                "output_tokens": usage.output_tokens,
                "cost": cost,
            }
        )
    return {"turns": Said("turn", _GROUPS, said_frame(rows, _COLUMNS))}


def cleaned(text: str) -> str:
    """A reply without the thoughts before it and without a fence round the whole of it."""
    text = _THOUGHTS.sub("", text).strip()
    found = _FENCE.match(text)
    return (found[1] if found else text).strip()


def prefix(conversation: Row, turn: int) -> tuple[Message, ...]:
    """The messages before the n-th assistant message as a model is shown them.

    It begins with a user's message and speakers alternate: what the assistant says first is left out, and messages of
    one speaker in a row are one. Empty where no user has spoken.
    """
    made: list[Message] = []
    for message in before(conversation, turn):
        role: Literal["user", "assistant"] = "user" if message["role"] == "user" else "assistant"
        text = message["content"]
        if made and made[-1][0] == role:
            made[-1] = (role, f"{made[-1][1]}\n\n{text}")
        elif made or role == "user":
            made.append((role, text))
    return tuple(made)


def _recorded(known: RatedTurns, split: str) -> list[Row]:
    """Rated turns of the raters of a split; those without history in another task are in none."""
    splits = ("test", "train") if split == "all" else ("test",)
    return [row for row in known.ratings.values() if known.split.get(row["rater_id"]) in splits]


def _items(release: Release, selection: str) -> list[Row]:
    found = [row for row in release.rows("replay_items") if row["selection"] == selection]
    if not found:
        raise RequestError(f"no {selection} replay items", release.name, fix="Take another --selection")
    return found


def _recorded_reply(known: RatedTurns, turn: Turn) -> Chain[Filled]:
    yield from ()
    planted = known.ratings[turn.sample_id]["planted"]
    text = reply_of(turn.conversation, turn.turn)
    return Filled(Reply("answered", text), text, planted["levels"] if planted else None)


def _drawn(pool: replay_candidates.Pool, subject: str, turn: Turn, seed: int) -> Chain[Filled]:
    yield from ()
    text, levels = pool.reply(subject, turn.conversation["task"], turn.sample_id, seed)
    return Filled(Reply("answered", text), text, levels)


def _asked(name: str, instructions: SystemMessages, turn: Turn, room: int) -> Chain[Filled]:
    """A reply, asked for again where it came empty."""
    shown = prefix(turn.conversation, turn.turn)
    if not shown or shown[-1][0] != "user":
        return Filled(Reply("failed", reason="no user message before the reply"), "")
    system, text = instructions.of(turn.conversation, turn.turn), ""
    for attempt in range(1, _ATTEMPTS + 1):
        reply = yield Request(
            id=name,
            role="subject",
            fixed=system,
            prompt="",
            messages=shown,
            prompt_id=instructions.prompt_id,
            prompt_digest=instructions.digest,
            compose=functools.partial(reply_of, turn.conversation, turn.turn),
            max_tokens=room,
            temperature=_TEMPERATURE,
            attempt=attempt,
        )
        text = cleaned(str(reply.answer if reply.status == "answered" else reply.text))
        if text or reply.status not in _UNUSABLE:
            break
    return Filled(reply, text)


def _state(one: Filled) -> dict[str, str | None]:
    reply = one.reply
    state = _STATE.get(reply.status, "failed")
    if not one.text and reply.status in _UNUSABLE:
        return {"state": "failed", "reason": f"empty after {_ATTEMPTS} attempts"}
    return {"state": state, "reason": None if state == "said" else reply.reason or reply.status}
