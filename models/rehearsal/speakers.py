"""What the rehearsal server says in conversations: it reacts to the turns it is shown, as a speaker who heard them.

    python -m models.rehearsal --composer models.rehearsal.speakers:react
    python -m models.rehearsal --composer models.rehearsal.speakers:talk      # and answers to a schema, as a judge too

Each turn takes up a word of the last one and says how many turns were heard, so that a view with a turn missing,
twice or on the wrong side gives another text. A speaker that is given a stop word (the first text in the system
part or the turns between two pairs of ###) says it once enough was said.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

import orjson

from models.rehearsal.answers import invent
from models.rehearsal.checks import REFERENCE

_WORDS: list[str] = REFERENCE["prose"].split()
_WORD = re.compile(r"[a-z]{4,}")
_STOP = re.compile(r"###[A-Z]+###")
_ENOUGH = 13  # turns
_EVIDENCE, _QUOTED = "_evidence", 6


def react(body: Mapping[str, Any]) -> str:
    """The next turn of a conversation, from a body of the Messages API."""
    turns = [(message["role"], text_of(message["content"])) for message in body["messages"]]
    everything = "\n".join([text_of(body.get("system", "")), *(text for _, text in turns)])
    digest = hashlib.sha256("\n".join(f"{role}: {text}" for role, text in turns).encode()).digest()
    own = sum(role == "assistant" for role, _ in turns)
    heard = _WORD.findall(turns[-1][1]) or ["nothing"]
    start = digest[0] % (len(_WORDS) - 8)
    words = " ".join(_WORDS[start : start + 8])
    said = f"You said {heard[digest[1] % len(heard)]}, and after {own} turns of mine I say: {words}."
    stop = _STOP.search(everything)
    return f"{said} {stop[0]}" if stop and len(turns) >= _ENOUGH else said


def talk(body: Mapping[str, Any]) -> str:
    """As ``react``; where a schema is asked for, an instance of it, with quotations that occur in the text judged."""
    output = (body.get("output_config") or {}).get("format")
    if not output:
        # Who is somebody else says something else: a word of the system part stands in every message.
        hashed = hashlib.sha256(text_of(body.get("system", "")).encode()).digest()
        return f"{react(body)} Mind {_WORDS[int.from_bytes(hashed[:4]) % len(_WORDS)]}, and {hashed.hex()[:6]}."
    answer = orjson.loads(invent(body))
    quoted = text_of(body["messages"][-1]["content"]).rpartition("\n\n# ")[2].partition("\n\n")[2].split()[:_QUOTED]
    for name in answer if isinstance(answer, dict) else ():
        if name.endswith(_EVIDENCE):
            answer[name] = " ".join(quoted)
    return orjson.dumps(answer).decode()


def text_of(content: Any) -> str:
    """The text of a message's content, or of a system part."""
    return content if isinstance(content, str) else "\n".join(block.get("text", "") for block in content)
