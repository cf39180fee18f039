"""A stand-in for a model that writes memories: the offline writer, answering the prompts as text.

The rehearsal server (``models.rehearsal``) asks it for its answers, so a whole build can be rehearsed over
the wire (prompts, the text form, repairs, the journal) before it costs anything. It sees what a model
sees, the request's body, and knows the shipped characters by their labels and their lives by the
default seed.

    python -m models.rehearsal --port 8765 --composer builders.rehearsal:memories
    ANTHROPIC_BASE_URL=http://127.0.0.1:8765 ANTHROPIC_API_KEY=rehearsal \\
        python -m builders.memories --char CHAR_04 --backend messages
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from typing import Any

from builders.life.ledgers import ledger
from builders.memories.delimited import FIELDS, parse, render
from builders.memories.plan import MemoryPlan
from builders.memories.plan import plan as planned
from builders.memories.stages import memory_stage
from builders.offline.memories import Writer
from builders.personas import load_characters
from builders.pipeline.command import DEFAULT_BENCHMARK
from builders.pipeline.streams import Streams
from schemas.command import DEFAULT_SEED
from schemas.tables import Row

_STREAMS = Streams(DEFAULT_SEED, DEFAULT_BENCHMARK)

# What ``builders.memories.briefing`` says about one memory, and about one field to rewrite.
_PIECE = re.compile(
    r"^- (?P<id>MEM_\d+_(?P<number>\d+)): age (?P<age>\d+), (?P<domain>[a-z ]+), tier (?P<tier>[A-D]), strength of "
    r"feeling (?P<intensity>[\d.]+); a (?P<weekday>\w+) (?P<part>\w+) in (?P<season>\w+); number (?P<turn>\d+) of "
    r'its kind at this stage; (?:plain life|it turns on the pattern "(?P<pattern>.+)")$',
    re.MULTILINE,
)
_LABEL = re.compile(r"^Label: (.+)$", re.MULTILINE)
_USED = re.compile(r"^- (?!MEM_)(.+)$", re.MULTILINE)
_REWRITE = re.compile(r"Rewrite only its ([a-z_]+);")


def memories(body: Mapping[str, Any]) -> str:
    """The text that answers a request for memories, or for one field of a memory."""
    system = "\n".join(block["text"] for block in body.get("system", ()))
    prompt = _text(body["messages"][-1]["content"])
    label = _LABEL.search(system)
    character = _characters().get(label[1]) if label else None
    if character is None:
        return "I only know the memories of Role A to Role K."
    plans = [_plan(character, found) for found in _PIECE.finditer(prompt)]
    rewrite = _REWRITE.search(prompt)
    if rewrite and plans:
        return _rewritten(character, plans[0], rewrite[1], prompt)
    writer = _writer(character["character_id"])
    taken = _USED.findall(prompt[: prompt.find("Write these memories:")])
    rows = []
    for one in plans:
        rows.append(writer.compose(one, taken))
        taken.append(rows[-1]["context"])
    return render(rows)


def _rewritten(character: Row, plan: MemoryPlan, field: str, prompt: str) -> str:
    """The field rewritten; how often the prompt has been answered before is not known, so the words decide."""
    row = {**parse(prompt[: prompt.find("What is wrong with")], [plan.id]).good[plan.id], "id": plan.id}
    attempt = 1 + sum(map(ord, str(row[field]))) % 97
    value = _writer(character["character_id"]).rewrite(row, plan, field, "", attempt)
    return render([{**row, field: value}], _fields(field))


def _fields(field: str) -> Sequence[str]:
    return [name for name in FIELDS if name == field or (field == "content_full" and name == "ledger_refs")]


def _plan(character: Row, found: re.Match[str]) -> MemoryPlan:
    age = int(found["age"])
    return MemoryPlan(
        id=found["id"],
        character_id=character["character_id"],
        number=int(found["number"]),
        age=age,
        stage=memory_stage(age)["id"],
        domain=found["domain"].replace(" ", "_"),
        tier=found["tier"],
        intensity=float(found["intensity"]),
        pattern=None if found["pattern"] is None else character["core_patterns"].index(found["pattern"]),
        season=found["season"],
        weekday=found["weekday"],
        part_of_day=found["part"],
        turn=int(found["turn"]) - 1,
    )


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "".join(block.get("text", "") for block in content)


@functools.cache
def _characters() -> dict[str, Row]:
    return {row["label"]: row for row in load_characters()}


@functools.cache
def _writer(who: str) -> Writer:
    character = next(row for row in load_characters() if row["character_id"] == who)
    return Writer(character, ledger(character, _STREAMS), _STREAMS, planned(character, _STREAMS))
