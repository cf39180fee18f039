"""Memories as noun phrases, to be spoken of in the middle of a sentence: "the diving tower and the wet towel".

A memory's triggers are what is seen, heard or held in it, so two of them name it as a picture does. Which
ones: those whose words the narrative itself has, so that who knows the narrative knows what is meant, and no
names, since a name says whose memory it is. HEART-BENCH 3.2 (triggers) and appendix G.4.3 (memories come up as
pictures, not as records).
"""

from __future__ import annotations

import math
import re
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence

from schemas.tables import Row

# In how many scenarios one character may speak of a thing before other memories are taken.
MOST = 1

# Characters share the things of a situation out among so many hands: of fewer more meet, of more fewer have any.
_HANDS = 5

_WORD = re.compile(r"[a-z]{3,}")
_DETERMINER = re.compile(r"(?:my|our|his|her|their|that|this|the|two|three|no) ")
_ARTICLE = re.compile(r"an? ")
# A name, a quotation, an enumeration, somebody's; what happens rather than what is there; talk of a model's task; a
# place with its preposition; what speaks of things or people named elsewhere, or is an amount and no thing.
_UNFIT = re.compile(
    r"[A-Z\"“”,;:()0-9]|'s\b|s'(?: |$)|\b(?:one|some\w*|any\w*|who|under|and|another|prompt)\b|^\w+ing\b"
    r"|^(?:in|on|at|by|off|near|with|from|for|behind|beside)\b"
    r"|\b(?:ones|her|his|their|theirs|from before|as of|is|are)\b|\bof (?:it|things)$"
    r"|\bin a (?:day|week)$|^(?:the )?hours? of\b"
)
# A part of the body or an ailment alone is nothing that anybody thinks back to.
_BODY = re.compile(
    r"(?:(?:my|the|an?) )?(?:\w+ )?(?:ankles?|arms?|back|cough|ears?|elbow|finger|foot|forearm|hands?|head|heart|hip"
    r"|knee|legs?|limp|liver|lung|neck|shoulder|skin|stomach|thigh|throat|thumb|thyroid|tremor|wrist)"
)
_COMMON = frozenset(("the", "and", "with", "from", "that", "this", "two", "three", "for"))
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_ONES = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip


def things(memory: Row) -> list[str]:
    """What a memory can be named by, as definite noun phrases; those its narrative speaks of."""
    told = set(_WORD.findall(memory["content_full"].lower()))
    found = [_definite(trigger) for trigger in memory["triggers"] if _fit(trigger)]
    return [phrase for phrase in dict.fromkeys(found) if words(phrase) and words(phrase) <= told]


def words(phrase: str) -> frozenset[str]:
    """The words that tell one noun phrase from another."""
    return frozenset(_WORD.findall(phrase.lower())) - _COMMON


def noun_phrase(memory: Row) -> str:
    """A memory in a few words, fit for "I think of …": one or two of its things, or else the age."""
    named: list[str] = []
    for thing in things(memory):
        if len(named) < 2 and not any(words(thing) & words(other) for other in named):
            named.append(thing)
    return " and ".join(named) if named else f"a day when I was {number(memory['age'])}"


def age_phrase(memory: Row, age: int) -> str:
    """From when a memory is, as said at an age."""
    return "from earlier this year" if memory["age"] == age else f"from when I was {number(memory['age'])}"


def leading(situations: Sequence[tuple[str, Sequence[Row]]]) -> dict[str, Row]:
    """By scenario, the memory that is spoken of in it: the one whose things are rarest in what is remembered.

    ``situations`` are scenarios with the memories to choose from. Nobody is known by always speaking of the same
    things: each word of a thing is said in at most ``MOST`` scenario, as far as there are others. A situation brings
    the same things to many people's minds, so these are dealt out: in one scenario characters rather speak of
    different ones, or what they speak of would not tell them apart.
    """
    known = {memory["id"]: memory for _, memories in situations for memory in memories}
    having = Counter(word for memory in known.values() for word in set(_WORD.findall(memory["content_full"].lower())))
    said: Counter[str] = Counter()
    found: dict[str, Row] = {}
    for scenario, memories in situations:
        if memories:
            found[scenario] = min(
                memories, key=lambda one: (_worn(one, said), not _dealt(one, scenario), -_rarity(one, having))
            )
            said.update(words(noun_phrase(found[scenario])))
    return found


def _dealt(memory: Row, scenario: str) -> bool:
    """Whether one of a memory's things falls to its character in a scenario: one thing in ``_HANDS`` does."""
    hand = int(memory["character_id"].rpartition("_")[2]) % _HANDS
    return any(zlib.crc32(f"{scenario}/{thing}".encode()) % _HANDS == hand for thing in things(memory))


def _rarity(memory: Row, having: Mapping[str, int]) -> float:
    return math.fsum(1 / having[word] for word in words(noun_phrase(memory)) if having[word])


def _worn(memory: Row, said: Mapping[str, int]) -> int:
    """How far a memory's words are over what may be said; a memory without things comes last."""
    if not things(memory):
        return 1000
    return max(0, *(said[word] - MOST + 1 for word in words(noun_phrase(memory))))


def _fit(trigger: str) -> bool:
    return not (_UNFIT.search(trigger) or _BODY.fullmatch(trigger))


def _definite(trigger: str) -> str:
    if _DETERMINER.match(trigger):
        return trigger
    return f"the {_ARTICLE.sub('', trigger, count=1) if _ARTICLE.match(trigger) else trigger}"


def number(value: int) -> str:
    """An age in words, 0 to 99."""
    if value < len(_ONES):
        return _ONES[value]
    tens, ones = divmod(value, 10)
    return _TENS[tens - 2] + (f"-{_ONES[ones]}" if ones else "")
