"""2,000 requests to the rehearsal server (another process, 200 ms): our dispatch with its journal, against others.

The floor is what a bare socket client needs, one request after the other on every connection: no HTTP
library, no journal. ``sdk`` is the plain ``anthropic`` client.

    python -m perf.models.dispatch
    python -m perf.models.dispatch --peers .peers     distilabel and DataDesigner too, from the environment there:
                                               python -m venv .peers
                                               .peers/bin/pip install distilabel openai requests data-designer

Wall time leaves imports out on all sides.
"""

from __future__ import annotations

import argparse
import asyncio
import atexit
import functools
import json
import math
import os
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

import orjson

from perf import harness
from perf.models.peers import PROMPT, THREE_KB

_MODEL = "claude-sonnet-4-6"
_MAX_TOKENS = 1024
_WIDTHS = (64, 256)
_PEERS = Path(__file__).parent / "peers.py"


def floor(concurrency: int) -> harness.Case:
    """Bare sockets: one canned request after the other on every connection."""

    def case(arguments: argparse.Namespace) -> harness.Timed:
        address = _server(arguments)
        body = orjson.dumps(_body(0))
        head = (
            f"POST /v1/messages HTTP/1.1\r\nhost: x\r\nauthorization: Bearer k\r\nanthropic-version: 2023-06-01\r\n"
            f"content-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n"
        ).encode()
        parts = urlsplit(address)

        async def one(numbers: Any) -> int:
            reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
            done = 0
            for _ in numbers:
                writer.write(head + body)
                lines = (await reader.readuntil(b"\r\n\r\n")).lower()
                await reader.readexactly(int(lines.split(b"content-length: ")[1].split(b"\r\n")[0]))
                done += 1
            writer.close()
            return done

        async def everything() -> int:
            numbers = iter(range(arguments.requests))
            return sum(await asyncio.gather(*(one(numbers) for _ in range(concurrency))))

        return lambda: _figures(arguments, address, asyncio.run(everything()), concurrency)

    return case


def sdk(concurrency: int) -> harness.Case:
    """``AsyncAnthropic`` as its users write it: a pool of workers, no journal, no retries of ours."""

    def case(arguments: argparse.Namespace) -> harness.Timed:
        import anthropic

        address = _server(arguments)

        async def everything() -> int:
            numbers = iter(range(arguments.requests))
            async with anthropic.AsyncAnthropic(api_key="k", base_url=address, max_retries=0) as client:

                async def one() -> int:
                    done = 0
                    for number in numbers:
                        message = await client.messages.create(**_body(number))
                        done += bool(message.content)
                    return done

                return sum(await asyncio.gather(*(one() for _ in range(concurrency))))

        return lambda: _figures(arguments, address, asyncio.run(everything()), concurrency)

    return case


def ours(concurrency: int) -> harness.Case:
    """``models.backends.run``: requests and replies in the journal, paced, parsed."""

    def case(arguments: argparse.Namespace) -> harness.Timed:
        import models.running  # noqa: F401  # the imports are not timed
        from models.backends import BackendSettings, run
        from models.prices import read_prices
        from models.remedies import ask
        from models.request import Request
        from models.roles import read_roles

        address = _server(arguments)
        os.environ.update(ANTHROPIC_BASE_URL=address, ANTHROPIC_API_KEY="k")
        journal = Path(tempfile.mkdtemp(dir=arguments.folder)) / "journal.sqlite"
        settings = BackendSettings(
            "messages", read_roles(), read_prices(), journal, concurrency=concurrency, quiet=True
        )
        requests = [
            Request(f"perf/{n}", "memory", (), f"{PROMPT}{n}", "perf", "0", lambda: "", max_tokens=_MAX_TOKENS)
            for n in range(arguments.requests)
        ]

        def timed() -> Mapping[str, Any]:
            replies = run([functools.partial(ask, request) for request in requests], settings)
            return _figures(arguments, address, sum(reply.status == "answered" for reply in replies), concurrency)

        return timed

    return case


def peer(name: str, concurrency: int) -> harness.Case:
    """Another framework, as its users run it (``perf.models.peers``), from the environment ``--peers``."""

    def case(arguments: argparse.Namespace) -> harness.Timed:
        server = _started([sys.executable, "-m", "perf.models.peers", "serve", str(arguments.latency)])
        address = server.readline().decode().strip()
        process = subprocess.Popen(
            [f"{arguments.peers}/bin/python", str(_PEERS), name, address, str(arguments.requests), str(concurrency)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert process.stdin and process.stdout
        start, lines = process.stdin, process.stdout
        if not any(line == "ready\n" for line in lines):
            raise RuntimeError(f"{name} did not start")

        def timed() -> Mapping[str, Any]:
            start.write("go\n")
            start.flush()
            done = next(int(line.split()[1]) for line in lines if line.startswith("done "))
            figures = _figures(arguments, address, done, concurrency)
            process.wait()
            return figures

        return timed

    return case


def _body(number: int) -> dict[str, Any]:
    messages = [{"role": "user", "content": f"{PROMPT}{number}"}]
    return {"model": _MODEL, "max_tokens": _MAX_TOKENS, "messages": messages}


def _server(arguments: argparse.Namespace) -> str:
    return server("perf.models.dispatch:prose", arguments.latency)


def server(composer: str, latency: float) -> str:
    """Start the rehearsal server in another process, which goes with this one; its address."""
    words = ["--latency", str(latency), "--composer", composer, "--json", "--quiet"]
    out = _started([sys.executable, "-m", "models.rehearsal", *words])
    lines = b""
    while b"}" not in lines:
        lines += out.readline()
    address: str = json.loads(lines)["address"]
    return address


def stats(address: str) -> Any:
    """What the rehearsal server counted."""
    with urllib.request.urlopen(f"{address}/_stats") as response:
        return json.load(response)


def _started(words: list[str]) -> IO[bytes]:
    """The output of a process that goes with this one."""
    process = subprocess.Popen(words, stdout=subprocess.PIPE)
    atexit.register(process.terminate)
    assert process.stdout
    return process.stdout


def prose(body: Mapping[str, Any]) -> str:
    """The server's answers: 3 KB, made without effort, so that the server is not what is measured."""
    return THREE_KB


def _figures(arguments: argparse.Namespace, address: str, done: int, concurrency: int) -> dict[str, Any]:
    counted = stats(address)
    if done != arguments.requests or counted["answered"] != done:
        raise RuntimeError(f"{done} of {arguments.requests} done, {counted['answered']} answered by the server")
    ideal = math.ceil(arguments.requests / concurrency) * arguments.latency
    return {"answered": done, "ideal_s": round(ideal, 2), "server_cpu_s": round(counted["cpu_seconds"], 2)}


def _arguments(made: argparse.ArgumentParser) -> None:
    made.add_argument("--requests", type=int, default=2000, metavar="N", help="requests (default: 2000)")
    made.add_argument("--latency", type=float, default=0.2, metavar="S", help="seconds of the server (default: 0.2)")
    made.add_argument("--folder", metavar="DIR", help="where the journal is put (default: the temporary folder)")
    made.add_argument("--peers", metavar="DIR", help="environment that holds distilabel and data-designer")


def _comparison(concurrency: int, most: float, peers: bool) -> harness.Comparison:
    cases = {"floor": floor(concurrency), "ours": ours(concurrency), "sdk": sdk(concurrency)}
    promises = [harness.Promise("ours", "floor", 1 / most)]
    if peers:
        for name in ("distilabel", "data_designer"):
            cases[name] = peer(name, concurrency)
            promises.append(harness.Promise("ours", name, 4 if concurrency > 64 else 1.5))
    return harness.Comparison(f"{concurrency} in flight", cases, base="floor", promises=tuple(promises))


if __name__ == "__main__":
    with_peers = any(word.startswith("--peers") for word in sys.argv)
    limits = {64: 1.06, 256: 1.5}  # times the floor
    comparisons = [_comparison(width, limits[width], with_peers) for width in _WIDTHS]
    raise SystemExit(harness.main("perf.models.dispatch", comparisons, add_arguments=_arguments))
