"""What is asked about one character's memories, and how it is answered offline.

The texts of a year's memories are the same for every scenario, so they stand in the fixed part of the
request, where a server may cache them; the offline scorer keeps its index the same way.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from builders.scenarios.situations import memory_line, memory_text, scenario_text
from models.prompts import load
from models.request import Request
from schemas.tables import Row, term_ids

if TYPE_CHECKING:
    from builders.offline.choices.association import Associations, Matrix

SCREEN = Path(__file__).parents[1] / "prompts" / "screen.md"
REFINE = Path(__file__).parents[1] / "prompts" / "refine.md"


def _answer_schema(field: str, vocabulary: str) -> Row:
    item = {
        "type": "object",
        "additionalProperties": False,
        "required": ["memory_id", field],
        "properties": {"memory_id": {"type": "string"}, field: {"type": "string", "enum": list(term_ids(vocabulary))}},
    }
    return {
        "type": "object",
        "additionalProperties": False,
        "required": ["activated"],
        "properties": {"activated": {"type": "array", "items": item}},
    }


class Recollection:
    """One character's memories, with what is needed again for every scenario: texts, and the offline scorer."""

    def __init__(self, character: Row, memories: Sequence[Row], benchmark: str) -> None:
        self.character = character
        self._benchmark = benchmark
        self.memory = {memory["id"]: memory for memory in memories}
        self._texts: dict[int, tuple[str, ...]] = {}
        self._scored: tuple[str, Matrix] | None = None

    def screening(self, scenario: Row, age: int, offered: Sequence[Row], budget: int) -> Request:
        """The request for the memories of one year, at most ``budget`` of them."""
        if age not in self._texts:
            told = "\n\n".join(memory_text(memory) for memory in offered)
            self._texts[age] = (
                load(SCREEN)
                .render(**self._person(), age=age, memories=told, scenario="-", budget="-", offered="-")
                .fixed
            )
        asked = load(SCREEN).render(
            **self._person(),
            age=age,
            memories="-",
            scenario=scenario_text(scenario),
            budget=budget,
            offered=len(offered),
        )
        compose = functools.partial(self._screened, scenario, offered, budget)
        return self._request(f"{scenario['id']}/{age}", SCREEN, (self._texts[age], asked.prompt), compose)

    def ranking(self, scenario: Row, coarse: Sequence[Row], target: int) -> Request:
        """The request for the ``target`` memories that enter the mind, best first."""
        told = "\n".join(f"{memory_line(self.memory[item['memory_id']])} | {item['cue']}" for item in coarse)
        asked = load(REFINE).render(**self._person(), scenario=scenario_text(scenario), memories=told, target=target)
        compose = functools.partial(self._ranked, scenario, coarse, target)
        return self._request(f"{scenario['id']}/fine", REFINE, (asked.fixed, asked.prompt), compose)

    def _request(self, name: str, path: Path, text: tuple[tuple[str, ...], str], compose: Callable[[], Row]) -> Request:
        file = load(path)
        screening = path == SCREEN
        return Request(
            id=f"{self._benchmark}/activations/{self.character['character_id']}/{name}",
            role="screen" if screening else "refine",
            fixed=text[0],
            prompt=text[1],
            prompt_id=f"{file.id}@{file.version}",
            prompt_digest=file.digest,
            compose=compose,
            schema=_answer_schema("cue", "cue_mechanisms") if screening else _answer_schema("type", "activation_types"),
            temperature=0.0,
        )

    def _person(self) -> dict[str, str]:
        return {field: self.character[field] for field in ("label", "occupation", "description")}

    # Offline

    @functools.cached_property
    def _associations(self) -> Associations:
        from builders.offline.choices.association import Associations  # imports scikit-learn

        return Associations(list(self.memory.values()))

    def _scores(self, scenario: Row) -> Matrix:
        """Scores of all memories for a scenario; the last ones are kept, as its batches follow each other."""
        if self._scored is None or self._scored[0] != scenario["id"]:
            self._scored = (scenario["id"], self._associations.scores(scenario))
        return self._scored[1]

    def _screened(self, scenario: Row, offered: Sequence[Row], budget: int) -> Row:
        from builders.offline.choices.association import screen

        known = self._associations
        found = screen(self._scores(scenario), [known.position[memory["id"]] for memory in offered], budget)
        return {"activated": [{"memory_id": known.memories[p]["id"], "cue": cue} for p, cue in found]}

    def _ranked(self, scenario: Row, coarse: Sequence[Row], target: int) -> Row:
        from builders.offline.choices.association import rank

        known = self._associations
        places = [known.position[item["memory_id"]] for item in coarse]
        found = rank(known, self._scores(scenario), places, target)
        return {"activated": [{"memory_id": known.memories[p]["id"], "type": code} for p, code in found]}
