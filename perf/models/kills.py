"""Kills -9 at random instants across builds or dialogues on a model: same bytes as undisturbed, nothing answered twice.

One build (with ``--dialogues``: twelve simulated dialogues of eight exchanges; with ``--sessions``: six dialogues of
LikeBench, ten sessions each, as ``evaluators run`` holds them) runs undisturbed against the rehearsal server, then
further ones are killed and run again until they end, until there were enough kills. Compared are all files of the
workspace but the journal's own. The server's count of answered requests has to be that of distinct requests, but for
those that were in flight at a kill: the journal counts them as doubts. Of LikeBench's rows all columns are compared
but what the server charged: a request that was in flight at a kill has warmed its cache for the next one.

    python -m perf.models.kills
    python -m perf.models.kills --kills 5 --batch -- --char CHAR_04 --count 24
    python -m perf.models.kills --dialogues --wire chat
    python -m perf.models.kills --sessions --kills 20
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from models.backends import BackendSettings, run
from models.dialogue import Dialogue, Speaker, StopRule, dialogue
from models.journal import read_only
from models.prices import read_prices
from models.request import Chain
from models.roles import read_roles
from schemas.command import print_json, say
from schemas.randomness import rng_for

_BUILD = ["--char", "CHAR_04", "--count", "240"]
_SERVER = ["--latency", "0.05", "--batch-seconds", "0.5", "--json", "--quiet"]
_COMPOSERS = {
    "--dialogues": "models.rehearsal.speakers:react",
    "--sessions": "models.rehearsal.speakers:talk",
    "": "builders.rehearsal:memories",
}
_SESSIONS = ("evaluators", "run", "--release", "likebench@1.0.0", "--limit", "6")
_MODELS = ("--model", "claude-haiku-4-5", "--user", "claude-sonnet-4-6")
_DIALOGUES, _TURNS = 12, 8
_MOST_IN_FLIGHT = 16  # the default of --concurrency


@dataclass(frozen=True)
class Round:
    """One build from an empty workspace to its end."""

    kills: int
    seconds: float
    digest: str
    answered: int
    distinct: int
    requests: int
    doubts: int

    @property
    def good(self) -> bool:
        """Nothing was answered twice but what was in flight at a kill, and in flight is at most what may be."""
        again = self.answered - self.distinct
        return self.distinct == self.requests and again <= self.doubts <= self.kills * _MOST_IN_FLIGHT


def main(argv: Sequence[str] | None = None) -> int:
    """Kill and compare; 0 when every round is as the undisturbed one."""
    made = argparse.ArgumentParser(prog="python -m perf.models.kills", allow_abbrev=False)
    made.add_argument("--kills", type=int, default=50, metavar="N", help="kills in all (default: 50)")
    made.add_argument("--seed", type=int, default=7, metavar="N", help="seed of the instants (default: 7)")
    made.add_argument("--batch", action="store_true", help="through Message Batches")
    made.add_argument("--dialogues", action="store_true", help="dialogues instead of a build")
    made.add_argument("--sessions", action="store_true", help="dialogues of LikeBench instead of a build")
    made.add_argument("--wire", choices=("messages", "chat"), default="messages", help="of dialogues")
    made.add_argument("--hold", metavar="DIR", help=argparse.SUPPRESS)
    made.add_argument("--json", action="store_true", help="print one JSON document")
    made.add_argument(
        "build", nargs="*", metavar="-- WORDS", help=f"of builders.memories (default: {' '.join(_BUILD)})"
    )
    parsed = made.parse_args(argv)
    if parsed.hold:
        return hold(Path(parsed.hold), parsed.wire)
    words = [*(parsed.build or _BUILD), *(["--batch"] if parsed.batch else [])]
    if parsed.dialogues:
        words = ["--dialogues", "--wire", parsed.wire]
    if parsed.sessions:
        words = ["--sessions"]
    chance = rng_for(parsed.seed, "perf", "kills", "instants")
    undisturbed = _round(words, [])
    rounds: list[Round] = []
    while (left := parsed.kills - sum(each.kills for each in rounds)) > 0:
        instants = [chance.uniform(0.0, undisturbed.seconds) for _ in range(min(left, 10))]
        rounds.append(_round(words, instants))
        say(f"{rounds[-1]}")
    good = all(each.good and each.digest == undisturbed.digest for each in [undisturbed, *rounds])
    if parsed.json:
        print_json({"undisturbed": vars(undisturbed), "rounds": [vars(each) for each in rounds], "good": good})
    kills, doubts = sum(each.kills for each in rounds), sum(each.doubts for each in rounds)
    twice = sum(each.answered - each.distinct for each in rounds)
    say(
        f"{kills} kills in {len(rounds)} runs of {undisturbed.requests} requests: bytes"
        f" {'equal' if good else 'or counts differ'}, {twice} answered again of {doubts} in doubt"
    )
    return 0 if good else 1


def hold(folder: Path, wire: str) -> int:
    """Hold the dialogues and write their transcripts."""
    roles = {role: replace(model, wire=wire) for role, model in read_roles().items()}
    settings = BackendSettings("messages", roles, read_prices(), folder / "heart" / "journal.sqlite", quiet=True)
    starts = [functools.partial(_talk, number) for number in range(_DIALOGUES)]
    talks = [[(turn.speaker, turn.text) for turn in talk.turns] for talk in run(starts, settings)]
    (folder / "talks.json").write_text(json.dumps(talks))
    return 0


def _talk(number: int) -> Chain[Dialogue]:
    """One of the dialogues; no two have a request in common."""
    user = Speaker("user", "user", lambda _: "", fixed=(f"You are Ann {number}.",), opening="Begin the conversation.")
    subject = Speaker("assistant", "subject", lambda _: "", fixed=(f"You talk to Ann {number}.",))
    return dialogue(f"talk/{number}", (user, subject), StopRule(_TURNS))


def _round(words: Sequence[str], instants: Sequence[float]) -> Round:
    folder = Path(tempfile.mkdtemp(prefix="kills-"))
    serving = [*_SERVER, "--composer", _COMPOSERS[words[0] if words[0] in _COMPOSERS else ""]]
    server = subprocess.Popen([sys.executable, "-m", "models.rehearsal", *serving], stdout=subprocess.PIPE)
    assert server.stdout
    lines = b""
    while b"}" not in lines:
        lines += server.stdout.readline()
    address = json.loads(lines)["address"]
    try:
        began, kills = time.perf_counter(), 0
        for instant in instants:
            building = _build(folder, address, words)
            try:
                building.wait(instant)
                break  # it ended before its time came
            except subprocess.TimeoutExpired:
                building.kill()
                building.wait()
                kills += 1
        code = _build(folder, address, words).wait()
        if code not in (0, 1):
            raise RuntimeError(f"the build ended with exit code {code}")
        seconds = time.perf_counter() - began
        with urllib.request.urlopen(f"{address}/_stats") as response:
            stats = json.load(response)
    finally:
        server.terminate()
        server.wait()
    requests, doubts = _journal(folder)
    return Round(kills, seconds, _digest(folder), stats["answered"], stats["distinct"], requests, doubts)


def _build(folder: Path, address: str, words: Sequence[str]) -> subprocess.Popen[bytes]:
    command = [
        sys.executable,
        "-m",
        "builders.memories",
        "--backend",
        "messages",
        "--workspace",
        str(folder),
        "--quiet",
    ]
    if "--dialogues" in words:
        command = [sys.executable, "-m", "perf.models.kills", "--hold", str(folder)]
    if "--sessions" in words:
        journal = ["--journal", str(folder / "heart" / "journal.sqlite")]
        command = [sys.executable, "-m", *_SESSIONS, *_MODELS, "--workspace", str(folder), "--quiet", *journal]
        words = ()
    addresses = {"ANTHROPIC_BASE_URL": address, "OPENAI_BASE_URL": address}
    keys = {"ANTHROPIC_API_KEY": "rehearsal", "OPENAI_API_KEY": "rehearsal"}
    return subprocess.Popen([*command, *words], env={**os.environ, **addresses, **keys})


def _journal(folder: Path) -> tuple[int, int]:
    with read_only(folder / "heart" / "journal.sqlite") as read:
        ((requests, doubts),) = read("SELECT count(*), sum(doubts) FROM requests")
    return int(requests), int(doubts)


def _digest(folder: Path) -> str:
    whole: Any = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "journal.sqlite" not in path.name and path.name != ".lock":
            whole.update(f"{path.relative_to(folder)}\n".encode() + _content(path))
    return str(whole.hexdigest())


def _content(path: Path) -> bytes:
    """The bytes of a file; of rows of an evaluation, and of the header that digests them, without what was charged."""
    if path.suffix == ".parquet":
        return pl.read_parquet(path).drop("cost", strict=False).write_ndjson().encode()
    if path.name.startswith("said.") and path.suffix == ".json":
        header = json.loads(path.read_bytes())
        tables = {name: {**entry, "sha256": None} for name, entry in header["tables"].items()}
        return json.dumps({**header, "tables": tables, "figures": {**header["figures"], "cost": None}}).encode()
    return path.read_bytes()


if __name__ == "__main__":
    raise SystemExit(main())
