"""What a chain does about a reply it cannot use: ask again, for less or with the reason, a bounded number of times.

Two chains for builders to delegate to with ``yield from``; both work with any backend.

One answer, checked by the builder's own rule:

    reply = yield from ask(request, check=lambda answer: None if len(answer["options"]) == 3 else "three options")
    if reply.status != "answered":
        failures.append(failure(request, reply))

Several pieces in one request, matched by id, never by position; pieces that are good are kept, the
others are asked for again, in halves when the reply was cut off or declined:

    def make(ids, reason): return request_for(ids, reason)               # reason "" at first
    def keep(reply, ids): return Kept(good={...}, bad={"MEM_04_0017": "context is longer than 60"})
    pieces, failures = yield from ask_pieces(ids, make, keep, size=5)

What still fails goes to ``failed.jsonl`` beside the rows, with the reply (``write_failures``), and the
command exits 3.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from models.prompts import load
from models.request import Chain, Reply, Request, Role, Status
from schemas.rows import write_jsonl

TRIES = 3

_AGAIN = Path(__file__).parent / "wording" / "again.md"

Piece = TypeVar("Piece")


@dataclass(frozen=True)
class Failure:
    """What was asked for and did not come: one line of ``failed.jsonl``.

    ``item`` is the id of the piece (or of the request), ``text`` the last reply as it came.
    """

    item: str
    request: str
    role: Role
    status: Status
    reason: str
    model: str | None
    text: str


@dataclass(frozen=True)
class Kept(Generic[Piece]):
    """What one reply gave: the pieces that are good, and for the bad ones why. Ids in neither are missing."""

    good: Mapping[str, Piece]
    bad: Mapping[str, str] = field(default_factory=dict)


def ask(request: Request, check: Callable[[Any], str | None] | None = None, tries: int = TRIES) -> Chain[Reply]:
    """Ask until the answer passes ``check`` (None is good, a text says what is wrong), at most ``tries`` times.

    Cut off: asked again with twice the room. Declined, not in the form, not to the schema, not passing:
    asked again with the reason. The last reply is returned; its status is "answered" only when it passed.
    """
    asked = request
    for attempt in range(1, tries + 1):
        reply = _checked((yield asked), check)
        if reply.status in ("answered", "failed") or attempt == tries:
            return reply
        room = asked.max_tokens * 2 if reply.status == "truncated" else asked.max_tokens
        asked = again(request, reply, attempt + 1)._replace(max_tokens=room)
    raise ValueError(f"tries must be at least 1, not {tries}")


def ask_together(
    requests: Sequence[Request], check: Callable[[Any], str | None] | None = None, tries: int = TRIES
) -> Chain[list[Reply]]:
    """``ask`` for several requests that do not wait for each other; the last reply to each, in order."""
    chains = [ask(request, check, tries) for request in requests]
    asked: dict[int, Request] = {place: next(chain) for place, chain in enumerate(chains)}  # type: ignore[misc]
    done: dict[int, Reply] = {}
    while asked:
        replies = yield list(asked.values())
        for place, reply in zip(list(asked), replies, strict=True):
            try:
                asked[place] = chains[place].send(reply)  # type: ignore[assignment]
            except StopIteration as over:
                done[place] = over.value
                del asked[place]
    return [done[place] for place in range(len(requests))]


def _checked(reply: Reply, check: Callable[[Any], str | None] | None) -> Reply:
    if reply.status != "answered" or check is None:
        return reply
    reason = check(reply.answer)
    return reply if reason is None else reply._replace(status="invalid", reason=reason)


def ask_pieces(
    ids: Sequence[str],
    make: Callable[[Sequence[str], str], Request],
    keep: Callable[[Reply, Sequence[str]], Kept[Piece]],
    size: int,
    tries: int = TRIES,
) -> Chain[tuple[dict[str, Piece], list[Failure]]]:
    """Ask for pieces by id, ``size`` in one request; returns the good ones in order of ``ids``, and what failed.

    ``make`` gets the ids to ask for and why they are asked for again ("" at first). ``keep`` sees replies
    that were answered or cut off (then ``reply.text`` holds what there is). Each id is asked for at most
    ``tries`` times; after a reply that was cut off or declined, the rest is asked for in halves.
    """
    good: dict[str, Piece] = {}
    failures: dict[str, Failure] = {}
    waiting = deque((tuple(ids[start : start + size]), "", 1) for start in range(0, len(ids), size))
    while waiting:
        wanted, reason, attempt = waiting.popleft()
        request = make(wanted, reason)._replace(attempt=attempt)
        reply = yield request
        kept = keep(reply, wanted) if reply.status in ("answered", "truncated") else Kept({})
        good.update((item, kept.good[item]) for item in wanted if item in kept.good)
        rest = [item for item in wanted if item not in good]
        if not rest:
            continue
        why = {item: kept.bad.get(item) or reply.reason or "missing from the reply" for item in rest}
        if attempt == tries or reply.status == "failed":
            failures.update((item, _piece_failure(item, request, reply, why[item])) for item in rest)
            continue
        waiting.extendleft(reversed(_next_asks(rest, why, reply.status, attempt + 1)))
    return {item: good[item] for item in ids if item in good}, [failures[item] for item in ids if item in failures]


def _next_asks(
    rest: Sequence[str], why: Mapping[str, str], status: Status, attempt: int
) -> list[tuple[tuple[str, ...], str, int]]:
    half = (len(rest) + 1) // 2 if status in ("truncated", "refused") else len(rest)
    chunks = [tuple(rest[start : start + half]) for start in range(0, len(rest), half)]
    return [(chunk, "; ".join(f"{item}: {why[item]}" for item in chunk), attempt) for chunk in chunks]


def again(request: Request, reply: Reply, attempt: int) -> Request:
    """The same question with the reason why the last reply to it could not be used."""
    text = request.turns[-1][1]
    parts = [text, load(_AGAIN).render(reason=reply.reason or reply.status).prompt]
    return request._replace(
        id=f"{request.id}#{attempt}",
        messages=request.turns[:-1],
        prompt="\n\n".join(parts),
        attempt=attempt,
        in_words=request.in_words or reply.status in ("unparsable", "invalid"),
    )


def failure(request: Request, reply: Reply) -> Failure:
    """A failed request as a line of ``failed.jsonl``."""
    return Failure(request.id, request.id, request.role, reply.status, reply.reason, reply.model, reply.text)


def _piece_failure(item: str, request: Request, reply: Reply, reason: str) -> Failure:
    status: Status = "invalid" if reply.status == "answered" else reply.status
    return Failure(item, request.id, request.role, status, reason, reply.model, reply.text)


def write_failures(path: Path, failures: Iterable[Failure]) -> int:
    """Write ``failed.jsonl`` in order of item; without failures the file goes away. Returns how many."""
    lines = [asdict(failed) for failed in sorted(failures, key=lambda failed: (failed.item, failed.request))]
    if lines:
        return write_jsonl(path, lines)
    path.unlink(missing_ok=True)
    return 0
