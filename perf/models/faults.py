"""Every fault of the rehearsal server, over both wires: what comes of a run and what it costs; the table of the docs.

    python -m perf.models.faults            print the table
    python -m perf.models.faults --write    put it into docs/models.md

Each fault meets two requests on their first attempt ("once"), and one on every attempt ("always"). Counted are what
the server received, the replies that were paid for, and the sends whose reply nobody saw, which the budget counts at
the most they can have cost. Where the wires differ, the table has a row for each.
"""

from __future__ import annotations

import argparse
import functools
import os
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from models import pacing
from models.backends import BackendSettings, run
from models.journal import read_only
from models.journal.accounts import accounts
from models.prices import read_prices
from models.rehearsal.faults import ATTEMPT, WRITTEN, Fault, Faults
from models.rehearsal.server import running
from models.rehearsal.writing import Rehearsal
from models.remedies import ask
from models.request import Request
from models.roles import read_roles
from models.wire import client
from schemas.errors import AnamnesisError

DOCS = Path(__file__).parents[2] / "docs" / "models.md"
BEGIN, END = "<!-- python -m perf.models.faults --write -->", "<!-- end -->"

_SCHEMA = {
    "type": "object",
    "required": ["words"],
    "additionalProperties": False,
    "properties": {"words": {"type": "array", "minItems": 4, "maxItems": 4, "items": {"type": "string"}}},
}
_LEFT_OUT = ("duplicate", "forbidden", "echo", "slow")  # faults of what builders check; of no run; of patience alone
_TIMEOUTS = {"trickle": 0.2}  # seconds
_TIMEOUT = 30.0


@dataclass(frozen=True)
class Outcome:
    """What came of the requests that met a fault."""

    happened: str
    sent: int
    paid: int
    doubts: int


def outcome(kind: str, always: bool, wire: str) -> Outcome:
    """Let requests meet a fault."""
    attempts = None if always or kind in WRITTEN else 1
    seconds = 60.0 if kind == "trickle" else 0.0
    faults = Faults([Fault(kind, 1.0, attempts=attempts, seconds=seconds)])
    with running(Rehearsal(faults=faults)) as (address, api), _at(address), tempfile.TemporaryDirectory() as folder:
        roles = {role: replace(model, wire=wire) for role, model in read_roles().items()}
        journal = Path(folder) / "journal.sqlite"
        settings = BackendSettings("messages", roles, read_prices(), journal, concurrency=1, quiet=True)
        settings = replace(settings, timeout=_TIMEOUTS.get(kind, _TIMEOUT))
        starts = [functools.partial(ask, _request(number)) for number in range(1 if always else 2)]
        try:
            statuses = Counter(reply.status for reply in run(starts, settings))
            happened = ", ".join(f"{count} {status}" for status, count in sorted(statuses.items()))
        except AnamnesisError as error:
            happened = f"the run ends: {error.what.replace(address, 'the server')} (exit code {error.exit_code})"
        with read_only(journal) as read:
            books = accounts(read, settings.prices)
        return Outcome(
            happened,
            api.stats()["received"],
            sum(account.answered for account in books),
            sum(account.doubts for account in books),
        )


def rows(kinds: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The table's rows."""
    for kind in kinds:
        for always in (False, True) if kind in ATTEMPT else (True,):
            by_wire = {wire: outcome(kind, always, wire) for wire in ("messages", "chat")}
            when = "" if kind in WRITTEN else ", always" if always else ", once"
            same = len(set(by_wire.values())) == 1
            for wire, found in by_wire.items():
                name = f"{kind}{when}" if same else f"{kind}{when} ({wire})"
                yield name, found.happened, f"{found.sent}", f"{found.paid}", f"{found.doubts}"
                if same:
                    break


def table() -> str:
    """The table as Markdown."""
    kinds = [kind for kind in (*ATTEMPT, *WRITTEN) if kind not in _LEFT_OUT]
    lines = ["| fault | what happens | sent | paid for | in doubt |", "| --- | --- | --- | --- | --- |"]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows(kinds))])


def documented(text: str, made: str) -> str:
    """The page with the table in its place."""
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}\n{made}\n{END}{rest.partition(END)[2]}"


def main(argv: Sequence[str] | None = None) -> int:
    """Print or write the table."""
    made = argparse.ArgumentParser(prog="python -m perf.models.faults", allow_abbrev=False)
    made.add_argument("--write", action="store_true", help="put it into docs/models.md")
    found = table()
    if made.parse_args(argv).write:
        DOCS.write_text(documented(DOCS.read_text("utf-8"), found), "utf-8")
    else:
        print(found)
    return 0


@contextmanager
def _at(address: str) -> Iterator[None]:
    """The environment that points at a server, and waits too short to notice."""
    names = ("ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "OPENAI_API_KEY")
    before, wait, slowest = {name: os.environ.get(name) for name in names}, pacing.FIRST_WAIT, client.SLOWEST
    os.environ.update({**dict.fromkeys(names[:2], address), **dict.fromkeys(names[2:], "key-of-the-rehearsal")})
    pacing.FIRST_WAIT, client.SLOWEST = 0.00001, 10_000
    try:
        yield
    finally:
        pacing.FIRST_WAIT, client.SLOWEST = wait, slowest
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def _request(number: int) -> Request:
    prompt = f"Write four words. Number {number}."
    return Request(f"faults/{number}", "memory", ("Rules.",), prompt, "p", "d", dict, schema=_SCHEMA, max_tokens=100)


if __name__ == "__main__":
    raise SystemExit(main())
