"""What chains ask through with ``--batch``: a round gathers the next requests of every chain, submits what the journal
does not hold, polls until the batches end, and takes the results into the journal; then the chains go on.

Requests that expired, were canceled or met a server error are submitted again, a bounded number of times. Roles
that are offline, or whose server speaks chat completions, are asked one by one meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from models.asking import Asking, Place, asked_of, gathered
from models.journal import Asked
from models.pacing import ServerFailedError, StoppedError, server_failed
from models.request import Reply, Request
from models.roles import OFFLINE
from models.wire.answers import reply_of
from models.wire.problems import UnansweredError
from models.wire.questions import wire_of
from schemas.errors import MachineError

MOST_REQUESTS = 10_000  # in one batch; the API takes 100,000
MOST_BYTES = 200 * 2**20  # the API takes 256 MB
TRIES = 3  # of one request

_OWN_FAULT = frozenset({"invalid_request_error", "request_too_large", "not_found_error", "permission_error"})


@dataclass
class _Blocked:
    """A chain that waits for so many replies."""

    replies: int = 0


@dataclass(frozen=True)
class _Waiting:
    """A request of the next round, and the chains that wait for it."""

    asked: Asked
    place: Place
    chains: list[tuple[asyncio.Future[str | None], _Blocked]]


class BatchAsking(Asking):
    """What all chains of a run ask through with ``--batch``."""

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        self._waiting: dict[bytes, _Waiting] = {}
        self._blocked = 0
        self._tries: dict[bytes, int] = {}
        self._all_wait = asyncio.Event()
        self._rounds: asyncio.Task[None] | None = None
        self._batching: Place | None = None

    @property
    def in_flight(self) -> int:
        """Nothing that has to be waited for: a batch goes on by itself."""
        return 0

    async def begin(self, chains: int) -> None:
        """Collect what earlier runs left under way, and begin the rounds."""
        await super().begin(chains)
        self._rounds = asyncio.create_task(self._in_rounds())
        self._rounds.add_done_callback(self._rounds_over)

    def leave(self) -> None:
        """A chain has ended."""
        super().leave()
        self._look()
        if not self.chains and self._rounds is not None:
            self._rounds.cancel()

    def stop(self) -> None:
        """Submit nothing more."""
        super().stop()
        self._finish(list(self._waiting), StoppedError())
        if self._rounds is not None:
            self._rounds.cancel()

    async def answer(self, request: Request) -> Reply:
        """The reply to a request, in the next round. Raises as ``Asking.answer``."""
        return (await self.answer_all([request]))[0]

    async def answer_all(self, requests: Sequence[Request]) -> list[Reply]:
        """The replies to requests, in the next round and, where they have to be asked again, those after it."""
        chain = _Blocked()
        waiting = [await self._in_round(request, chain) for request in requests]
        if chain.replies:
            self._blocked += 1
            self._look()
        return await gathered(waiting)

    async def _in_round(self, request: Request, chain: _Blocked) -> Coroutine[Any, Any, Reply]:
        """Queue a request for the next round, unless it is answered; what to await for its reply."""
        if self.stopped:
            raise StoppedError
        model = self.settings.roles[request.role]
        if model == OFFLINE or model.wire != "messages":
            return super().answer(request)
        place = await self.place(model)
        question = self.question(request, model, place)
        waiting: asyncio.Future[str | None] | None = None
        if question.key not in self.journal.known:
            waiting = asyncio.get_running_loop().create_future()
            asked = asked_of(request, model, question, place.identity)
            self._waiting.setdefault(question.key, _Waiting(asked, place, [])).chains.append((waiting, chain))
            chain.replies += 1
        return self._reply(request, question.key, waiting)

    async def _reply(self, request: Request, key: bytes, waiting: asyncio.Future[str | None] | None) -> Reply:
        problem = None if waiting is None else await waiting
        if problem is not None:
            return Reply("failed", reason=problem)
        message = (self.replayed(key) if waiting is None else None) or orjson.loads(self.journal.replay(key) or b"{}")
        reply = reply_of(request, wire_of("messages").content(message))
        if waiting is not None and reply.status != "answered":
            self.journal.came_to(key, reply.status, reply.reason)
        return self.counted(request, reply)

    def _look(self) -> None:
        if self.chains and self._waiting and self._blocked == self.chains:
            self._all_wait.set()

    async def _in_rounds(self) -> None:
        while True:
            await self._all_wait.wait()
            self._all_wait.clear()
            await self._round(list(self._waiting.values()))

    def _rounds_over(self, rounds: asyncio.Task[None]) -> None:
        """Rounds end with the run, or with an error that all chains have to hear of."""
        error = None if rounds.cancelled() else rounds.exception()
        if self._batching is not None and isinstance(error, ServerFailedError):
            error = server_failed(self._batching.server, error)
        elif self._batching is not None and isinstance(error, UnansweredError):
            where = self._batching.server.where
            error = MachineError(f"batch lost ({error})", where, fix="Run the same command again")
        self._finish(list(self._waiting), error if isinstance(error, Exception) else StoppedError())

    async def _round(self, waiting: Sequence[_Waiting]) -> None:
        affordable, worst = self._affordable(waiting)
        self.budget.hold(worst)
        try:
            batches = []
            for part in _parts(affordable):
                self._batching = part[0].place
                calls = self.batches_at(self._batching)
                batches.append((calls, part, *await calls.submit([one.asked for one in part])))
            for calls, part, number, batch_id in batches:
                problems = await calls.collect(number, batch_id)
                for one in part:
                    self._after(one.asked.key, problems.get(one.asked.key, "missing from the results"))
        finally:
            self.budget.release(worst, 0.0)
        self._look()

    def _after(self, key: bytes, problem: str | None) -> None:
        """Report to the chains that wait for a request how it went; one that may succeed later waits on."""
        if problem is None or key in self.journal.known:
            self._finish([key], None)
            return
        kind = problem.partition(":")[0]
        self._tries[key] = self._tries.get(key, 0) + 1
        if kind in _OWN_FAULT or self._tries[key] >= TRIES:
            self._finish([key], problem)

    def _affordable(self, waiting: Sequence[_Waiting]) -> tuple[list[_Waiting], float]:
        """The requests that the budget allows, and the most they can cost."""
        fitting: list[_Waiting] = []
        total = 0.0
        for one in waiting:
            asked = one.asked
            next_total = total + self.budget.worst(asked.model, asked.most_tokens, asked.max_tokens, batch=True)
            if not self.budget.fits(next_total):
                break
            fitting.append(one)
            total = next_total
        if not fitting:
            raise self.budget.reached(next_total)
        return fitting, total

    def _finish(self, keys: Sequence[bytes], outcome: str | Exception | None) -> None:
        for key in keys:
            for waiting, chain in self._waiting.pop(key).chains:
                chain.replies -= 1
                self._blocked -= not chain.replies
                if waiting.done():
                    continue
                if isinstance(outcome, Exception):
                    waiting.set_exception(outcome)
                else:
                    waiting.set_result(outcome)


def _parts(waiting: Sequence[_Waiting]) -> Iterator[list[_Waiting]]:
    """Requests in batches of what the API takes, each for one server."""
    by_server: dict[str, list[_Waiting]] = {}
    for one in waiting:
        by_server.setdefault(one.place.identity, []).append(one)
    for ours in by_server.values():
        part: list[_Waiting] = []
        size = 0
        for one in ours:
            if part and (len(part) == MOST_REQUESTS or size + len(one.asked.body) > MOST_BYTES):
                yield part
                part, size = [], 0
            part.append(one)
            size += len(one.asked.body) + 100
        yield part
