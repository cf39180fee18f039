"""The renewal of an assistant's summary of preferences after each exchange (DUP, LikeBench 5).

Who the assistant is decides what it notes; what it noted stands in its system part from the next turn on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evaluators.protocols.dialogue import SUBJECT
from evaluators.sessions.preferences import in_words, observed, schema
from evaluators.sessions.speakers import Case, assistant_speaker, prompt, said_so_far
from models.dialogue import Speaker, Turn
from models.remedies import ask
from models.request import Chain, Request

_MAX_TOKENS = 512


def renewed(
    case: Case, name: str, cast: Sequence[Speaker], turns: tuple[Turn, ...], notes: tuple[Turn, ...]
) -> Chain[tuple[Sequence[Speaker], Turn | None]]:
    """What runs after each exchange: the assistant renews its summary."""
    before: Mapping[str, str] = notes[-1].answer if notes else {}
    said = turns[-1]
    request = _request(case, f"{name}/{said.session}/{said.number:02}/summary", before, turns)
    reply = yield from ask(request)
    # A summary that does not come leaves the one before: the conversation goes on as it would in use.
    summary = reply.answer if reply.status == "answered" else before
    note = Turn("summary", SUBJECT, in_words(summary), said.session, said.number, request.id, summary, reply)
    return (cast[0], assistant_speaker(case, summary)), note


def _request(case: Case, name: str, before: Mapping[str, str], turns: Sequence[Turn]) -> Request:
    file = prompt("summary")
    user, assistant = turns[-2].text, turns[-1].text
    rendered = file.render(summary=in_words(before), user=user, assistant=assistant)
    return Request(
        id=name,
        role=SUBJECT,
        fixed=rendered.fixed,
        prompt=rendered.prompt,
        prompt_id=f"{file.id}@{file.version}",
        prompt_digest=file.digest,
        compose=lambda: observed(said_so_far(turns)),
        schema=schema(),
        max_tokens=_MAX_TOKENS,
    )
