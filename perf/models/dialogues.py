"""Simulated dialogues against the rehearsal server (another process, 200 ms a call): ours, with its journal.

``60 x 10``: 60 dialogues of 10 exchanges (a user's call, then an assistant's), 64 in flight, beside a bare aiohttp
loop that keeps the histories in lists. ``50 x 50``: 50 dialogues of 50 exchanges beside the time that the latency of
their calls takes by itself.

    python -m perf.models.dialogues
    python -m perf.models.dialogues --only "60 x 10" --wire chat
"""

from __future__ import annotations

import argparse
import asyncio
import functools
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from perf import harness
from perf.models.dispatch import server, stats

_MODEL = "claude-sonnet-4-6"
_WIDE = 64
_ENOUGH = 1 / 1.05


def loop(dialogues: int, turns: int, wide: int = _WIDE) -> harness.Case:
    """aiohttp alone, the dialogues side by side, no journal: what the calls cost at least."""

    def case(arguments: argparse.Namespace) -> harness.Timed:
        from aiohttp import ClientSession, TCPConnector

        address = _server(arguments)
        headers = {"authorization": "Bearer k", "anthropic-version": "2023-06-01"}

        async def call(session: ClientSession, messages: list[dict[str, str]]) -> str:
            body = {"model": _MODEL, "max_tokens": 300, "messages": messages}
            async with session.post(f"{address}/v1/messages", json=body, headers=headers) as response:
                text: str = (await response.json())["content"][0]["text"]
                return text

        async def one(session: ClientSession) -> int:
            said: list[str] = []
            for _ in range(2 * turns):
                roles = ("user", "assistant") if len(said) % 2 else ("assistant", "user")
                told = [{"role": roles[place % 2], "content": text} for place, text in enumerate(said)]
                if not told or told[0]["role"] == "assistant":
                    told = [{"role": "user", "content": "Begin the conversation."}, *told]
                said.append(await call(session, told))
            return len(said)

        async def everything() -> int:
            async with ClientSession(connector=TCPConnector(limit=wide)) as session:
                return sum(await asyncio.gather(*(one(session) for _ in range(dialogues))))

        return lambda: _figures(address, asyncio.run(everything()), dialogues * turns * 2)

    return case


def ours(dialogues: int, turns: int) -> harness.Case:
    """``models.dialogue`` on ``models.backends.run``: views, journal, pacing."""

    def case(arguments: argparse.Namespace) -> harness.Timed:
        from dataclasses import replace

        import models.running  # noqa: F401  # the imports are not timed
        from models.backends import BackendSettings, run
        from models.dialogue import Speaker, StopRule, dialogue
        from models.prices import read_prices
        from models.roles import read_roles

        address = _server(arguments)
        variables = ("ANTHROPIC_BASE_URL", "OPENAI_BASE_URL")
        os.environ.update({**dict.fromkeys(variables, address), "ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k"})
        journal = Path(tempfile.mkdtemp(dir=arguments.folder)) / "journal.sqlite"
        roles = {role: replace(model, wire=arguments.wire) for role, model in read_roles().items()}
        settings = BackendSettings("messages", roles, read_prices(), journal, concurrency=_WIDE, quiet=True)
        user = Speaker("user", "user", lambda _: "", opening="Begin the conversation.", max_tokens=300)
        speakers = (user, Speaker("assistant", "subject", lambda _: "", max_tokens=300))
        starts = [
            functools.partial(dialogue, f"perf/{number}", speakers, StopRule(turns), sample=number)
            for number in range(dialogues)
        ]

        def timed() -> Mapping[str, Any]:
            said = sum(len(talk.turns) for talk in run(starts, settings))
            size = round(sum(path.stat().st_size for path in journal.parent.iterdir()) / 2**20, 1)
            return {**_figures(address, said, dialogues * turns * 2), "journal_mib": size}

        return timed

    return case


def latency(turns: int) -> harness.Case:
    """The time that the calls of one dialogue take by themselves."""

    def case(arguments: argparse.Namespace) -> harness.Timed:
        async def wait() -> None:
            for _ in range(2 * turns):
                await asyncio.sleep(arguments.latency)

        def timed() -> Mapping[str, Any]:
            asyncio.run(wait())
            return {}

        return timed

    return case


def _server(arguments: argparse.Namespace) -> str:
    return server("models.rehearsal.speakers:react", arguments.latency)


def _figures(address: str, said: int, wanted: int) -> dict[str, Any]:
    counted = stats(address)
    if said != wanted or counted["answered"] != wanted:
        raise RuntimeError(f"{said} of {wanted} turns, {counted['answered']} answered by the server")
    return {"turns": said, "server_cpu_s": round(counted["cpu_seconds"], 2)}


def _arguments(made: argparse.ArgumentParser) -> None:
    made.add_argument("--latency", type=float, default=0.2, metavar="S", help="seconds of the server (default: 0.2)")
    made.add_argument("--wire", choices=("messages", "chat"), default="messages", help="of ours (default: messages)")
    made.add_argument("--folder", metavar="DIR", help="where the journal is put (default: the temporary folder)")


_COMPARISONS = (
    harness.Comparison(
        "60 x 10",
        {"loop": loop(60, 10), "ours": ours(60, 10)},
        base="loop",
        promises=(harness.Promise("ours", "loop", _ENOUGH),),
    ),
    harness.Comparison(
        "50 x 50",
        {"latency": latency(50), "ours": ours(50, 50)},
        base="latency",
        promises=(harness.Promise("ours", "latency", _ENOUGH),),
    ),
)

if __name__ == "__main__":
    raise SystemExit(harness.main("perf.models.dialogues", _COMPARISONS, add_arguments=_arguments))
