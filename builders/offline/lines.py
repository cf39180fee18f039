"""A line of a bank as sentences, with what is known of each before a word is chosen.

A sentence may be told in at most 0.5 % of a character's memories (``builders.offline.uses`` counts), so
it should have many wordings. ``banks/free.toml`` lists what may stand for what in any line ("somebody",
"someone"), which is how plain sentences come by more than one.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from builders.offline.banks import bank
from builders.offline.cast import OPEN
from builders.offline.grammar import Choice, Node, Slot, Template, mean, parse_line, slots, straight, tidy, wordings

# How many values a slot takes over a thousand memories, at the least: as a voice or a shared line sees it.
_VARIED = 40
_POOR = {
    "weekday": 7, "month": 12, "part": 5, "later": 4, "soon": 4, "days": 9, "few": 5, "workplace": 4,
    "tool": 4, "public": 4, "piece": 9, "parts": 9, "duty": 9,
}  # fmt: skip
# People and things at home, who are the same all through a life.
_SAME = frozenset({"partner", "child", "pet", "keepsake", "ailment"})
_PRONOUNS = frozenset({"he", "him", "his", "hers", "himself", "was", "has"})

# How long slots become, where that is more than a guess.
_SIZE, _PRONOUN_SIZE = 8, 3
_SIZES = {"fear_s": 55, "matter": 20, "fix": 32, "fixed": 34, "easy": 28, "doing": 25, "when": 32}
# How often a memory may name a handle of its scene, where it can do without.
OFTEN = {"matter": 4, "doing": 4, "fix": 3, "easy": 1}
# The same handle in another form.
_FORMS = {"fixed": "fix"}

# How two statements can be made one.
JOINTS = (", and", ";")
# What a statement may begin with to be joined to the one before it.
_SUBJECT = re.compile(
    r"I'?\b|(?:It|There|He|She|They|We|Nobody|No one|Everybody|Everyone|The|My|Our|That|This)\b|\ue000[A-Z]"
)
_SPEECH = re.compile("[\u201c\u201d?!:]")
_LONGEST_JOINED = 170
_BOUNDARY = re.compile(r"[.!?\u2026]\u201d?\s+")
_OPENS = re.compile(r"\s*[\u201cA-Z0-9\u2018(]")
_SAYS = re.compile(r"\s*I (?:said|asked|told|whispered|shouted|called|cried|answered|added|thought|wrote|repeated)\b")
_ASKED = re.compile("[?!\u2026]\u201d\\s*$")
_CLOSES = re.compile(r"[.!?\u2026]\u201d?\s*$")


@dataclass(frozen=True)
class Sentence:
    """A sentence of a line, or a choice among whole ones.

    ``optional``: in angle brackets; ``count``: how many wordings its choices give; ``values``: how many its
    slots give besides; ``size``: characters on average;
    ``fixed``: what it always says, if it always says the same; ``handles``: how often it names a handle of the
    scene, on average.
    """

    template: Template
    optional: bool
    count: int
    values: int
    size: float
    fixed: str | None
    handles: Mapping[str, float]


@functools.cache
def sentences(line: str) -> tuple[Sentence, ...]:
    """The sentences of a line, in order, with free variation worked in."""
    return tuple(
        _sentence(piece, optional) for optional, template in parse_line(loosened(line)) for piece in _split(template)
    )


def _sentence(piece: Template, optional: bool) -> Sentence:
    plain = all(isinstance(node, str) for node in piece)
    named = OFTEN.keys() & {_FORMS.get(slot, slot) for slot in slots(piece)}
    return Sentence(
        template=piece,
        optional=optional,
        count=wordings(piece, _lexical),
        values=wordings(_bare(piece), _slot_values),
        size=mean(piece, len, _slot_size),
        fixed=straight(tidy("".join(map(str, piece)))) if plain else None,
        handles={name: mean(piece, lambda _: 0.0, functools.partial(_is, name)) for name in sorted(named)},
    )


@functools.cache
def fixed(line: str) -> tuple[str, ...]:
    """The sentences of a line that are the same in every memory."""
    return tuple(sentence.fixed for sentence in sentences(line) if sentence.fixed is not None)


@functools.cache
def fewest_wordings(line: str) -> int:
    """In how many wordings the poorest sentence of a line can be told."""
    return min(sentence.count * sentence.values for sentence in sentences(line))


@functools.cache
def loosened(line: str) -> str:
    """A line with free variation: each word of ``free.toml`` as a choice of all that may stand for it."""
    return _words().sub(_choice, line)


@functools.cache
def _words() -> re.Pattern[str]:
    words = sorted(bank("free")["words"], key=len, reverse=True)
    return re.compile(rf"(?<![\w'{{.])(?:{'|'.join(map(re.escape, words))})(?![\w'}}])", re.IGNORECASE)


def joined(first: str, second: str, joint: str) -> tuple[str, str] | None:
    """Two plain statements as one, by one of ``JOINTS``: the first without its stop, the second with a small letter.

    None where that would not read well: where one is speech, a question or long, or the second does not begin with
    a subject.
    """
    subject = _SUBJECT.match(second)
    plain = (
        first.endswith(".")
        and not first.endswith("\u2026")
        and not _SPEECH.search(first)
        and not _SPEECH.search(second)
    )
    twice = joint in first or (joint == ";" and ";" in second)
    if subject is None or not plain or twice or len(first) + len(second) > _LONGEST_JOINED:
        return None
    begun = second if second[0] == "I" and second[1] in (" ", "'") else small(second)
    return first[:-1] + joint, begun


def taken_up(sentence: Sentence) -> Sentence:
    """The sentence with "still" before what the narrator is doing, where it says "I was {doing}"."""
    nodes = list(sentence.template)
    for place, (before, node) in enumerate(itertools.pairwise(nodes)):
        if isinstance(before, str) and before.endswith("I was ") and node == Slot("doing", capital=False):
            nodes[place] = f"{before}still "
            return replace(sentence, template=tuple(nodes))
    return sentence


def small(text: str) -> str:
    """The text with its first letter in lower case; a person's mark says by its letter whether a capital is meant."""
    start = 1 if text.startswith(OPEN) else 0
    return text[:start] + text[start].lower() + text[start + 1 :]


def _choice(found: re.Match[str]) -> str:
    options = bank("free")["words"][found[0].lower() if found[0].lower() in bank("free")["words"] else found[0]]
    if found[0][0].isupper():
        begins = [option for option in options if not option.startswith("and ") or found[0].startswith("And ")]
        options = [option[0].upper() + option[1:] for option in begins]
    return f"[{'|'.join(options)}]"


def _lexical(slot: str) -> int:
    words = bank("words").get(slot)
    return len(words) if words else 1


def _slot_values(slot: str) -> int:
    """How many values a slot takes over a character's memories."""
    if slot in bank("words"):
        return 1
    head, _, form = slot.partition(".")
    if head in _SAME:
        return 1
    if form:
        return 2 if form in _PRONOUNS else _VARIED
    return _POOR.get(head, _VARIED)


def _is(name: str, slot: str) -> float:
    return float(_FORMS.get(slot, slot) == name)


def _slot_size(slot: str) -> float:
    return _PRONOUN_SIZE if slot.partition(".")[2] in _PRONOUNS else _SIZES.get(slot, _SIZE)


def _fewest(template: Template) -> int:
    return wordings(template, _slot_values)


def _bare(template: Template) -> Template:
    """A template with the poorest option of each choice only: what is sure to vary by its slots."""
    made: list[Node] = []
    for node in template:
        if isinstance(node, Choice):
            poorest: Template = min((_bare(option) for option in node.options), key=_fewest)
            made.extend(poorest)
        else:
            made.append(node)
    return tuple(made)


def _split(template: Template) -> list[Template]:
    """A template cut where one sentence ends and the next begins, outside speech and choices."""
    pieces: list[list[Node]] = [[]]
    open_speech = 0
    nodes = list(_cut(template))
    for place, node in enumerate(nodes):
        pieces[-1].append(node)
        open_speech += _speech(node)
        after = nodes[place + 1] if place + 1 < len(nodes) else None
        ended = open_speech == 0 and after is not None and _ends(node) and _begins(after)
        if ended and not _is_said(node, after):
            pieces.append([])
    return [tuple(piece) for piece in pieces if piece]


def _cut(template: Template) -> list[Node]:
    """The nodes of a template, literal text cut after every full stop."""
    made: list[Node] = []
    for node in template:
        if isinstance(node, str):
            start = 0
            for found in _BOUNDARY.finditer(node):
                made.append(node[start : found.end()])
                start = found.end()
            if start < len(node):
                made.append(node[start:])
        else:
            made.append(node)
    return made


def _speech(node: Node) -> int:
    if isinstance(node, str):
        return node.count("\u201c") - node.count("\u201d")
    if isinstance(node, Choice) and node.options[0]:
        return sum(_speech(part) for part in node.options[0])
    return 0


def _ends(node: Node) -> bool:
    if isinstance(node, str):
        return _CLOSES.search(node) is not None
    return isinstance(node, Choice) and all(option and _ends(option[-1]) for option in node.options)


def _is_said(speech: Node, after: Node | None) -> bool:
    """Whether a question or a cry goes on with who said it: "What?" I asked her."""
    return isinstance(speech, str) and isinstance(after, str) and bool(_ASKED.search(speech) and _SAYS.match(after))


def _begins(node: Node) -> bool:
    if isinstance(node, str):
        return _OPENS.match(node) is not None if node.strip() else True
    if isinstance(node, Slot):
        return node.capital
    return all(not option or _begins(option[0]) for option in node.options)
