"""The same chains through the Message Batches API: half the price, in rounds, over days and machines if need be.

A round gathers the next request of every chain, submits what the journal does not hold, polls until the
batches end, and takes the results into the journal; then the chains go on. A batch is in the journal before
it is submitted and its id as soon as the server gave one, and results name our keys: a run that was stopped
anywhere, and goes on anywhere the journal came along to, collects what is under way before it asks anything.
A batch whose id was lost is recognised among the server's by its results.

Requests that expired, were canceled or met a server error are submitted again, a bounded number of times.
"""

from __future__ import annotations

import asyncio
import datetime
import sqlite3
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from models import journal
from models.asking import Asking, answered_by, asked_of, gathered, hopeless
from models.client import Received, UnansweredError
from models.journal import Asked
from models.pacing import HopelessError, StoppedError
from models.request import Reply, Request
from models.roles import OFFLINE
from models.wire import reply_of, wired
from schemas.command import say
from schemas.errors import MachineError

MOST_REQUESTS = 10_000  # in one batch; the API takes 100,000
MOST_BYTES = 200 * 2**20  # the API takes 256 MB
TRIES = 3  # of one request

_FIRST_POLL, _LAST_POLL = 1.0, 60.0  # seconds between polls, doubling
_OWN_FAULT = frozenset({"invalid_request_error", "request_too_large", "not_found_error", "permission_error"})
_SKEW = datetime.timedelta(days=1)  # between the server's clock and ours


class _LostError(Exception):
    """A batch was sent and no id came back."""


@dataclass
class _Blocked:
    """A chain that waits for so many replies."""

    replies: int = 0


Place = tuple[asyncio.Future[str | None], _Blocked]


class BatchAsking(Asking):
    """What all chains of a run ask through with ``--batch``."""

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        self._waiting: dict[bytes, tuple[Asked, list[Place]]] = {}
        self._blocked = 0
        self._tries: dict[bytes, int] = {}
        self._all_wait = asyncio.Event()
        self._rounds: asyncio.Task[None] | None = None

    @property
    def in_flight(self) -> int:
        """Nothing that has to be waited for: a batch goes on by itself."""
        return 0

    async def begin(self, chains: int) -> None:
        """Collect what earlier runs left under way."""
        await super().begin(chains)
        undone = self.journal.read(
            "SELECT number, batch_id, submitted_at FROM batches WHERE NOT done AND server = ? ORDER BY number",
            self.client.server,
        )
        try:
            for number, batch_id, submitted_at in undone:
                await self._finish(number, batch_id or await self._find(number, submitted_at))
        except HopelessError as error:
            raise hopeless(self.client.server, error) from error
        self._rounds = asyncio.create_task(self._in_rounds())
        self._rounds.add_done_callback(self._rounds_over)

    async def _finish(self, number: int, batch_id: str | None) -> None:
        if batch_id is None:  # it never reached the server
            return await self._close(number)
        say(f"collecting batch {batch_id} of an earlier run", quiet=self.settings.quiet)
        try:
            await self._collect(number, batch_id)
        except UnansweredError as error:
            say(f"batch {batch_id} is gone ({error}): its requests are submitted again", quiet=self.settings.quiet)
            await self._close(number)

    def leave(self) -> None:
        """A chain has ended."""
        super().leave()
        self._look()
        if not self.chains and self._rounds is not None:
            self._rounds.cancel()

    def stop(self) -> None:
        """Submit nothing more."""
        super().stop()
        self._settle(list(self._waiting), StoppedError())
        if self._rounds is not None:
            self._rounds.cancel()

    async def answer(self, request: Request) -> Reply:
        """The reply to a request, in the next round. Raises as ``Asking.answer``."""
        return (await self.answer_all([request]))[0]

    async def answer_all(self, requests: Sequence[Request]) -> list[Reply]:
        """The replies to requests, in the next round and, where they have to be asked again, those after it."""
        chain = _Blocked()
        waiting = [self._in_round(request, chain) for request in requests]
        if chain.replies:
            self._blocked += 1
            self._look()
        return await gathered(waiting)

    def _in_round(self, request: Request, chain: _Blocked) -> Coroutine[Any, Any, Reply]:
        """Queue a request for the next round, unless it is answered; what to await for its reply."""
        if self.pace.stopped:
            raise StoppedError
        model = self.settings.roles[request.role]
        if model == OFFLINE:
            return super().answer(request)
        wire = wired(request, model, self.client.server)
        place: asyncio.Future[str | None] | None = None
        if wire.key not in self.journal.known:
            place = asyncio.get_running_loop().create_future()
            asked = asked_of(request, model, wire, self.client.server)
            self._waiting.setdefault(wire.key, (asked, []))[1].append((place, chain))
            chain.replies += 1
        return self._reply(request, wire.key, place)

    async def _reply(self, request: Request, key: bytes, place: asyncio.Future[str | None] | None) -> Reply:
        if place is None:
            return self.told(request, reply_of(request, self.replayed(key) or {}))
        given_up = await place
        if given_up is not None:
            return Reply("failed", reason=given_up)
        message = orjson.loads(self.journal.replay(key) or b"{}")
        return self.told(request, reply_of(request, message))

    def _look(self) -> None:
        if self.chains and self._waiting and self._blocked == self.chains:
            self._all_wait.set()

    async def _in_rounds(self) -> None:
        while True:
            await self._all_wait.wait()
            self._all_wait.clear()
            await self._round([asked for asked, _ in self._waiting.values()])

    def _rounds_over(self, rounds: asyncio.Task[None]) -> None:
        """Rounds end with the run, or with an error that all chains have to hear of."""
        error = None if rounds.cancelled() else rounds.exception()
        if isinstance(error, HopelessError):
            error = hopeless(self.client.server, error)
        elif isinstance(error, UnansweredError):
            error = MachineError(f"batch lost ({error})", self.client.server, mend="Run the same command again")
        self._settle(list(self._waiting), error if isinstance(error, Exception) else StoppedError())

    async def _round(self, asked: Sequence[Asked]) -> None:
        affordable = self._affordable(asked)
        batches = [(await self._submit(part), part) for part in _parts(affordable)]
        for (number, batch_id), part in batches:
            problems = await self._collect(number, batch_id)
            for one in part:
                self._after(one, problems.get(one.key, "missing from the results"))
        self._look()

    def _after(self, asked: Asked, problem: str | None) -> None:
        """Tell the chains that wait for a request how it went; one that may succeed later waits on."""
        if problem is None or asked.key in self.journal.known:
            self._settle([asked.key], None)
            return
        kind = problem.partition(":")[0]
        self._tries[asked.key] = self._tries.get(asked.key, 0) + 1
        if kind in _OWN_FAULT or self._tries[asked.key] >= TRIES:
            self._settle([asked.key], problem)

    def _affordable(self, asked: Sequence[Asked]) -> list[Asked]:
        fitting, total = [], 0.0
        for one in asked:
            total += self.budget.worst(one.model, one.most_tokens, one.max_tokens, batch=True)
            if not self.budget.fits(total):
                break
            fitting.append(one)
        if not fitting:
            raise self.budget.reached(total)
        return fitting

    def _settle(self, keys: Sequence[bytes], outcome: str | Exception | None) -> None:
        for key in keys:
            for place, chain in self._waiting.pop(key)[1]:
                chain.replies -= 1
                self._blocked -= not chain.replies
                if place.done():
                    continue
                if isinstance(outcome, Exception):
                    place.set_exception(outcome)
                else:
                    place.set_result(outcome)

    async def _submit(self, part: Sequence[Asked]) -> tuple[int, str]:
        await self.journal.ask(part)
        number = await self._note(part)
        items = b",".join(b'{"custom_id":"%s","params":%s}' % (one.key.hex().encode(), one.body) for one in part)
        try:
            created = await self._call(lambda: self._create(b'{"requests":[%s]}' % items))
        except _LostError:
            found = await self._find(number, journal.now())
            if found is None:
                raise UnansweredError("broken", "a batch was submitted and cannot be found") from None
            return number, found
        except UnansweredError as error:
            await self._close(number)
            raise MachineError(
                f"batch refused ({error})", self.client.server, mend="Run without --batch to see which request it is"
            ) from error
        batch_id = str(created["id"])
        await self._name(number, batch_id)
        say(f"submitted batch {batch_id}: {len(part)} requests", quiet=self.settings.quiet)
        return number, batch_id

    async def _create(self, body: bytes) -> Any:
        try:
            return await self.client.post_json("/v1/messages/batches", body)
        except UnansweredError as error:
            if error.doubt:
                raise _LostError from error
            raise

    async def _note(self, part: Sequence[Asked]) -> int:
        numbers: list[int] = []

        def work(connection: sqlite3.Connection) -> None:
            insert = "INSERT INTO batches (server, submitted_at) VALUES (?, ?) RETURNING number"
            numbers.extend(connection.execute(insert, (self.client.server, journal.now())).fetchone())
            items = [(numbers[-1], one.key) for one in part]
            connection.executemany("INSERT INTO batch_items VALUES (?, ?)", items)

        await self.journal.write(work)
        return numbers[-1]

    async def _close(self, number: int) -> None:
        await self.journal.write(lambda c: c.execute("UPDATE batches SET done = 1 WHERE number = ?", (number,)))

    async def _name(self, number: int, batch_id: str) -> None:
        await self.journal.write(
            lambda c: c.execute("UPDATE batches SET batch_id = ? WHERE number = ?", (batch_id, number))
        )

    async def _find(self, number: int, submitted_at: str) -> str | None:
        """The id of a batch that was submitted without one coming back; None when the server has none such."""
        ours = {key.hex() for (key,) in self.journal.read("SELECT key FROM batch_items WHERE number = ?", number)}
        named = {name for (name,) in self.journal.read("SELECT batch_id FROM batches WHERE batch_id IS NOT NULL")}
        earliest = datetime.datetime.fromisoformat(submitted_at) - _SKEW
        for batch in (await self._call(lambda: self.client.get_json("/v1/messages/batches?limit=1000")))["data"]:
            recent = datetime.datetime.fromisoformat(batch["created_at"]) >= earliest
            if batch["id"] in named or not recent or sum(batch["request_counts"].values()) != len(ours):
                continue
            await self._ended(batch["id"])
            if {orjson.loads(line)["custom_id"] for line in await self._lines(batch["id"])} == ours:
                await self._name(number, batch["id"])
                return str(batch["id"])
        return None

    async def _ended(self, batch_id: str) -> None:
        pause = _FIRST_POLL
        while True:
            batch = await self._call(lambda: self.client.get_json(f"/v1/messages/batches/{batch_id}"))
            if batch["processing_status"] == "ended":
                return
            self.progress.show(self.used, self.pace.retries)
            await self.pace.sleep(pause)
            pause = min(pause * 2, _LAST_POLL)

    async def _collect(self, number: int, batch_id: str) -> dict[bytes, str | None]:
        """Take the results of a batch into the journal; by key, why there is none (None: there is one)."""
        await self._ended(batch_id)
        problems: dict[bytes, str | None] = {}
        models = dict(
            self.journal.read("SELECT key, model FROM batch_items JOIN requests USING (key) WHERE number = ?", number)
        )
        for line in await self._lines(batch_id):
            item = orjson.loads(line)
            key = bytes.fromhex(item["custom_id"])
            if key not in models:
                continue
            problems[key] = _problem(item["result"])
            if problems[key] is None:
                await self._take(key, models[key], item["result"]["message"])
            else:
                await self.journal.give_up(key, problems[key])
        await self._close(number)
        return problems

    async def _take(self, key: bytes, model: str, message: Any) -> None:
        if key in self.journal.known:
            return
        received = Received(orjson.dumps(message), message, None)
        answered = answered_by(key, received, batch=True)
        await self.journal.answer(answered)
        self.paid(model, answered)
        self.progress.show(self.used, self.pace.retries)

    async def _lines(self, batch_id: str) -> list[bytes]:
        path = f"/v1/messages/batches/{batch_id}/results"
        lines: list[bytes] = await self._call(lambda: self.client.get_lines(path))
        return lines

    async def _call(self, call: Callable[[], Awaitable[Any]]) -> Any:
        async def nothing() -> None:
            return

        return await self.pace.attempt(call, nothing)


def _problem(result: dict[str, Any]) -> str | None:
    kind = result["type"]
    if kind == "succeeded":
        return None
    error = (result.get("error") or {}).get("error") or {}
    return f"{error['type']}: {error.get('message')}" if kind == "errored" and "type" in error else str(kind)


def _parts(asked: Sequence[Asked]) -> Iterator[list[Asked]]:
    part: list[Asked] = []
    size = 0
    for one in asked:
        if part and (len(part) == MOST_REQUESTS or size + len(one.body) > MOST_BYTES):
            yield part
            part, size = [], 0
        part.append(one)
        size += len(one.body) + 100
    if part:
        yield part
