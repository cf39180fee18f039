"""What a writer is told: the prompts of memories and of repairs, filled in.

HEART-BENCH appendix G.2 and B.4. The parts that requests share come first, from most to least shared
(the rules; the character; the life stage and its facts), so that a server may cache them.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from builders.memories.delimited import render
from builders.memories.plan import MemoryPlan, targets
from models.prompts import Prompt, Rendered, load
from schemas.findings import Finding
from schemas.tables import Row, vocabulary

_PROMPTS = Path(__file__).parents[1] / "prompts"
_REPAIRS = Path(__file__).parents[1] / "seeds" / "repairs.toml"
_QUOTED = 120  # characters of a defect's words that a repair is shown


def memory_prompt() -> Prompt:
    """The prompt memories are asked with."""
    return load(_PROMPTS / "memory.md")


def repair_prompt() -> Prompt:
    """The prompt a field is rewritten with; its fixed parts are those of the memory prompt."""
    return load(_PROMPTS / "memory_repair.md")


class Briefing:
    """The prompts of one window: a character in a life stage, with its ledger."""

    def __init__(self, character: Row, ledger: Sequence[Row], stage_id: str) -> None:
        stage = next(term for term in vocabulary("memory_stages") if term["id"] == stage_id)
        self._character = character
        self._patterns = character["core_patterns"]
        self._shared: dict[str, Any] = {
            "label": character["label"],
            "occupation": character["occupation"],
            "big_five": ", ".join(f"{trait} {value:.2f}" for trait, value in character["big_five"].items()),
            "description": character["description"],
            "self_value_logic": character["self_value_logic"],
            "core_patterns": "\n".join(f"{number}. {text}" for number, text in enumerate(self._patterns, 1)),
            "length": f"{targets(character).length:,.0f}",
            "stage": stage["label"],
            "from_age": stage["from_age"],
            "to_age": stage["to_age"],
            "task": stage["task"],
            "facts": "\n".join(_fact(fact) for fact in ledger if _in(fact, stage["from_age"], stage["to_age"])),
        }

    def write(self, plans: Sequence[MemoryPlan], used: Sequence[str], reason: str) -> Rendered:
        """Fixed parts and prompt for some memories; ``used`` are earlier contexts, ``reason`` why it is asked again."""
        return memory_prompt().render(
            **self._shared,
            used="\n".join(f"- {context}" for context in used) or "(none yet)",
            pieces="\n".join(self.piece(plan) for plan in plans),
            again=f"They are asked for again. What was wrong with the last answer: {reason}" if reason else "",
        )

    def rewrite(self, plan: MemoryPlan, row: Row, field: str, findings: Sequence[Finding]) -> Rendered:
        """Fixed parts and prompt for one field of a memory, with what is wrong with it and what to do."""
        filled = repair_prompt().render(
            field=field,
            piece=self.piece(plan),
            memory=render([row]),
            defect="; ".join(dict.fromkeys(_finding_line(finding) for finding in findings)),
            instruction=" ".join(dict.fromkeys(instruction(finding.code) for finding in findings)),
            form=f"==={plan.id}===\n{_FORMS[field]}\n===END===",
        )
        return Rendered(self.write([plan], (), "").fixed, filled.prompt)

    def piece(self, plan: MemoryPlan) -> str:
        """One memory's plan, in words."""
        plot = "plain life" if plan.pattern is None else f'it turns on the pattern "{self._patterns[plan.pattern]}"'
        return (
            f"- {plan.id}: age {plan.age}, {plan.domain.replace('_', ' ')}, tier {plan.tier}, strength of feeling "
            f"{plan.intensity:.2f}; a {plan.weekday} {plan.part_of_day} in {plan.season}; "
            f"number {plan.turn + 1} of its kind at this stage; {plot}"
        )


def instruction(code: str) -> str:
    """What to tell a writer about a finding code: its own entry, its family's, else the general one."""
    known = _instructions()
    return known.get(code) or known.get(f"{code.split('.')[0]}.*") or known["*"]


@functools.cache
def _instructions() -> dict[str, str]:
    text: dict[str, str] = tomllib.loads(_REPAIRS.read_text("utf-8"))["instructions"]
    return text


_FORMS = {
    "context": "context: ...",
    "content_summary": "content_summary: ...",
    "triggers": "triggers: ...; ...; ...; ...",
    "relevance_tags": "relevance_tags: ...; ...; ...; ...",
    "psych_conclusion": "psych_conclusion: ...",
    "behavior_policy": "behavior_policy: ...",
    "emotion_signature": "emotion_primary: ...\nemotion_secondary: ...",
    "content_full": "facts: LED_..., LED_...\n--content_full--\n...",
}
REWRITABLE = frozenset(_FORMS)


def _finding_line(finding: Finding) -> str:
    """The message of a finding with the words it is about."""
    words = f' ("{finding.text}")' if finding.text and len(finding.text) <= _QUOTED else ""
    return finding.message + words


def _in(fact: Row, from_age: int, to_age: int) -> bool:
    return bool(fact["from_age"] <= to_age and fact["to_age"] >= from_age)


def _fact(fact: Row) -> str:
    name = f" {fact['name']}" if fact["name"] else ""
    linked = f" (belongs to {', '.join(fact['linked_to'])})" if fact["linked_to"] else ""
    return (
        f"- {fact['fact_id']}, ages {fact['from_age']}-{fact['to_age']}: {fact['role']}{name}{linked}, {fact['detail']}"
    )
