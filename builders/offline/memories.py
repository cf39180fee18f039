"""The offline writer of memories: a plan and a life ledger in, the fields of a memory out. No model, no key.

HEART-BENCH 3.2 stage 2, appendix B.3 and G.2 (what a narrative must hold), Table 6 (the ten fields),
Table 7 (length). Every choice is shared out by the memory's number, so windows can be composed side by
side and the text stays varied over a whole character; the figures are printed by

    python -m perf.text_quality
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from builders.offline.banks import pieces, voice
from builders.offline.scenes import Frame, frame
from builders.offline.story import LONGEST, SHORTEST, Teller
from builders.plan import MemoryPlan, targets
from schemas.randomness import rng_for
from schemas.tables import Row, vocabulary

# Children tell shorter; the shares of the ages (Table 8) keep the character's mean.
_LENGTH = {"child": 0.82, "teen": 0.96, "adult": 1.053}
# Lengths within a character spread evenly by this much to either side.
_SPREAD = 0.13
# How many other tellings of a text are tried until one mentions the same facts as the row.
_TRIES = 20
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

    ``character`` is a row of ``characters``, ``ledger`` its rows of ``ledgers``. ``compose`` depends on
    these, the seed, the plan and the contexts taken, and on nothing composed before.
    """

    def __init__(self, character: Row, ledger: Sequence[Row], seed: int) -> None:
        self._character = character
        self._ledger = ledger
        self._seed = seed
        self._length = targets(character).length
        self._teller = Teller(character["character_id"], seed)

    def compose(self, plan: MemoryPlan, taken: Collection[str] = ()) -> Row:
        """A row of ``memories`` without provenance; its context is none of ``taken``.

        Raises RequestError when the banks have no scene for the plan.
        """
        told = frame(self._character, self._ledger, plan, self._seed)
        text, facts = self._teller.tell(told, self._target(told))
        return {
            "id": plan.id,
            "timeline": f"{_stage_label(plan.stage)} ({plan.age})",
            "context": self._context(told, taken),
            "content_summary": self._said(told, told.scene.summary, "summary"),
            "content_full": text,
            "triggers": self._four(told, told.scene.triggers, "triggers"),
            "relevance_tags": self._tags(told),
            "psych_conclusion": self._said(told, self._settled(told, "conclusion"), "conclusion"),
            "behavior_policy": self._said(told, self._settled(told, "policy"), "policy"),
            "emotion_signature": self._emotion(told),
            "character_id": plan.character_id,
            "age": plan.age,
            "stage": plan.stage,
            "domain": plan.domain,
            "tier": plan.tier,
            "ledger_refs": sorted(facts),
        }

    def rewrite(self, row: Row, plan: MemoryPlan, field: str, code: str, attempt: int) -> Any:
        """Another value for one field, about the same event; a new one for each ``attempt`` (from 1).

        ``code`` is the finding to mend. Whatever it is, the answer is the same here: the field is drawn
        again. A new ``content_full`` mentions the facts that ``row`` lists. Raises ValueError for a field
        that is not written here.
        """
        if field not in _FIELDS:
            raise ValueError(f"no such text field: {field}")
        told = frame(self._character, self._ledger, plan, self._seed)
        salt = _TRIES * attempt
        if field == "content_full":
            return self._retold(told, row["ledger_refs"], salt)
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
            "psych_conclusion": self._settled(told, "conclusion"),
            "behavior_policy": self._settled(told, "policy"),
        }
        return self._said(told, lines[field], field, salt)

    def _target(self, told: Frame) -> float:
        rng = rng_for(self._seed, "heart", "length", told.plan.id)
        length = self._length * _LENGTH[told.language] * (1 + _SPREAD * (2 * rng.random() - 1))
        return min(max(length, SHORTEST + 60), LONGEST)

    def _retold(self, told: Frame, facts: Sequence[str], salt: int) -> str:
        length = self._target(told)
        text = ""
        for more in range(_TRIES):
            text, mentioned = self._teller.tell(told, length, salt + more)
            if sorted(mentioned) == list(facts):
                break
        return text

    def _said(self, told: Frame, lines: Sequence[str], key: str, salt: int = 0) -> str:
        return self._teller.phrase(told, lines, key, salt)

    def _settled(self, told: Frame, what: str) -> Sequence[str]:
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
            said = self._teller.phrase(told, (form.replace("{place}", place),), "context", salt + step)
            if said not in taken:
                return said
        return f"{said} ({told.plan.age}, no. {told.plan.number})"

    def _four(self, told: Frame, words: Sequence[str], key: str, salt: int = 0) -> list[str]:
        rng = rng_for(self._seed, "heart", key, told.plan.id, salt)
        said: list[str] = []
        for word in rng.sample(list(words), len(words)):
            text = self._teller.phrase(told, (word,), key, salt)
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
        rng = rng_for(self._seed, "heart", "emotion", told.plan.id, salt)
        primary, *others = rng.sample(told.scene.feel, len(told.scene.feel))
        if told.pattern:
            others = [feeling for feeling in voice(told.archetype).feel if feeling != primary]
        return {"primary": primary, "secondary": rng.choice(others), "intensity": told.plan.intensity}


def _stage_label(stage: str) -> str:
    return next(str(term["label"]) for term in vocabulary("memory_stages") if term["id"] == stage)
