"""The offline writer of memories: a plan and a life ledger in, the fields of a memory out. No model, no key.

HEART-BENCH 3.2 stage 2, appendix B.3 and G.2 (what a narrative must hold), Table 6 (the ten fields),
Table 7 (length). Every choice is shared out by the memory's number, so windows can be composed side by
side and the text stays varied over a whole character; the figures are printed by

    python -m perf.quality.text_quality
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from builders.memories.plan import MemoryPlan
from builders.offline.banks import pieces
from builders.offline.beats import scope
from builders.offline.cast import named
from builders.offline.chronicle import Chronicle
from builders.offline.draft import SHORTEST
from builders.offline.grammar import parse, render, straight, tidy
from builders.offline.scenes import Frame
from builders.offline.voices import voice
from builders.pipeline.streams import Streams
from schemas.tables import Row, vocabulary

# How many other tellings of a text are tried until one mentions the same facts as the row.
_TRIES = 20
_COMPARED = 12
_FIELDS = (
    "context",
    "content_summary",
    "content_full",
    "triggers",
    "relevance_tags",
    "psych_conclusion",
    "behavior_policy",
    "emotion_signature",
)


class Writer:
    """Writes the memories of one character.

    ``character`` is a row of ``characters``, ``ledger`` its rows of ``ledgers``, ``plans`` all the memories that
    are to be written of it, in order: what is composed depends on these, the streams and the contexts taken, and
    on nothing else. A plan that is not among ``plans`` is told by itself, as if nothing had been told before.
    """

    def __init__(
        self, character: Row, ledger: Sequence[Row], streams: Streams, plans: Sequence[MemoryPlan] = ()
    ) -> None:
        self._character = character
        self._ledger = ledger
        self._streams = streams
        self._life = Chronicle(character, ledger, plans, streams)
        self._orders: dict[tuple[str, int], list[int]] = {}

    def compose(self, plan: MemoryPlan, taken: Collection[str] = ()) -> Row:
        """A row of ``memories`` without provenance; its context is none of ``taken``.

        Raises RequestError when the banks have no scene for the plan.
        """
        told = self._chronicle(plan).narrative(plan)
        frame = told.frame
        return {
            "id": plan.id,
            "timeline": f"{_stage_label(plan.stage)} ({plan.age})",
            "context": self._context(frame, taken),
            "content_summary": self._rendered(frame, frame.scene.summary, "summary"),
            "content_full": told.text,
            "triggers": self._four(frame, frame.scene.triggers, "triggers"),
            "relevance_tags": self._tags(frame),
            "psych_conclusion": self._rendered(frame, self._conclusions(frame, "conclusion"), "conclusion"),
            "behavior_policy": self._rendered(frame, self._conclusions(frame, "policy"), "policy"),
            "emotion_signature": self._emotion(frame),
            "character_id": plan.character_id,
            "age": plan.age,
            "stage": plan.stage,
            "domain": plan.domain,
            "tier": plan.tier,
            "ledger_refs": sorted(told.facts),
        }

    def rewrite(self, row: Row, plan: MemoryPlan, field: str, code: str, attempt: int) -> Any:
        """Another value for one field, about the same event; a new one for each ``attempt`` (from 1).

        ``code`` is the finding to fix. Whatever it is, the answer is the same here: the field is drawn
        again. A new ``content_full`` mentions the facts that ``row`` lists. Raises ValueError for a field
        that is not written here.
        """
        if field not in _FIELDS:
            raise ValueError(f"no such text field: {field}")
        if field == "content_full":
            return self._other_text(plan, row["ledger_refs"], _TRIES * attempt)
        told = self.frame(plan)
        salt = (_TRIES + 1) * attempt
        if field == "context":
            return self._context(told, {row["context"]}, salt)
        if field == "emotion_signature":
            return self._emotion(told, salt)
        if field == "relevance_tags":
            return self._tags(told, salt)
        if field == "triggers":
            return self._four(told, told.scene.triggers, "triggers", salt)
        lines = {
            "content_summary": told.scene.summary,
            "psych_conclusion": self._conclusions(told, "conclusion"),
            "behavior_policy": self._conclusions(told, "policy"),
        }
        return self._rendered(told, lines[field], field, salt)

    def frame(self, plan: MemoryPlan) -> Frame:
        """What a memory is told as. Raises RequestError when the banks have no scene for the plan."""
        return self._chronicle(plan).narrative(plan).frame

    def _chronicle(self, plan: MemoryPlan) -> Chronicle:
        """The life a plan belongs to, or one of its own."""
        return (
            self._life if self._life.knows(plan) else Chronicle(self._character, self._ledger, (plan,), self._streams)
        )

    def _other_text(self, plan: MemoryPlan, facts: Sequence[str], salt: int) -> str:
        """Another telling: of the first that mention the same facts the one least like the others of its stage.

        One that is long enough, where there is any.
        """
        life = self._chronicle(plan)
        tellings = [life.other_narrative(plan, salt)]
        fitting = [told for told in tellings if sorted(told.facts) == list(facts)]
        for more in range(1, _TRIES):
            if len(fitting) == _COMPARED:
                break
            tellings.append(life.other_narrative(plan, salt + more))
            if sorted(tellings[-1].facts) == list(facts):
                fitting.append(tellings[-1])
        whole = [told for told in fitting if len(told.text) >= SHORTEST]
        return min(whole or fitting or tellings[-1:], key=life.nearest).text

    def _rendered(self, told: Frame, lines: Sequence[str], key: str, salt: int = 0) -> str:
        """One of some lines, in turns over the memories of a character, rendered for a short field."""
        rng = self._streams.rng(key, told.plan.id, salt)
        line = lines[self._order(key, len(lines))[(told.plan.number + salt) % len(lines)]]
        said = render(parse(line), scope(told, rng), lambda count: int(rng.random() * count))
        # Where a field has room for one sentence, nobody is described at length ("the trainer, a woman with ...").
        members = {
            slot: replace(one, first=one.later) if ", " in one.first else one for slot, one in told.members.items()
        }
        return straight(tidy(named(said, members)[0]))

    def _order(self, key: str, size: int) -> list[int]:
        """The order in which some lines take turns, the character's own."""
        if (key, size) not in self._orders:
            rng = self._streams.rng("turns", f"{self._character['character_id']}/{key}")
            self._orders[key, size] = rng.sample(range(size), size)
        return self._orders[key, size]

    def _conclusions(self, told: Frame, what: str) -> Sequence[str]:
        """What a memory settles: of the pattern it turns on, or, in plain life, of the voice in general."""
        return tuple(getattr(told.pattern or voice(told.archetype), what))

    def _context(self, told: Frame, taken: Collection[str], salt: int = 0) -> str:
        """Where and when, in the first of the forms nobody in the window has taken."""
        forms = pieces("moments", "contexts")
        places = told.scene.place
        first = told.plan.number + salt
        for step in range(len(forms) * len(places) * 4):
            form = forms[(first + step) % len(forms)]
            place = places[(first + step // len(forms)) % len(places)]
            said = self._rendered(told, (form.replace("{place}", place),), "context", salt + step)
            if said not in taken:
                return said
        return f"{said} ({told.plan.age}, no. {told.plan.number})"

    def _four(self, told: Frame, words: Sequence[str], key: str, salt: int = 0) -> list[str]:
        rng = self._streams.rng(key, told.plan.id, salt)
        said: list[str] = []
        for word in rng.sample(list(words), len(words)):
            text = self._rendered(told, (word,), key, salt)
            if text not in said:
                said.append(text)
        return said[:4]

    def _tags(self, told: Frame, salt: int = 0) -> list[str]:
        """One tag of the domain, one of what it turns on, two of the scene."""
        own = told.pattern.tag if told.pattern else "plain day"
        tags = dict.fromkeys(
            [own, *self._four(told, (*told.scene.tags, told.plan.domain.replace("_", " ")), "tags", salt)]
        )
        return list(tags)[:4]

    def _emotion(self, told: Frame, salt: int = 0) -> Row:
        """The scene's own feelings, tinted by the voice where the memory turns on it."""
        rng = self._streams.rng("emotion", told.plan.id, salt)
        primary, *others = rng.sample(told.scene.feel, len(told.scene.feel))
        if told.pattern:
            others = [feeling for feeling in voice(told.archetype).feel if feeling != primary]
        return {"primary": primary, "secondary": rng.choice(others), "intensity": told.plan.intensity}


def _stage_label(stage: str) -> str:
    return next(str(term["label"]) for term in vocabulary("memory_stages") if term["id"] == stage)
