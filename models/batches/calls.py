"""Submitting, finding and collecting Message Batches at one server.

A batch is in the journal before it is submitted and its id as soon as the server gave one, and results name our
keys: a run that was stopped anywhere, and goes on anywhere the journal came along to, collects what is under way
before it asks anything. A batch whose id was lost is recognised among the server's by its results. A run without
``--batch`` collects open batches that have ended and stops at one that has not: never are the same requests sent
beside it.
"""

from __future__ import annotations

import datetime
import sqlite3
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from models.journal import Asked, Journal
from models.journal.records import now
from models.pacing import Pace, ServerFailedError
from models.wire.client import Client
from models.wire.problems import UnansweredError
from schemas.command import say
from schemas.errors import MachineError

Take = Callable[[bytes, str, Mapping[str, Any]], Awaitable[None]]

_PATH = "/v1/messages/batches"
_FIRST_POLL, _LAST_POLL = 1.0, 60.0  # seconds between polls, doubling
_SKEW = datetime.timedelta(days=1)  # between the server's clock and ours


class _LostError(Exception):
    """A batch was sent and no id came back."""


@dataclass(frozen=True)
class Leftover:
    """A batch of an earlier run whose results are not in the journal; ``batch_id`` None: no id ever came back."""

    number: int
    batch_id: str | None
    server: str
    submitted_at: str


def leftovers(journal: Journal) -> list[Leftover]:
    """All open batches of a journal."""
    sql = "SELECT number, batch_id, server, submitted_at FROM batches WHERE NOT done ORDER BY number"
    return [Leftover(*row) for row in journal.read(sql)]


@dataclass(frozen=True)
class BatchCalls:
    """The batches at one server; ``take`` takes a result into the journal."""

    identity: str
    client: Client
    pace: Pace
    journal: Journal
    quiet: bool
    take: Take

    async def take_leftover(self, left: Leftover, wait: bool) -> None:
        """Collect a batch of an earlier run, waiting until it has ended.

        Raises MachineError when it has not ended and nobody wants to ``wait``, or when the server does not answer.
        """
        try:
            batch_id = left.batch_id or await self._find(left.number, left.submitted_at, wait)
            if batch_id is None:  # it never reached the server
                return await self._close(left.number)
            if not wait and not await self._has_ended(batch_id):
                raise self._open(batch_id)
            say(f"collecting batch {batch_id} of an earlier run", quiet=self.quiet)
            await self.collect(left.number, batch_id)
        except UnansweredError as error:
            say(f"batch {left.batch_id} is gone ({error}): its requests are asked again", quiet=self.quiet)
            await self._close(left.number)
        except ServerFailedError as error:
            raise MachineError(
                f"no more replies ({error})", self.client.server.where, fix="Run the same command again"
            ) from error

    async def submit(self, part: Sequence[Asked]) -> tuple[int, str]:
        """Submit requests as one batch; its number in the journal and the server's id."""
        await self.journal.ask(part)
        number = await self._note(part)
        items = b",".join(b'{"custom_id":"%s","params":%s}' % (one.key.hex().encode(), one.body) for one in part)
        try:
            created = await self._call(lambda: self._create(b'{"requests":[%s]}' % items))
        except _LostError:
            found = await self._find(number, now(), wait=True)
            if found is None:
                raise UnansweredError("broken", "a batch was submitted and cannot be found") from None
            return number, found
        except UnansweredError as error:
            await self._close(number)
            raise MachineError(
                f"batch refused ({error})",
                self.client.server.where,
                fix="Run without --batch to see which request it is",
            ) from error
        batch_id = str(created["id"])
        await self._name(number, batch_id)
        say(f"submitted batch {batch_id}: {len(part)} requests", quiet=self.quiet)
        return number, batch_id

    async def collect(self, number: int, batch_id: str) -> dict[bytes, str | None]:
        """Take the results of a batch into the journal; by key, why there is none (None: there is one)."""
        await self._ended(batch_id)
        problems: dict[bytes, str | None] = {}
        sql = "SELECT key, model FROM batch_items JOIN requests USING (key) WHERE number = ?"
        models = dict(self.journal.read(sql, number))
        for line in await self._lines(batch_id):
            item = orjson.loads(line)
            key = bytes.fromhex(item["custom_id"])
            if key not in models:
                continue
            problems[key] = _problem(item["result"])
            if problems[key] is None:
                await self.take(key, models[key], item["result"]["message"])
            else:
                self.journal.unanswered(key, problems[key], doubt=False, over=True)
        await self._close(number)
        return problems

    async def _create(self, body: bytes) -> Any:
        try:
            return await self.client.post_json(_PATH, body)
        except UnansweredError as error:
            if error.doubt:
                raise _LostError from error
            raise

    async def _note(self, part: Sequence[Asked]) -> int:
        numbers: list[int] = []

        def work(connection: sqlite3.Connection) -> None:
            insert = "INSERT INTO batches (server, submitted_at) VALUES (?, ?) RETURNING number"
            numbers.extend(connection.execute(insert, (self.identity, now())).fetchone())
            items = [(numbers[-1], one.key) for one in part]
            connection.executemany("INSERT INTO batch_items VALUES (?, ?)", items)

        await self.journal.write(work)
        return numbers[-1]

    async def _close(self, number: int) -> None:
        """The batch is over: what has no reply is not in flight any more."""

        def work(connection: sqlite3.Connection) -> None:
            connection.execute("UPDATE batches SET done = 1 WHERE number = ?", (number,))
            connection.execute(
                "UPDATE requests SET pending = 0 WHERE key IN (SELECT key FROM batch_items WHERE number = ?)",
                (number,),
            )

        await self.journal.write(work)

    async def _name(self, number: int, batch_id: str) -> None:
        sql = "UPDATE batches SET batch_id = ? WHERE number = ?"
        await self.journal.write(lambda connection: connection.execute(sql, (batch_id, number)))

    async def _find(self, number: int, submitted_at: str, wait: bool) -> str | None:
        """The id of a batch that was submitted without one coming back; None when the server has none such."""
        ours = {key.hex() for (key,) in self.journal.read("SELECT key FROM batch_items WHERE number = ?", number)}
        named = {name for (name,) in self.journal.read("SELECT batch_id FROM batches WHERE batch_id IS NOT NULL")}
        earliest = datetime.datetime.fromisoformat(submitted_at) - _SKEW
        for batch in (await self._call(lambda: self.client.get_json(f"{_PATH}?limit=1000")))["data"]:
            recent = datetime.datetime.fromisoformat(batch["created_at"]) >= earliest
            if batch["id"] in named or not recent or sum(batch["request_counts"].values()) != len(ours):
                continue
            if not wait and not await self._has_ended(batch["id"]):
                raise self._open(batch["id"])
            await self._ended(batch["id"])
            if {orjson.loads(line)["custom_id"] for line in await self._lines(batch["id"])} == ours:
                await self._name(number, batch["id"])
                return str(batch["id"])
        return None

    def _open(self, batch_id: str) -> MachineError:
        return MachineError(
            f"open batch {batch_id}",
            self.journal.path,
            expected=f"it is still being worked on at {self.identity} and will be billed",
            fix="Run with --batch to wait for it, or the same command again when it has ended: nothing was sent",
        )

    async def _has_ended(self, batch_id: str) -> bool:
        batch = await self._call(lambda: self.client.get_json(f"{_PATH}/{batch_id}"))
        return bool(batch["processing_status"] == "ended")

    async def _ended(self, batch_id: str) -> None:
        pause = _FIRST_POLL
        while not await self._has_ended(batch_id):
            await self.pace.sleep(pause)
            pause = min(pause * 2, _LAST_POLL)

    async def _lines(self, batch_id: str) -> list[bytes]:
        lines: list[bytes] = await self._call(lambda: self.client.get_lines(f"{_PATH}/{batch_id}/results"))
        return lines

    async def _call(self, call: Callable[[], Awaitable[Any]]) -> Any:
        async def nothing(_: UnansweredError) -> None:
            return

        return await self.pace.attempt(call, nothing)


def _problem(result: Mapping[str, Any]) -> str | None:
    kind = result["type"]
    if kind == "succeeded":
        return None
    error = (result.get("error") or {}).get("error") or {}
    return f"{error['type']}: {error.get('message')}" if kind == "errored" and "type" in error else str(kind)
