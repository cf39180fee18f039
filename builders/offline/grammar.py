"""The template language of the phrase banks, and how a template becomes text.

    [cold|wet|]        one of several wordings, which may be empty and may be nested
    {thing} {Thing}    a slot, filled from the scope; written with a capital it gets one
    <It was raining.>  a stretch that a memory may leave out when it grows too long

A template is parsed once and rendered many times. People are rendered as marks and named in a last
pass (``cast.Cast.named``), when it is known which stretches stayed: the first mention introduces.
Used by ``builders.offline.memories``; the banks are checked by ``python -m builders.offline.lint``.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_TOKEN = re.compile(r"[\[\]|{}<>]|[^\[\]|{}<>]+")
_SLOT = re.compile(r"[A-Za-z][a-z_]*(?:\.[A-Za-z]+)?")
# Words that begin with a vowel letter and a consonant sound, and the reverse.
_ARTICLE = re.compile(
    r"\b([Aa]) (?=[aeiouAEIOU]|X-ray)(?!(?:one\b|once\b|eu|uni(?!m|n)|use|usual|ut[ei]|Eu|Uni(?!m|n)|Use|One\b))"
)
_BLANKS = re.compile(r"[ \t]+")
_BEFORE_STOP = re.compile(r"(?:,\s*|\s+)(?=[,.;:?!])")
_STOPS = re.compile(r"(?:(?<=[?!])|(?<=[ap]\.m\.))\.(?!\.)")
_CONSONANT = re.compile(r"\b([Aa])n (?=[bcdfgjklmnpqrstvwxyz][a-z])")
_SILENT_H = re.compile(r"\b([Aa]) (?=(?:hour|honest|honour|heir)\w*)")


@dataclass(frozen=True, slots=True)
class Slot:
    """A place to fill: its name in the scope, and whether it is written with a capital."""

    name: str
    capital: bool


@dataclass(frozen=True, slots=True)
class Choice:
    """Alternative wordings."""

    options: tuple[Template, ...]


Node = str | Slot | Choice
Template = tuple[Node, ...]
# A stretch of a line: may it be left out, and its template.
Stretch = tuple[bool, Template]


@functools.cache
def parse(text: str) -> Template:
    """A template. Raises ValueError, saying what and where, for text that is not one."""
    stretches = parse_line(text)
    if any(optional for optional, _ in stretches):
        raise ValueError(f"an optional stretch is not allowed here: {text!r}")
    return stretches[0][1] if stretches else ()


@functools.cache
def parse_line(text: str) -> tuple[Stretch, ...]:
    """A line as stretches, in order. Raises ValueError for text that is not one."""
    tokens = _TOKEN.findall(text)
    stretches: list[Stretch] = []
    place = 0
    while place < len(tokens):
        optional = tokens[place] == "<"
        nodes, place = _sequence(tokens, place + optional, text)
        if optional:
            if place >= len(tokens) or tokens[place] != ">":
                raise ValueError(f"'<' without '>': {text!r}")
            place += 1
        elif place < len(tokens) and tokens[place] != "<":
            raise ValueError(f"stray {tokens[place]!r}: {text!r}")
        if nodes:
            stretches.append((optional, nodes))
    return tuple(stretches)


def _sequence(tokens: list[str], place: int, text: str) -> tuple[Template, int]:
    nodes: list[Node] = []
    while place < len(tokens):
        token = tokens[place]
        if token in "|]<>":
            break
        if token == "[":
            choice, place = _choice(tokens, place + 1, text)
            nodes.append(choice)
        elif token == "{":
            if tokens[place + 2 : place + 3] != ["}"] or not _SLOT.fullmatch(tokens[place + 1]):
                raise ValueError(f"malformed slot: {text!r}")
            nodes.append(_slot(tokens[place + 1]))
            place += 3
        elif token == "}":
            raise ValueError(f"stray '}}': {text!r}")
        else:
            nodes.append(token)
            place += 1
    return tuple(nodes), place


def _choice(tokens: list[str], place: int, text: str) -> tuple[Choice, int]:
    options: list[Template] = []
    while True:
        nodes, place = _sequence(tokens, place, text)
        options.append(nodes)
        if place >= len(tokens) or tokens[place] not in "|]":
            raise ValueError(f"'[' without ']': {text!r}")
        place += 1
        if tokens[place - 1] == "]":
            return Choice(tuple(options)), place


def _slot(name: str) -> Slot:
    head, dot, tail = name.partition(".")
    last = tail or head
    return Slot((head + dot + tail).lower(), last[0].isupper() or head[0].isupper())


def render(template: Template, fill: Callable[[str], str], choose: Callable[[int], int]) -> str:
    """The text of a template: slots by ``fill(name)``, wordings by ``choose(how many)``."""
    made: list[str] = []
    for node in template:
        if isinstance(node, str):
            made.append(node)
        elif isinstance(node, Slot):
            value = fill(node.name)
            made.append(capital(value) if node.capital else value)
        else:
            made.append(render(node.options[choose(len(node.options))], fill, choose))
    return "".join(made)


def slots(template: Template) -> Iterator[str]:
    """The names of all slots of a template, nested ones too."""
    for node in template:
        if isinstance(node, Slot):
            yield node.name
        elif isinstance(node, Choice):
            for option in node.options:
                yield from slots(option)


def wordings(template: Template, weight: Callable[[str], int]) -> int:
    """How many texts a template can become when the slot ``name`` can become ``weight(name)``."""
    count = 1
    for node in template:
        if isinstance(node, Slot):
            count *= weight(node.name)
        elif isinstance(node, Choice):
            count *= sum(wordings(option, weight) for option in node.options)
    return count


def mean(template: Template, of_text: Callable[[str], float], of_slot: Callable[[str], float]) -> float:
    """A sum over a template's texts and slots, where each option of a choice is as likely as the others."""
    total = 0.0
    for node in template:
        if isinstance(node, str):
            total += of_text(node)
        elif isinstance(node, Slot):
            total += of_slot(node.name)
        else:
            total += sum(mean(option, of_text, of_slot) for option in node.options) / len(node.options)
    return total


def capital(text: str) -> str:
    """The text with its first letter (behind an opening quote or a person's mark) in upper case."""
    for place, letter in enumerate(text):
        if letter.isalpha():
            return text[:place] + letter.upper() + text[place + 1 :]
    return text


def tidy(text: str) -> str:
    """Single spaces, no space before a stop, one stop, ``an`` before a vowel and nowhere else."""
    text = (_BLANKS.sub(" ", text) if "  " in text or "\t" in text else text).strip()
    text = _BEFORE_STOP.sub("", text)
    if "?." in text or "!." in text or "m.." in text:
        text = _STOPS.sub("", text)
    if "an " in text or "An " in text:
        text = _CONSONANT.sub(r"\1 ", text)
    if "a " in text or "A " in text:
        text = _ARTICLE.sub(r"\1n ", text)
        if "a h" in text or "A h" in text:
            text = _SILENT_H.sub(r"\1n ", text)
    return text


def straight(text: str) -> str:
    """The text with straight quotation marks; the banks have curly ones, which say what opens and what closes."""
    return text.replace("\u201c", '"').replace("\u201d", '"')
