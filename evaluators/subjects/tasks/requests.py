"""A task's intent, which addresses the user, in the user's own words: "You need a room" becomes "I need a room"."""

from __future__ import annotations

import re

_WORDS = {
    "your": "my",
    "yours": "mine",
    "yourself": "myself",
    "you're": "I'm",
    "you've": "I've",
    "you'd": "I'd",
    "you'll": "I'll",
}
_TOKEN = re.compile(r"(?<!-)\b(you(?:'\w+|r|rs|rself)?)\b(\s+(?:are|were)\b)?", re.IGNORECASE)
_VERB = {"are": "am", "were": "was"}
_SECOND = re.compile(r"\b(I (?:\w+ ){1,6}and) (are|were)\b")
_OBJECT = re.compile(
    r"\s*(?:[.,;:!?)]|$)|\s+(?:in|on|at|for|with|from|to|and|up|back|properly|there|better|a|an|the|what)\b"
)
_BEFORE = re.compile(
    r"\b(?:for|to|with|by|about|of|around|like|as|suits?|wakes?|wake|gets?|interests?|fits?|helps?|reaches|binds?|moves?|lets?"
    r"|caught|charged|help(?:ed)?|gives?|owes?|reminds?|offers?|brings?|tells?|makes?|give|remind|tell|bring|make)\s+$"
)
_IMPERATIVE = re.compile(
    r"(?:^|(?<=[.!?]\s))"
    r"(Have|Get|Find|Decide|Sort|Go through|Compare|Make sure|Arrange|Book|Set|Ask|Plan|Choose|Talk)\b"
)


def request_in_first_person(intent: str) -> str:
    """The intent as the user would say it. A heuristic of pronouns and openings; what is asked for is unchanged."""
    text = intent.replace("with the assistant", "with me").replace("the assistant", "you")
    text = _IMPERATIVE.sub(lambda found: f"Please {found[1][0].lower()}{found[1][1:]}", text)
    text = _TOKEN.sub(lambda found: _first_person(found, text), text)
    return _SECOND.sub(lambda found: f"{found[1]} {_VERB[found[2]]}", text)


def _first_person(found: re.Match[str], text: str) -> str:
    word = found[1].lower()
    if word in _WORDS:
        made = _WORDS[word] + (found[2] or "")
    elif found[2]:
        made = f"I {_VERB[found[2].strip().lower()]}"
    elif _BEFORE.search(text[: found.start()]) and _OBJECT.match(text[found.end() :]):
        made = "me"
    else:
        made = "I"
    return made[0].upper() + made[1:] if found[1][0].isupper() else made
