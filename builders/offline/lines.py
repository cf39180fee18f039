"""A line of a bank as sentences, and which wording of each is told when.

The share of memories in which a sentence may stand is bounded (0.5 %), and memories are written in
separate processes, so wordings are shared out by count and not by chance: the k-th use of a line takes the
k-th wording of each of its sentences. A sentence that has fewer wordings than its line has uses, and that
no slot makes new, is left out in between; unless it is speech, which an answer may depend on.

``banks/free.toml`` lists what may stand for what in any line ("somebody", "someone"), which is how plain
sentences come by more than one wording.
"""

from __future__ import annotations

import functools
import random
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass

from builders.offline.banks import bank
from builders.offline.grammar import Choice, Node, Slot, Template, parse_line, render, wordings

# A wording may be told in so many of a thousand memories.
SHARE = 5
# From so many wordings on, chance spreads them well enough.
_MANY = 60
# How many values a slot takes over a thousand memories, at the least: as a voice or a shared line sees it.
_VARIED = 40
_POOR = {
    "joint": 1, "weekday": 7, "month": 12, "part": 5, "later": 4, "soon": 4, "days": 9, "few": 5, "workplace": 4,
    "tool": 4, "public": 4, "piece": 9, "parts": 9, "duty": 9,
}  # fmt: skip
_PRONOUNS = frozenset({"he", "him", "his", "hers", "himself", "was", "has"})

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
    slots give besides; ``spoken``: it holds speech.
    """

    template: Template
    optional: bool
    count: int
    values: int
    spoken: bool
    seed: int


@functools.cache
def sentences(line: str) -> tuple[Sentence, ...]:
    """The sentences of a line, in order, with free variation worked in."""
    made: list[Sentence] = []
    for optional, template in parse_line(loosened(line)):
        for piece in _split(template):
            text = repr(piece)
            made.append(
                Sentence(
                    template=piece,
                    optional=optional,
                    count=wordings(piece, _lexical),
                    values=wordings(_bare(piece), _slot_values),
                    spoken="\u201c" in text or "\u201d" in text,
                    seed=zlib.crc32(text.encode()),
                )
            )
    return tuple(made)


def told(
    sentence: Sentence, use: int, uses: float, fill: Callable[[str], str], rng: random.Random, bound: bool = False
) -> str | None:
    """The wording of a sentence at the ``use``-th use of its line, of about ``uses`` in all; None: leave it out.

    ``bound``: the plot hangs on it, so it stays.
    """
    if sentence.count * sentence.values >= _MANY:
        return render(sentence.template, fill, lambda count: int(rng.random() * count)).strip()
    needed = -(-uses // (SHARE * sentence.values))
    turn = (use + sentence.seed) % int(max(sentence.count, needed))
    if turn >= sentence.count and not (bound or sentence.spoken):
        return None
    return render(sentence.template, fill, _nth(turn % sentence.count, sentence.count)).strip()


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


def _nth(turn: int, count: int) -> Callable[[int], int]:
    """A chooser that spells out the ``turn``-th of ``count`` wordings; neighbours differ in every place."""
    step = next(step for step in range(max(1, round(count * 0.618)), 2 * count + 1) if _coprime(step, count))
    rest = turn * step % count

    def choose(options: int) -> int:
        nonlocal rest
        rest, digit = divmod(rest, options)
        return digit

    return choose


def _coprime(a: int, b: int) -> bool:
    while b:
        a, b = b, a % b
    return a == 1


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
