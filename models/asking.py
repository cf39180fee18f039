"""One request after another answered: from the journal when it holds the reply, else from the server.

The order in which things reach the disk is the promise of the whole: budget reserved, request recorded,
request sent, reply recorded, reply used.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any

import orjson

from models import tokens
from models.backends import BackendSettings
from models.budget import Budget, Used
from models.client import Client, Received, UnansweredError
from models.journal import Answered, Asked, Journal
from models.pacing import HopelessError, Pace, StoppedError
from models.progress import Progress
from models.request import Reply, Request
from models.roles import OFFLINE, Model
from models.wire import Wired, reply_of, usage_of, wired
from schemas.command import say
from schemas.errors import AnamnesisError, MachineError


class Asking:
    """What all chains of a run ask through."""

    def __init__(
        self, settings: BackendSettings, client: Client, journal: Journal, budget: Budget, progress: Progress
    ) -> None:
        self.settings, self.client, self.journal, self.budget = settings, client, journal, budget
        self.pace = Pace(settings.concurrency)
        self.used = Used()
        self.progress = progress
        self.chains = 0
        self._under_way: dict[bytes, asyncio.Event] = {}
        self._schemaless: set[str] = set()

    @property
    def in_flight(self) -> int:
        """Requests that were sent and have no reply yet."""
        return self.pace.in_flight

    async def begin(self, chains: int) -> None:
        """So many chains are going to ask side by side."""
        self.chains = chains

    def leave(self) -> None:
        """One of them has ended."""
        self.chains -= 1

    def stop(self) -> None:
        """Send nothing more."""
        self.pace.stop()

    async def answer(self, request: Request) -> Reply:
        """The reply to a request. A request that was given up comes back as "failed".

        Raises StoppedError when the run is ending, AnamnesisError when it has to end.
        """
        if self.pace.stopped:
            raise StoppedError
        model = self.settings.roles[request.role]
        if model == OFFLINE:
            return self.told(request, Reply("answered", request.compose()))
        wire = wired(request, model, self.client.server, model.name not in self._schemaless)
        try:
            message = await self._message(request, model, wire)
        except UnansweredError as error:
            if error.kind == "schemaless":
                self._do_without_schema(model, error)
                return await self.answer(request)
            return Reply("failed", reason=error.reason)
        return self.told(request, reply_of(request, message))

    async def answer_all(self, requests: Sequence[Request]) -> list[Reply]:
        """The replies to requests that do not wait for each other, in order. Raises as ``answer``."""
        return await gathered([self.answer(request) for request in requests])

    def told(self, request: Request, reply: Reply) -> Reply:
        """Count a reply and show where the run stands."""
        if reply.status == "answered":
            self.used.rows += request.rows
        self.progress.show(self.used, self.pace.retries)
        return reply

    def _do_without_schema(self, model: Model, error: UnansweredError) -> None:
        if model.name not in self._schemaless:
            self._schemaless.add(model.name)
            say(
                f"{model.name} takes no output_config here ({error.reason}): the schema is asked for in words."
                f' To save the attempt, say so in a --roles file: [models."{model.name}"] schema = false',
                quiet=self.settings.quiet,
            )

    async def _message(self, request: Request, model: Model, wire: Wired) -> Mapping[str, Any]:
        while (message := self.replayed(wire.key)) is None:
            other = self._under_way.get(wire.key)
            if other is None:
                return await self._ask_once(request, model, wire)
            await other.wait()  # another chain asks the same question: it is paid once
        return message

    def replayed(self, key: bytes) -> Mapping[str, Any] | None:
        """The message the journal holds for a request, if any."""
        raw = self.journal.replay(key)
        if raw is None:
            return None
        self.used.replayed += 1
        message: Mapping[str, Any] = orjson.loads(raw)
        return message

    async def _ask_once(self, request: Request, model: Model, wire: Wired) -> Mapping[str, Any]:
        over = self._under_way[wire.key] = asyncio.Event()
        try:
            return await self._ask(asked_of(request, model, wire, self.client.server), wire)
        finally:
            del self._under_way[wire.key]
            over.set()

    async def _ask(self, asked: Asked, wire: Wired) -> Mapping[str, Any]:
        worst = self.budget.worst(asked.model, asked.most_tokens, asked.max_tokens)
        await self.budget.reserve(worst)

        async def doubt() -> None:
            self.budget.spend(worst)
            self.used.doubts += 1
            await self.journal.doubt(asked.key)

        try:
            await self.journal.ask([asked])
            received = await self.pace.attempt(lambda: self.client.send(wire.body, asked.max_tokens), doubt)
            answered = answered_by(asked.key, received)
            await self.journal.answer(answered)
            self.paid(asked.model, answered)
        except HopelessError as error:
            await self.journal.give_up(asked.key, str(error))
            raise hopeless(self.client.server, error) from error
        except (UnansweredError, StoppedError, AnamnesisError) as error:
            await self.journal.give_up(asked.key, str(error) or None)
            raise
        finally:
            self.budget.free(worst)
        return received.message

    def paid(self, model: str, answered: Answered) -> None:
        """Count what a reply cost."""
        cost = self.budget.prices.cost(model, answered.usage, answered.batch)
        self.used.add(answered.usage, cost)
        self.used.unmetered += not answered.metered
        self.budget.spend(cost or 0.0)


async def gathered(waiting: Sequence[Coroutine[Any, Any, Reply]]) -> list[Reply]:
    """All results, in order; raises the first error once none is under way any more."""
    outcomes = await asyncio.gather(*waiting, return_exceptions=True)
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome
    return [outcome for outcome in outcomes if isinstance(outcome, Reply)]


def asked_of(request: Request, model: Model, wire: Wired, server: str) -> Asked:
    """A request as the journal notes it."""
    return Asked(
        wire.key,
        wire.body,
        request.id,
        request.role,
        model.name,
        server,
        request.sample,
        request.prompt_id,
        request.prompt_digest,
        tokens.at_most(wire.body),
        min(request.max_tokens, model.max_output),
    )


def answered_by(key: bytes, received: Received, batch: bool = False) -> Answered:
    """A reply as the journal notes it."""
    metered = isinstance(received.message.get("usage"), dict)
    return Answered(key, received.raw, usage_of(received.message), metered, received.request_id, batch)


def hopeless(server: str, error: HopelessError) -> MachineError:
    """The error of a run whose server does not answer."""
    return MachineError(
        f"no more replies ({error})",
        server,
        mend="What was answered is kept: check ANTHROPIC_BASE_URL, and run the same command again",
    )
