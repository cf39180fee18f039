"""A line of a bank as sentences, with what is known of each before a word is chosen.

A sentence may be told in at most 0.5 % of a character's memories (``builders.offline.uses`` counts), so
it should have many wordings. ``banks/free.toml`` lists what may stand for what in any line ("somebody",
"someone"), which is how plain sentences come by more than one.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass

from builders.offline.banks import bank
from builders.offline.grammar import Choice, Node, Slot, Template, mean, parse_line, slots, straight, tidy, wordings

# How many values a slot takes over a thousand memories, at the least: as a voice or a shared line sees it.
_VARIED = 40
_POOR = {
    "joint": 1, "weekday": 7, "month": 12, "part": 5, "later": 4, "soon": 4, "days": 9, "few": 5, "workplace": 4,
    "tool": 4, "public": 4, "piece": 9, "parts": 9, "duty": 9,
}  # fmt: skip
_PRONOUNS = frozenset({"he", "him", "his", "hers", "himself", "was", "has"})

# How long slots become, and how often they say "the", where that is more than a guess.
_SIZE, _PRONOUN_SIZE = 8, 3
_SIZES = {"gist": 55, "fear": 45, "want": 25, "fix": 35, "easy": 30, "doing": 22, "when": 32, "prop": 15, "crew": 17}
_DEFINITE = {"prop": 0.5, "crew": 0.5, "matter": 0.5, "gist": 0.5, "fear": 0.3, "fix": 0.5, "easy": 0.5, "tool": 0.8}
# How often a memory may name a handle of its scene, where it can do without.
OFTEN = {
    "prop": 4,
    "matter": 3,
    "gist": 2,
    "fear": 2,
    "crew": 4,
    "doing": 3,
    "mine": 3,
    "fix": 2,
    "here": 3,
    "thing": 8,
}
_THE = re.compile(r"\bthe\b", re.IGNORECASE)

# Two clauses joined by "and", the second with a subject of its own.
_JOINT = re.compile(
    r", and(?= (?:I|it|we|there|nobody|no one|everyone|everybody|somebody|someone|they)\b"
    r"| \{[A-Za-z]+(?:\.[Hh]e)?\} [a-z])"
)
_BOUNDARY = re.compile(r"[.!?\u2026]\u201d?\s+")
_OPENS = re.compile(r"\s*[\u201cA-Z0-9\u2018(]")
_CLOSES = re.compile(r"[.!?\u2026]\u201d?\s*$")


@dataclass(frozen=True)
class Sentence:
    """A sentence of a line, or a choice among whole ones.

    ``optional``: in angle brackets; ``count``: how many wordings its choices give; ``values``: how many its
    slots give besides; ``size``: characters, and ``articles``: how often it says "the", both on average;
    ``fixed``: what it always says, if it always says the same; ``handles``: how often it names a handle of the
    scene, on average.
    """

    template: Template
    optional: bool
    count: int
    values: int
    size: float
    articles: float
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
    named = OFTEN.keys() & set(slots(piece))
    return Sentence(
        template=piece,
        optional=optional,
        count=wordings(piece, _lexical),
        values=wordings(_bare(piece), _slot_values),
        size=mean(piece, len, _slot_size),
        articles=mean(piece, _articles, _slot_articles),
        fixed=straight(tidy("".join(map(str, piece)))) if plain else None,
        handles={name: mean(piece, lambda _: 0.0, functools.partial(_is, name)) for name in sorted(named)},
    )


@functools.cache
def fixed(line: str) -> tuple[str, ...]:
    """The sentences of a line that are the same in every memory."""
    return tuple(sentence.fixed for sentence in sentences(line) if sentence.fixed is not None)


@functools.cache
def loosened(line: str) -> str:
    """A line with free variation: each word of ``free.toml`` as a choice of all that may stand for it."""
    for tag, options in bank("free")["tags"].items():
        line = line.replace(f"\u201d{tag}", f"\u201d[{'|'.join(options)}]")
    return _words().sub(_choice, _JOINT.sub("{joint}", line))


@functools.cache
def _words() -> re.Pattern[str]:
    words = sorted(bank("free")["words"], key=len, reverse=True)
    return re.compile(rf"(?<![\w'{{.])(?:{'|'.join(map(re.escape, words))})(?![\w'}}])", re.IGNORECASE)


def _choice(found: re.Match[str]) -> str:
    options = bank("free")["words"][found[0].lower() if found[0].lower() in bank("free")["words"] else found[0]]
    if found[0][0].isupper():
        options = [option[0].upper() + option[1:] for option in options]
    return f"[{'|'.join(options)}]"


def _lexical(slot: str) -> int:
    words = bank("words").get(slot)
    return len(words) if words else 1


def _slot_values(slot: str) -> int:
    """How many values a slot takes over a character's memories."""
    if slot in bank("words"):
        return 1
    head, _, form = slot.partition(".")
    if form:
        return 2 if form in _PRONOUNS else _VARIED
    return _POOR.get(head, _VARIED)


def _is(name: str, slot: str) -> float:
    return float(slot == name)


def _articles(text: str) -> int:
    return len(_THE.findall(text))


def _slot_size(slot: str) -> float:
    return _PRONOUN_SIZE if slot.partition(".")[2] in _PRONOUNS else _SIZES.get(slot, _SIZE)


def _slot_articles(slot: str) -> float:
    return _DEFINITE.get(slot, 0.0)


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
        if open_speech == 0 and _ends(node) and place + 1 < len(nodes) and _begins(nodes[place + 1]):
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


def _begins(node: Node) -> bool:
    if isinstance(node, str):
        return _OPENS.match(node) is not None if node.strip() else True
    if isinstance(node, Slot):
        return node.capital
    return all(not option or _begins(option[0]) for option in node.options)
