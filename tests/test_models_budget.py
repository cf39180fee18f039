"""The budget holds: whatever a server does and however often a run is dropped, it cannot bill more than --max-cost."""

import asyncio
import functools
import random
import tempfile
from contextlib import suppress
from pathlib import Path

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from virtual_clock import VirtualClock, VirtualLoop

from models import journal
from models.asking import Asking
from models.budget import Budget, Shares
from models.journal.accounts import spent
from models.journal.files import connected
from models.pacing import StoppedError
from models.prices import read_prices
from models.progress import Progress
from models.request import Request, Usage
from models.roles import model_named
from models.settings import BackendSettings
from models.wire.client import Received
from models.wire.problems import UnansweredError
from schemas.errors import MachineError, RequestError

PRICES = read_prices()
MODEL = "claude-sonnet-4-6"
REQUEST = Request("r", "memory", ("Rules. " * 9,), "Write.", "p", "d", compose=str, max_tokens=100)
WORST = 0.0022  # dollars: about what one of these can cost at most
MEMORY = Path("/dev/shm")  # a folder without a disk, where there is one: thousands of journals are written

FAULTS = ["none", "none", "none", "unmetered", "limited", "overloaded", "error", "lost", "lost unbilled", "rejected"]


class Server:
    """A server that bills what it pleases, up to the most a request can cost, and says so or not."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.billed = 0.0
        self.in_flight = self.most_in_flight = 0

    def client(self, server, concurrency, timeout):
        """In place of ``models.wire.client.Client``."""
        return self

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        return None

    async def send(self, wire, body, max_tokens):
        """One attempt."""
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await asyncio.sleep(self.chance.uniform(0, 20))
            return self.answered(body, max_tokens, self.chance.choice(FAULTS))
        finally:
            self.in_flight -= 1

    def answered(self, body, max_tokens, fault):
        if fault == "limited":
            raise UnansweredError("limited", "429", self.chance.choice([None, 3.0]))
        if fault in ("overloaded", "rejected"):
            raise UnansweredError(fault, fault)
        if fault == "error":
            raise UnansweredError("broken", "500")
        if fault == "lost unbilled":
            raise UnansweredError("broken", "dropped", doubt=True)
        usage = {"cache_creation_input_tokens": len(body), "output_tokens": max_tokens}
        if self.chance.random() < 0.5:
            usage = {name: self.chance.randint(1, most) for name, most in usage.items()}
        self.billed += PRICES.cost(MODEL, Usage(0, usage["cache_creation_input_tokens"], 0, usage["output_tokens"]))
        if fault == "lost":
            raise UnansweredError("broken", "dropped", doubt=True)
        message = {"content": [{"type": "text", "text": "words"}], "stop_reason": "end_turn", "usage": usage}
        if fault == "unmetered":
            del message["usage"]
        return Received(orjson.dumps(message), message, None)


def asked_by(chain: int, number: int) -> Request:
    return REQUEST._replace(id=f"{chain}/{number}", prompt=f"Write {chain}/{number}.")


def run_until(path: Path, server: Server, most: float, dropped_after: float | None, monkeypatch) -> None:
    """A run of six chains of two requests, dropped after so many virtual seconds, as by a second Ctrl-C."""
    monkeypatch.setattr("models.asking.Client", server.client)
    clock = VirtualClock()
    loop = VirtualLoop(clock)
    settings = BackendSettings("messages", {"memory": model_named(MODEL)}, PRICES, path, most, 4, quiet=True)

    async def chain(asking: Asking, number: int) -> None:
        for step in range(2):
            await asking.answer(asked_by(number, step))

    async def everything(opened: journal.Journal) -> None:
        clock.busy = lambda: opened._last is not None and not opened._last.done()
        budget = Budget(PRICES, most, 0.0, path)
        async with Asking(settings, opened, budget, Progress(True, None)) as asking:
            await asking.begin(6)
            chains = [asyncio.ensure_future(chain(asking, number)) for number in range(6)]
            done, left = await asyncio.wait(chains, timeout=dropped_after, return_when=asyncio.FIRST_EXCEPTION)
            if any(each.exception() for each in done):
                asking.stop()
                done, left = await asyncio.wait(chains, timeout=dropped_after)
            for each in left:
                each.cancel()
            for outcome in await asyncio.gather(*chains, return_exceptions=True):
                if isinstance(outcome, Exception) and not isinstance(outcome, MachineError | StoppedError):
                    raise outcome

    with journal.opened(path, 4) as opened, suppress(asyncio.CancelledError):
        opened.begin_run("tests")
        try:
            loop.run_until_complete(everything(opened))
        finally:
            loop.close()


@given(
    seed=st.integers(0, 2**32),
    factor=st.floats(0.5, 30),
    drops=st.lists(st.floats(1, 300), max_size=2),
)
@settings(max_examples=1000)
def test_what_the_server_could_have_billed_never_passes_max_cost(seed, factor, drops):
    most = factor * WORST
    server = Server(seed)
    with pytest.MonkeyPatch.context() as monkeypatch, tempfile.TemporaryDirectory(dir=_folder()) as folder:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
        monkeypatch.setattr("models.journal.store.SMALLEST", 4096)
        monkeypatch.setattr("models.journal.store.EACH", 1024)
        path = Path(folder) / "journal.sqlite"
        path.write_bytes(empty_journal())
        for dropped_after in (*drops, None):
            run_until(path, server, most, dropped_after, monkeypatch)
            assert server.billed <= most
        with journal.read_only(path) as read:
            assert server.billed <= spent(read, PRICES) + 1e-12
    assert server.most_in_flight <= 4


@functools.cache
def empty_journal() -> bytes:
    """A new journal: making one takes longer than a schedule."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "journal.sqlite"
        connected(path).close()
        return path.read_bytes()


def _folder() -> Path | None:
    return MEMORY if MEMORY.is_dir() else None


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from(["reserve", "release", "killed"])), max_size=40))
def test_processes_that_share_a_sum_stay_within_it_together_whoever_is_killed(steps):
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        most, root = 10.0, Path(folder)
        paths = [root / f"{number}.sqlite" for number in range(3)]

        def begun(number, spent):
            return Budget(PRICES, most, spent, paths[number], Shares(root / "budget.json", paths[number]))

        budgets, held = [begun(number, 0.0) for number in range(3)], [0, 0, 0]
        for number, what in steps:
            budget = budgets[number]
            if what == "reserve" and budget.fits(1.0):
                budget.hold(1.0)
                held[number] += 1
            elif what == "release" and held[number]:
                budget.release(1.0, 0.5)
                held[number] -= 1
            elif what == "killed":  # what was in flight counts as billed when the command is run again
                budgets[number] = begun(number, budget.spent + held[number])
                held[number] = 0
            assert sum(each.spent for each in budgets) + sum(held) <= most
        for number, budget in enumerate(budgets):
            budget.release(held[number], 0.0) if held[number] else None
            budget.close()
        assert sum(orjson.loads((root / "budget.json").read_bytes()).values()) == sum(each.spent for each in budgets)


def test_a_shared_budget_that_is_malformed_or_spent_by_others_is_one_line(tmp_path):
    path, own = tmp_path / "budget.json", tmp_path / "own.sqlite"
    path.write_text("[1, 2]")
    with pytest.raises(RequestError, match="malformed shared budget"):
        Budget(PRICES, 1.0, 0.0, own, Shares(path, own)).fits(0.1)
    path.write_text('{"other": 0.95}')
    budget = Budget(PRICES, 1.0, 0.0, own, Shares(path, own))
    with pytest.raises(MachineError, match=r"budget of \$1\.00 reached .* \$0\.9500 taken by others"):
        asyncio.run(budget.reserve(0.1))
