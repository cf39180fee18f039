"""The seam between whoever invents text and whatever writes it.

A *chain* is a generator: it yields a Request and is sent the Reply, until it returns its result.
Requests of one chain may depend on earlier replies of the same chain and on nothing else, so
chains run side by side and are asked the same things whatever finishes first.

    def window(...) -> Chain[list[Row]]:
        reply = yield Request(...)
        return rows_from(reply)

Requests that do not wait for each other are yielded together, and their replies come together:

        first, second = yield [Request(...), Request(...)]

A conversation is a request with the turns so far in ``messages``; ``models.dialogue`` holds whole ones.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeVar

Result = TypeVar("Result")

Role = Literal["profile", "memory", "scenario", "screen", "refine", "decide", "distract", "judge", "user", "subject"]

Message = tuple[Literal["user", "assistant"], str]
"""One turn of a conversation as a model is shown it: who said it (the model is the "assistant"), and what."""

Status = Literal["answered", "truncated", "refused", "unparsable", "invalid", "failed"]
"""answered; cut off at max_tokens; declined; not the form asked for; not the schema asked for; no reply at all."""


class Request(NamedTuple):
    """One question to a model, and how it is answered without one.

    ``id`` names the request within its run, e.g. ``heart/memories/CHAR_04/adolescence/12``.
    ``fixed`` is the long part of the prompt that many requests share, in the order from most to
    least shared: a server may cache it; it is the system part, and there is none when it is empty.
    ``messages`` are the turns so far, beginning with the user's, and ``prompt`` is the user's last one
    ("": ``messages`` end with it already). ``schema`` is the JSON Schema of the answer (None: plain text).
    ``parse`` turns the model's text into the answer for forms other than JSON, and raises ValueError with
    the reason when it cannot. ``compose`` makes the same answer offline. ``prompt_id`` and
    ``prompt_digest`` identify the prompt file. ``rows`` says how many rows the answer should hold (for
    progress only). Equal questions are paid once: ``sample`` numbers the draws where the same question is
    meant to be asked several times, ``attempt`` the times it was asked because the reply could not be used.
    ``in_words``: the schema is given in the prompt too, whatever the server enforces.
    """

    id: str
    role: Role
    fixed: tuple[str, ...]
    prompt: str
    prompt_id: str
    prompt_digest: str
    compose: Callable[[], Any]
    schema: Mapping[str, Any] | None = None
    parse: Callable[[str], Any] | None = None
    max_tokens: int = 4096
    temperature: float | None = None
    rows: int = 1
    sample: int = 0
    messages: tuple[Message, ...] = ()
    attempt: int = 1
    in_words: bool = False

    @property
    def turns(self) -> tuple[Message, ...]:
        """``messages`` and, unless it is empty, ``prompt`` as the user's last one."""
        return (*self.messages, ("user", self.prompt)) if self.prompt or not self.messages else self.messages


@dataclass(frozen=True)
class Usage:
    """Tokens of one reply, as the server counted them; all zero offline."""

    input_tokens: int = 0
    cache_write_tokens: int = 0
    cache_read_tokens: int = 0
    output_tokens: int = 0


class Reply(NamedTuple):
    """What came back: ``answer`` when ``status`` is "answered", else ``reason``.

    ``text`` is the raw text of the model ("" offline; when truncated, what there is of it), without its
    ``thoughts``, which some models write before the answer. ``model`` is the name the server reported
    (None offline).
    """

    status: Status
    answer: Any = None
    text: str = ""
    reason: str = ""
    model: str | None = None
    usage: Usage = Usage()
    thoughts: str = ""


Asked = Request | Sequence[Request]
"""What a chain yields: one request, or several that do not wait for each other."""

Chain = Generator[Asked, Any, Result]
"""What it is sent: a Reply for a Request, the list of replies, in order, for several."""
