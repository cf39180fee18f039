"""The memories of one character told in order, each knowing what was told before it.

That is what keeps a thousand of them apart: scenes, lines, people and sentences are counted as they are used
(``builders.offline.uses``), and what was left too short or too long by one memory is made up by the next, so
that the mean comes out as Table 7 has it. A chronicle is a function of character, ledger, plans and seed,
and any process can tell it anew, as far as it needs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from audits.checks import rubin
from audits.subjects import Subject
from audits.text.passage import Passage
from builders.memories.plan import MemoryPlan, targets
from builders.offline.draft import LONGEST, SHORTEST, Draft, Narrative
from builders.offline.likeness import Likeness
from builders.offline.scenes import Frame, Framer, count
from builders.offline.uses import Uses
from builders.pipeline.streams import Streams
from schemas.tables import Row

# Children tell shorter; the shares of the ages (Table 8) keep the character's mean.
_LENGTH = {"child": 0.82, "teen": 0.96, "adult": 1.06}
# Lengths within a character spread evenly by this much to either side.
_SPREAD = 0.13
# How much of what is owed to the mean length a memory makes up, and at most which part of its own.
_SHARE, _MOST = 0.2, 0.06

# Tellings of a memory as long as it is more like another of its stage than this (TF-IDF cosine), or lacks one of
# Rubin's dimensions (appendix B.3); of those that are never good, the least like another.
_TELLINGS, _LIKE = 14, 0.56


class Chronicle:
    """The memories of ``plans``, which are in order of age; told as far as they are asked for."""

    def __init__(self, character: Row, ledger: Sequence[Row], plans: Sequence[MemoryPlan], streams: Streams) -> None:
        self._plans = {plan.id: (place, plan) for place, plan in enumerate(plans)}
        self._order = list(plans)
        self._streams = streams
        self._length = targets(character).length
        self._uses = Uses(len(plans))
        self._framer = Framer(character, ledger, streams, self._uses)
        self._stage = ""
        self._likeness = Likeness()
        self._narratives: list[Narrative] = []
        self._owed = 0.0

    def knows(self, plan: MemoryPlan) -> bool:
        """Whether a plan is one of this life."""
        return plan.id in self._plans and self._plans[plan.id][1] == plan

    def narrative(self, plan: MemoryPlan) -> Narrative:
        """The memory of a plan of this life. Raises RequestError when the banks have no scene for it."""
        place, _ = self._plans[plan.id]
        while len(self._narratives) <= place:
            self._write_next(len(self._narratives))
        return self._narratives[place]

    def other_narrative(self, plan: MemoryPlan, attempt: int) -> Narrative:
        """The same event told with other lines, in sentences that the whole life has room for.

        Another telling for each ``attempt``, from 1.
        """
        self.narrative(self._order[-1])
        frame = self.narrative(plan).frame
        rng = self._streams.rng("again", plan.id, attempt)
        return Draft(frame, self._uses, rng, len(self._order), attempt).write(self._wanted(frame))

    def nearest(self, told: Narrative) -> float:
        """How like the nearest other memory of its stage another telling is (``likeness``)."""
        plan, others = told.frame.plan, Likeness()
        for one in self._narratives:
            if one.frame.plan.stage == plan.stage and one.frame.plan.id != plan.id:
                others.add(one.frame.keys, one.text)
        return others.nearest(told.frame.keys, told.text)

    def _write_next(self, place: int) -> None:
        plan = self._order[place]
        if plan.stage != self._stage:
            self._stage, self._likeness = plan.stage, Likeness()
            self._uses.enter(plan.stage)
        told = min(self._drafts(plan, place), key=lambda one: one[0])[1]
        self._owed += self._wanted(told.frame) - len(told.text)
        self._narratives.append(told)
        self._count(told, place)

    def _drafts(self, plan: MemoryPlan, place: int) -> Iterator[tuple[tuple[int, float], Narrative]]:
        """Tellings of a plan, each with what it lacks and how like another memory it is, until one is good."""
        for skip in range(_TELLINGS):
            frame = self._framer.frame(plan, skip)
            rng = self._streams.rng("words", plan.id, skip)
            wanted = self._wanted(frame)
            room = _MOST * wanted
            length = wanted + min(room, max(-room, _SHARE * self._owed))
            told = Draft(frame, self._uses, rng, place, skip).write(length)
            like = self._likeness.nearest(frame.keys, told.text)
            lacking = _lacking(told.text) if like < _LIKE else 1
            yield (lacking, like), told
            if not lacking:
                return

    def _count(self, told: Narrative, place: int) -> None:
        count(told.frame, self._uses)
        for line in told.lines:
            self._uses.use(line)
        self._uses.count_sentences(told.sentences, place)
        self._likeness.add(told.frame.keys, told.text)

    def _wanted(self, frame: Frame) -> float:
        rng = self._streams.rng("length", frame.plan.id)
        length = self._length * _LENGTH[frame.language] * (1 + _SPREAD * (2 * rng.random() - 1))
        return min(max(length, SHORTEST + 60), LONGEST)


def _lacking(text: str) -> int:
    """How many of Rubin's dimensions the audits do not find in a narrative."""
    return sum(1 for _ in rubin.audit([Subject("memories", "", {rubin.FIELD: text})], [Passage(text)]))
