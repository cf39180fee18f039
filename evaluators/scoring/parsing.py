"""Which option a reply chose, strictly: one letter said as an answer, or none.

    read_choice('{"reasoning": "...", "choice": "B"}', question.labels, shown)   -> B, "json"
    read_choice("A friend of mine would stay.", ...)                             -> None: the article is no answer

In this order: a JSON object that names a choice; a reply that is nothing but a letter; letters said as the
answer ("Answer: B", "option B"), all the same; one option repeated word for word. Two different letters are no
answer, and so is everything else: the published runner's last resort, the first stand-alone A to D anywhere
in the text, reads the English article as an answer and is not used (facts on HEART-BENCH's runners).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from models.wire import json_in

State = Literal["scored", "unscored", "refused", "truncated", "failed"]
"""scored: one option was chosen; unscored: a reply came that names none; refused: the model declined; truncated: the
reply was cut off; failed: no reply came."""

FIELDS = ("choice", "decision_choice", "answer")

_SHORTEST = 20  # characters of an option that count as repeating it
_NOUN = re.compile(r"[ \t]+(?!(?:or|and|because|since|as|but|is|seems|fits)\b)[a-z]")  # what follows an article
_NOT = r"\bnot|n['’]t|\bnever|\bneither|\bnor|\brather than|\binstead of|\bexcept|\bunlike"
_NEGATION = re.compile(rf"(?:{_NOT})[^\w.!?;:\n]+(?:\w+[^\w.!?;:\n]+){{0,3}}$", re.I)


@dataclass(frozen=True)
class Chosen:
    """The letter that was chosen, as it was shown, and how it was said; else None and why not."""

    letter: str | None
    how: str
    reason: str = ""


def read_choice(text: str, labels: Sequence[str], texts: Sequence[str]) -> Chosen:
    """What a reply chose. ``labels`` and ``texts`` are the options in the order shown."""
    if not text.strip():
        return Chosen(None, "", "empty reply")
    try:
        value = json_in(text)
    except ValueError:
        value = None
    if isinstance(value, dict) and (named := _named(value)):
        return _one({_exact(said, labels) for said in named.values()}, "json", f"no option: {_shown(named)}")
    lone = _exact(text, labels)
    if lone:
        return Chosen(lone, "letter")
    declared = _declared(text, labels)
    if declared:
        return _one(set(declared), "declared", "")
    repeated = {label for label, content in zip(labels, texts, strict=True) if _repeats(text, content)}
    if repeated:
        return _one(set(repeated), "repeated", "")
    return Chosen(None, "", "no option named")


def _named(value: Mapping[str, Any]) -> dict[str, Any]:
    return {key: said for key, said in value.items() if key.casefold() in FIELDS}


def _one(letters: set[str | None], how: str, none: str) -> Chosen:
    found = sorted(letter for letter in letters if letter)
    if None in letters:
        return Chosen(None, "", none)
    if len(found) > 1:
        return Chosen(None, "", f"several options named: {', '.join(found)}")
    return Chosen(found[0], how)


def _exact(said: Any, labels: Sequence[str]) -> str | None:
    """The letter when that is all there is, give or take brackets, emphasis and a full stop."""
    if not isinstance(said, str):
        return None
    found = re.fullmatch(r"[\s*_`\"'(\[]*(?:option\s+)?([A-Za-z])[\s*_`\"')\].:]*", said, re.I)
    letter = found[1].upper() if found else None
    return letter if letter in labels else None


def _declared(text: str, labels: Sequence[str]) -> list[str]:
    """Letters said as the answer, in capitals, and not followed by a word that makes an article of A."""
    opening = r"[\s*_`\"'(\[]*"
    letter = rf"{opening}([{''.join(labels)}])(?![A-Za-z0-9'’])"
    said = re.compile(
        rf"(?:(?i:\b(?:final\s+)?(?:answer|choice|decision)\b)[*_`\"']*\s*(?:(?i:is|would\s+be)\b|[:=])"
        rf"\s*(?:(?i:option)\b)?{letter}"
        rf"|(?i:\boption\b){letter}"
        rf"|(?i:\b(?:choose|chose|select|pick)\b)\s*(?:(?i:option)\b)?{letter})"
    )
    found = []
    for match in said.finditer(text):
        chosen = next(group for group in match.groups() if group)
        article = chosen == "A" and _NOUN.match(text, match.end())
        if not article and not _NEGATION.search(text[: match.start()]):
            found.append(chosen)
    first = re.match(rf"{opening}([{''.join(labels)}])[)\].:][\s*]", text)
    return [*found, *([first[1]] if first else [])]


def _repeats(text: str, content: str) -> bool:
    plain = " ".join(content.split()).casefold()
    return len(plain) >= _SHORTEST and plain in " ".join(text.split()).casefold()


def _shown(named: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {str(said)[:40]!r}" for key, said in named.items())
