"""The command of the rehearsal server; see ``models.rehearsal``.

python -m models.rehearsal --port 0 --latency 0.2 --faults storm.toml
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
from collections.abc import Sequence
from pathlib import Path

from models.rehearsal.answers import composer, invent
from models.rehearsal.api import Api
from models.rehearsal.faults import Faults, read_faults
from models.rehearsal.server import listen
from models.rehearsal.writing import Rehearsal
from schemas import command
from schemas.errors import MachineError

_PROG = "models.rehearsal"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the server until it is interrupted."""
    made = command.parser(
        _PROG,
        "A Messages server on loopback: checks requests, counts tokens, misbehaves as it is set to, invents answers.",
        f"python -m {_PROG} --port 8765 --latency 0.2",
    )
    made.add_argument("--port", type=int, default=0, metavar="N", help="port on 127.0.0.1 (default 0: any free one)")
    made.add_argument("--latency", type=_seconds, default=0.0, metavar="S", help="seconds before a reply (default: 0)")
    made.add_argument("--batch-seconds", type=_seconds, default=0.0, metavar="S", help="seconds a batch takes")
    made.add_argument("--faults", type=Path, metavar="FILE", help="faults and their shares, in TOML")
    made.add_argument(
        "--composer",
        action="append",
        default=[],
        metavar="[MODEL=]MODULE:FUNCTION",
        help="what writes, for all models or one: a body of the Messages API in, a text out; may be repeated",
    )
    made.add_argument("--wire", choices=("messages", "chat"), help="the only wire it speaks (default: both)")
    made.add_argument(
        "--ignore-schema", action="store_true", help="take a schema and ignore it without a word, as some servers do"
    )
    made.add_argument("--key", help="the only key that is good (default: any)")
    made.add_argument("--model", action="append", default=[], metavar="NAME", help="a further model it has")
    return command.run(_serve, made, argv)


def _serve(parsed: argparse.Namespace) -> int:
    named = [given.rpartition("=") for given in parsed.composer]
    composers = {model: composer(function) for model, _, function in named}
    rehearsal = Rehearsal(
        latency=parsed.latency,
        batch_seconds=parsed.batch_seconds,
        faults=read_faults(parsed.faults) if parsed.faults else Faults(seed=parsed.seed),
        compose=composers.pop("", invent),
        composers=composers,
        key=parsed.key,
        models=tuple(parsed.model),
        heeds_schema=not parsed.ignore_schema,
        wires=(parsed.wire,) if parsed.wire else ("messages", "chat"),
    )
    api = Api(rehearsal)
    asyncio.run(_until_interrupted(api, parsed))
    stats = api.stats()
    command.say(
        f"answered {stats['answered']:,} requests, {stats['answered_twice']:,} of them more than once",
        quiet=parsed.quiet or parsed.json,
    )
    return command.INTERRUPTED


async def _until_interrupted(api: Api, parsed: argparse.Namespace) -> None:
    try:
        server, port = await listen(api, parsed.port)
    except (OSError, OverflowError) as error:
        raise MachineError(f"cannot listen ({error})", f"127.0.0.1:{parsed.port}", fix="Take another --port") from None
    address = f"http://127.0.0.1:{port}"
    if parsed.json:
        command.print_json({"address": address})
    command.say(
        f"listening at {address}. Point a run at it:\n"
        f"  export ANTHROPIC_BASE_URL={address} ANTHROPIC_API_KEY=rehearsal   # wire messages\n"
        f"  export OPENAI_BASE_URL={address} OPENAI_API_KEY=rehearsal         # wire chat\n"
        f"what it answered: {address}/_stats",
        quiet=parsed.quiet or parsed.json,
    )
    with contextlib.suppress(asyncio.CancelledError):
        await server.serve_forever()


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 86_400:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds")
    return value


if __name__ == "__main__":
    raise SystemExit(main())
