"""One request after another answered: from the journal when it holds the reply, else from the server its model names.

The order in which things reach the disk is the promise of the whole, for every attempt: budget reserved, request
recorded as being sent, request sent, reply recorded, reply used.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import orjson

from models import tokens
from models.batches.calls import BatchCalls, leftovers
from models.budget import Budget, Used
from models.journal import Answered, Asked, Journal
from models.journal.accounts import spent
from models.pacing import Allowance, Pace, ServerFailedError, StoppedError, server_failed
from models.probing import Probe
from models.progress import Progress
from models.request import Reply, Request
from models.roles import OFFLINE, Model
from models.servers import Server, server_of
from models.settings import BackendSettings
from models.wire.answers import reply_of
from models.wire.client import Client
from models.wire.content import Content
from models.wire.problems import UnansweredError
from models.wire.questions import Question, question, wire_of
from schemas.errors import AnamnesisError, MachineError


@dataclass(frozen=True)
class Place:
    """Where a model is asked: its server's client and pace, what identifies the server, what it allows a minute."""

    server: Server
    identity: str
    client: Client
    pace: Pace
    allowance: Allowance


class Asking:
    """What all chains of a run ask through. An async context manager."""

    def __init__(self, settings: BackendSettings, journal: Journal, budget: Budget, progress: Progress) -> None:
        self.settings, self.journal, self.budget, self.progress = settings, journal, budget, progress
        self.used = Used()
        self.chains = 0
        self.stopped = False
        self.probe = Probe(settings.quiet)
        self._places: dict[str, Place] = {}
        self._servers: dict[Server, tuple[Client, Pace]] = {}
        self._clients = contextlib.AsyncExitStack()
        self._under_way: dict[bytes, asyncio.Event | None] = {}  # by key; whoever else asks the same waits for it

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._clients.aclose()

    @property
    def in_flight(self) -> int:
        """Requests that were sent and have no reply yet."""
        return sum(pace.in_flight for _, pace in self._servers.values())

    @property
    def retries(self) -> int:
        """Attempts after the first."""
        return sum(pace.retries for _, pace in self._servers.values())

    async def begin(self, chains: int) -> None:
        """So many chains are going to ask side by side; first comes what earlier runs left in batches."""
        self.chains = chains
        for left in leftovers(self.journal):
            batches = await self._batches_at(left.server)
            await batches.take_leftover(left, self.settings.batch)
        if not self.budget.sums.common:
            self.budget.spent = spent(self.journal.read, self.settings.prices)

    def leave(self) -> None:
        """One of the chains has ended."""
        self.chains -= 1

    def stop(self) -> None:
        """Send nothing more."""
        self.stopped = True
        self.budget.stop()
        for _, pace in self._servers.values():
            pace.stop()

    async def answer(self, request: Request) -> Reply:
        """The reply to a request. A request that was given up comes back as "failed".

        Raises StoppedError when the run is ending, AnamnesisError when it has to end.
        """
        if self.stopped:
            raise StoppedError
        model = self.settings.roles[request.role]
        if model.name == OFFLINE.name:
            return self.counted(request, Reply("answered", request.compose()))
        place = self._places.get(model.name) or await self.place(model)
        asked = self.question(request, model, place)
        try:
            while (message := self.replayed(asked.key)) is None:
                if asked.key in self._under_way:
                    other = self._under_way[asked.key] = self._under_way[asked.key] or asyncio.Event()
                    await other.wait()  # another chain asks the same question: it is paid once
                elif (reply := await self._ask_once(request, model, place, asked)) is not None:
                    return reply
        except UnansweredError as error:
            if error.kind == "schemaless" and self.probe.refused(model, error.reason):
                return await self.answer(request)
            return Reply("failed", reason=error.reason)
        return self.counted(request, reply_of(request, wire_of(asked.wire).content(message)))

    async def answer_all(self, requests: Sequence[Request]) -> list[Reply]:
        """The replies to requests that do not wait for each other, in order. Raises as ``answer``."""
        return await gathered([self.answer(request) for request in requests])

    def question(self, request: Request, model: Model, place: Place) -> Question:
        """The question a request comes to, with the schema conveyed as is known to work."""
        return question(request, model, place.identity, self.probe.enforces(model))

    def counted(self, request: Request, reply: Reply) -> Reply:
        """Count a reply and show where the run stands."""
        if reply.status == "answered":
            self.used.rows += request.rows
        if self.progress.is_due():
            self.progress.show(self.used, self.retries)
        return reply

    def replayed(self, key: bytes) -> Mapping[str, Any] | None:
        """The message the journal holds for a request, if any."""
        raw = self.journal.replay(key)
        if raw is None:
            return None
        self.used.replayed += 1
        message: Mapping[str, Any] = orjson.loads(raw)
        return message

    async def place(self, model: Model) -> Place:
        """Where a model is asked; connections to each server are opened once."""
        if model.name not in self._places:
            server = server_of(model)
            if server not in self._servers:
                client = Client(server, self.settings.concurrency, self.settings.timeout)
                self._servers[server] = client, Pace(self.settings.concurrency)
                await self._clients.enter_async_context(client)
            allowance = Allowance(model.requests_per_minute, model.tokens_per_minute)
            identity = model.server_identity or server.address
            self._places[model.name] = Place(server, identity, *self._servers[server], allowance)
        return self._places[model.name]

    def batches_at(self, place: Place) -> BatchCalls:
        """The batches of a place."""
        return BatchCalls(place.identity, place.client, place.pace, self.journal, self.settings.quiet, self.take)

    async def take(self, key: bytes, model: str, message: Mapping[str, Any]) -> None:
        """Take a result of a batch into the journal."""
        if key in self.journal.known:
            return
        ((most_tokens, max_tokens),) = self.journal.read(
            "SELECT most_tokens, max_tokens FROM requests WHERE key = ?", key
        )
        content = wire_of("messages").content(message)
        worst = self.budget.worst(model, most_tokens, max_tokens, batch=True)
        raw = orjson.dumps(message)
        self.journal.answer(Answered(key, raw, content.usage, content.metered, None, batch=True))
        self.budget.spent += self._paid(model, content, worst, batch=True)
        if self.progress.is_due():
            self.progress.show(self.used, self.retries)

    async def _batches_at(self, identity: str) -> BatchCalls:
        for model in self.settings.roles.values():
            if model != OFFLINE and model.wire == "messages":
                place = await self.place(model)
                if place.identity == identity:
                    return self.batches_at(place)
        raise MachineError(
            "open batch of another server",
            self.journal.path,
            expected=f"a batch waits at {identity}, where no role of this run is asked",
            fix="Run again with the models it was submitted for, or with another --journal",
        )

    async def _ask_once(self, request: Request, model: Model, place: Place, asked: Question) -> Reply | None:
        """The reply; None where the journal has it from another process."""
        self._under_way[asked.key] = None
        try:
            content = await self._ask(asked_of(request, model, asked, place.identity), model, place)
        finally:
            over = self._under_way.pop(asked.key)
            if over is not None:
                over.set()
        if content is None:
            return None
        reply = reply_of(request, content)
        self.probe.observe(request, model, asked.manner, reply)
        if reply.status != "answered":
            self.journal.came_to(asked.key, reply.status, reply.reason)
        return self.counted(request, reply)

    async def _ask(self, asked: Asked, model: Model, place: Place) -> Content | None:
        worst = self.budget.worst(asked.model, asked.most_tokens, asked.max_tokens)
        wire = wire_of(asked.question.wire)

        async def once() -> Content:
            if place.allowance.limits:
                await self._heed_allowance(asked, model, place)
            await self.budget.reserve(worst)
            cost = 0.0
            sending = self.journal.sending.enter(asked.key)  # what is dropped in the middle stays marked
            try:
                received = await place.client.send(wire, asked.body, asked.max_tokens)
                content = wire.content(received.message)
                answered = Answered(asked.key, received.raw, content.usage, content.metered, received.request_id)
                self.journal.answer(answered, sending)  # what comes later waits until it is on disk
                place.allowance.used_more(content.usage.output_tokens)
                cost = self._paid(asked.model, content, worst)
            except UnansweredError as error:
                cost = worst if error.doubt else 0.0
                self.journal.unanswered(asked.key, error.reason, error.doubt, over=False, sending=sending)
                raise
            except AnamnesisError as error:
                self.journal.unanswered(asked.key, str(error), doubt=False, over=True, sending=sending)
                raise
            finally:
                self.budget.release(worst, cost)
            return content

        async def failed(error: UnansweredError) -> None:
            self.used.doubts += error.doubt
            self.used.doubt_cost += worst if error.doubt else 0.0

        if not await self.journal.claim(asked, place.pace.sleep):
            return None
        try:
            return await place.pace.attempt(once, failed)
        except ServerFailedError as error:
            self.journal.not_sent(asked.key)
            raise server_failed(place.server, error) from error
        except (UnansweredError, StoppedError, AnamnesisError):
            self.journal.not_sent(asked.key)
            raise

    async def _heed_allowance(self, asked: Asked, model: Model, place: Place) -> None:
        size = int(len(asked.body) / model.bytes_per_token)
        wait = place.allowance.wait(asyncio.get_running_loop().time(), size)
        if wait > 0:
            await place.pace.sleep(wait)

    def _paid(self, model: str, content: Content, worst: float, batch: bool = False) -> float:
        """Count a reply; what it cost, at its worst when the server does not say."""
        cost = self.budget.prices.cost(model, content.usage, batch)
        if cost is not None and not content.metered:
            cost = worst
        self.used.add(content.usage, cost)
        self.used.unmetered += not content.metered
        return cost or 0.0


async def gathered(waiting: Sequence[Coroutine[Any, Any, Reply]]) -> list[Reply]:
    """All results, in order; raises the first error once none is under way any more."""
    outcomes = await asyncio.gather(*waiting, return_exceptions=True)
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome
    return [outcome for outcome in outcomes if isinstance(outcome, Reply)]


def asked_of(request: Request, model: Model, asked: Question, identity: str) -> Asked:
    """A request as the journal notes it."""
    body = asked.body
    return Asked(
        asked,
        request.id,
        request.role,
        model.name,
        identity,
        request.sample,
        request.attempt,
        request.prompt_id,
        request.prompt_digest,
        tokens.at_most(body),
        min(request.max_tokens, model.max_output),
        body,
    )
