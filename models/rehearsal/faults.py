"""How the rehearsal server misbehaves: a TOML file of faults and shares, the same at every rehearsal.

    seed = 7
    [[faults]]
    kind = "limited"       # 429
    share = 0.2            # of the attempts
    retry_after = 1        # seconds; left out: no such header
    [[faults]]
    kind = "truncated"
    share = 0.02
    match = "CHAR_04"      # only requests whose text holds this
    attempts = 1           # only so many first attempts of a request

Of a whole attempt: limited (429), overloaded (529), error (500), drop (the connection, in mid-body), slow
(``seconds`` more), trickle (the body in pieces, over ``seconds``), garbled (a body that is no JSON), empty (none),
html (a proxy's page), huge (50 MB), unmetered (no usage), credit (400 because nothing is paid in), echo (the key
in the answer), echo_error (a 500 with the key in it).
Of what is written: malformed (JSON that ends early), truncated (max_tokens), refusal, prose (around the JSON),
short (a piece is missing), duplicate (an id occurs twice), forbidden (a phrase the audits look for).

Each attempt of a request draws its own fault of the first kind; a fault of the second kind belongs to the
request. Neither depends on the order in which requests come.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from models.rehearsal.checks import REFERENCE
from models.roles import read_toml
from schemas.errors import RequestError, unknown

ATTEMPT = (
    "limited", "overloaded", "error", "drop", "slow", "trickle", "garbled", "empty", "html", "huge", "unmetered",
    "credit", "echo", "echo_error",
)  # fmt: skip
WRITTEN = ("malformed", "truncated", "refusal", "prose", "short", "duplicate", "forbidden")

_NUMBERS = ("share", "retry_after", "seconds", "attempts")
_FIELDS = ("kind", "match", *_NUMBERS)
_HEADER = re.compile(r"^===\S+===$", re.MULTILINE)
_PHRASES: list[str] = REFERENCE["forbidden"]


@dataclass(frozen=True)
class Fault:
    """A fault and the share of requests or attempts it happens to."""

    kind: str
    share: float
    match: str = ""
    retry_after: float | None = None
    seconds: float = 0.0
    attempts: float | None = None


@dataclass(frozen=True)
class Faults:
    """All faults of a rehearsal, and the seed of their draws."""

    faults: Sequence[Fault] = ()
    seed: int = 7

    def of_attempt(self, key: bytes, attempt: int, body: bytes) -> Fault | None:
        """The fault of one attempt of a request, if any."""
        return self._drawn(ATTEMPT, f"{self.seed}/{key.hex()}/{attempt}", body, attempt)

    def of_text(self, key: bytes, body: bytes) -> Fault | None:
        """The fault of what a request is answered with, if any."""
        return self._drawn(WRITTEN, f"{self.seed}/{key.hex()}", body)

    def _drawn(self, kinds: Sequence[str], name: str, body: bytes, attempt: int = 1) -> Fault | None:
        point = random.Random(name).random()
        for fault in self.faults:
            if fault.kind not in kinds or (fault.match and fault.match.encode() not in body):
                continue
            if fault.attempts is not None and attempt > fault.attempts:
                continue
            if point < fault.share:
                return fault
            point -= fault.share
        return None


def read_faults(path: Path) -> Faults:
    """Faults from a file. Raises RequestError, naming file and field."""
    table = read_toml(path)
    for name in table:
        if name not in ("seed", "faults"):
            raise unknown("setting", name, ("seed", "faults"), path)
    return Faults([_fault(item, path) for item in table.get("faults", [])], table.get("seed", 7))


def _fault(item: dict[str, Any], path: Path) -> Fault:
    for name, value in item.items():
        if name not in _FIELDS:
            raise unknown("setting of a fault", name, _FIELDS, path)
        if name in _NUMBERS and (isinstance(value, bool) or not isinstance(value, int | float) or value < 0):
            raise RequestError("malformed fault", path, field=name, expected="a number from 0")
    if item.get("kind") not in (*ATTEMPT, *WRITTEN):
        raise unknown("kind of fault", str(item.get("kind")), (*ATTEMPT, *WRITTEN), path)
    if item.get("share", 2) > 1:
        raise RequestError("malformed fault", path, field="share", expected="a share from 0 to 1")
    return Fault(**item)


def spoiled(text: str, kind: str, chance: random.Random) -> str:
    """What is written, with a fault of the second kind."""
    if kind == "malformed":
        return text[: max(1, len(text) * 2 // 3)].rstrip("}] \n")
    if kind == "truncated":
        return text[: max(1, len(text) // 2)]
    if kind == "prose":
        return f"Of course! Here is what you asked for:\n\n{text}\n\nTell me if anything should be different."
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return _spoiled_blocks(text, kind, chance)
    return orjson.dumps(_spoiled_value(value, kind, chance)).decode()


def _spoiled_value(value: Any, kind: str, chance: random.Random) -> Any:
    if kind == "forbidden":
        return _with_phrase(value, chance)
    pieces = _longest_list(value)
    if kind == "short" and pieces:
        pieces.pop(chance.randrange(len(pieces)))
    elif kind == "duplicate" and len(pieces) > 1:
        first, second = pieces[0], pieces[1]
        if isinstance(first, dict) and isinstance(second, dict) and "id" in first:
            second["id"] = first["id"]
        else:
            pieces[1] = first
    return value


def _longest_list(value: Any) -> list[Any]:
    lists: list[list[Any]] = [value] if isinstance(value, list) else []
    children = value if isinstance(value, list) else value.values() if isinstance(value, dict) else ()
    return max((*lists, *(_longest_list(child) for child in children)), key=len, default=[])


def _with_phrase(value: Any, chance: random.Random) -> Any:
    if not isinstance(value, dict):
        return [_with_phrase(item, chance) for item in value] if isinstance(value, list) else value
    texts = [name for name, text in value.items() if isinstance(text, str)]
    if not texts:
        return {name: _with_phrase(child, chance) for name, child in value.items()}
    longest = max(texts, key=lambda name: len(value[name]))
    return {**value, longest: f"{value[longest]} {chance.choice(_PHRASES)}"}


def _spoiled_blocks(text: str, kind: str, chance: random.Random) -> str:
    """Pieces delimited as in HEART-BENCH B.3: a line ``===ID===`` opens each."""
    headers = list(_HEADER.finditer(text))
    if kind == "forbidden":
        return f"{text.rstrip()} {chance.choice(_PHRASES)}\n"
    if len(headers) < 2:
        return text if kind == "duplicate" else ""
    if kind == "short":
        gone = chance.randrange(len(headers))
        end = headers[gone + 1].start() if gone + 1 < len(headers) else len(text)
        return text[: headers[gone].start()] + text[end:]
    return text[: headers[1].start()] + headers[0][0] + text[headers[1].end() :]
