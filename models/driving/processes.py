"""A share of the chains to each of several processes, where one is bound by its interpreter.

Process k of N drives every N-th chain from the k-th on, with its part of the width and of what a server allows a
minute. All write one journal (``models.journal.joined``) and reserve from one budget, so that a request two of them
come to is paid once and no sum is passed. Results come back in groups; what is asked, and so every result, is the same
in any number of processes.

Processes are spawned, not forked: the libraries that read rows have threads. When one of them is killed the run ends,
and the next one goes on from the journal.
"""

from __future__ import annotations

import contextlib
import queue
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Generic

from models.batches.calls import leftovers
from models.budget import Budget, Sums, Used, total
from models.driving.worker import Message, Share, work
from models.journal import Journal
from models.journal.accounts import spent
from models.progress import Progress
from models.request import Chain, Result
from models.settings import BackendSettings
from schemas.errors import MachineError, RequestError

_CONTEXT = get_context("spawn")
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_STOP = "stop"
_PATIENCE = 5.0  # seconds for a process to end that says nothing more


def processes_for(settings: BackendSettings, chains: int) -> int:
    """How many processes drive so many chains: each has a chain and a place in flight at least.

    Raises RequestError for several with ``--batch``.
    """
    if settings.processes > 1 and settings.batch:
        raise RequestError("--processes with --batch", expected="one of them", fix="Leave --processes out")
    return min(settings.processes, settings.concurrency, chains)


def sums_in_common() -> Sums:
    """Sums in memory that the processes of a run have in common; it is they who take turns."""
    return Sums(_CONTEXT.RawArray("d", 4), common=True)


@dataclass
class _Process:
    process: BaseProcess
    connection: Connection
    began: bool = False  # it has its chains
    ended: bool = False
    in_flight: int | None = None
    last: Message = field(default_factory=Message)


class Processes(Generic[Result]):
    """Processes that drive a share of the chains each; to be begun once, as a ``Driver``."""

    def __init__(
        self,
        starts: Sequence[Callable[[], Chain[Result]]],
        settings: BackendSettings,
        opened: Journal,
        budget: Budget,
        progress: Progress,
        count: int,
    ) -> None:
        self._starts, self._settings, self._journal = starts, settings, opened
        self._budget, self._progress, self._count = budget, progress, count
        self._turns = opened.path.with_name(f".{opened.path.name}.turns")
        self._processes: list[_Process] = []
        self._messages: queue.SimpleQueue[tuple[_Process, Message | None]] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._listen, name="processes", daemon=True)

    @property
    def used(self) -> Used:
        """What all of them used so far."""
        return total(one.last.used for one in self._processes)

    @property
    def in_flight(self) -> int:
        """Requests that were sent and have no reply, as processes report that were asked to stop."""
        while self._listening and any(not one.ended and one.in_flight is None for one in self._processes):
            self._next()
        return sum(one.in_flight or 0 for one in self._processes if not one.ended)

    def begin(self) -> None:
        """Start the processes. Raises RequestError where an earlier run left a batch open."""
        if leftovers(self._journal):
            raise RequestError(
                "open batch", self._journal.path, expected="a run that collects it first", fix="Leave --processes out"
            )
        self._budget.spent = spent(self._journal.read, self._settings.prices)
        with _signals_blocked():
            for number in range(self._count):
                ours, theirs = _CONTEXT.Pipe()
                process = _CONTEXT.Process(target=work, args=(self._share(number), theirs))
                self._processes.append(_Process(process, ours))
                process.start()
                theirs.close()
        self._thread.start()
        for number, one in enumerate(self._processes):  # all of them import meanwhile what they need
            try:
                one.connection.send(self._starts[number :: self._count])
            except OSError:
                raise self._killed(one) from None
            one.began = True

    def groups(self) -> Iterator[Sequence[tuple[int, Result]]]:
        """Results with the places of their chains, as they come. Raises what ended a process."""
        while not all(one.ended for one in self._processes):
            one, message = self._next()
            if message is None:
                raise self._killed(one)
            if message.error is not None:
                raise message.error
            if message.found:
                if self._progress.is_due():
                    self._progress.show(self.used, sum(each.last.retries for each in self._processes))
                yield message.found

    def stop(self) -> None:
        """Have nothing more sent; what is in flight finishes."""
        for one in self._processes:
            if not one.began:
                _kill(one)
            elif not one.ended:
                with contextlib.suppress(OSError):
                    one.connection.send(_STOP)

    def drop(self) -> None:
        """Wait for nothing that is in flight: the journal has a mark of it."""
        for one in self._processes:
            _kill(one)

    def join(self) -> None:
        """Wait until nothing is in flight any more, and the processes are gone."""
        while self._listening and not all(one.ended for one in self._processes):
            self._next()
        for one in self._processes:
            if one.process.pid is not None:
                one.process.join()
        self._turns.unlink(missing_ok=True)

    @property
    def _listening(self) -> bool:
        return self._thread.ident is not None

    def _next(self) -> tuple[_Process, Message | None]:
        """The next message of a process; None: it is gone without a last one."""
        one, message = self._messages.get()
        if message is None:
            one.ended = True
        else:
            one.last, one.ended = message, message.over
            one.in_flight = one.in_flight if message.in_flight is None else message.in_flight
        return one, message

    def _listen(self) -> None:
        """Receive from all processes, in a thread that no interruption stops in the middle of a message."""
        live = {one.connection: one for one in self._processes}
        while live:
            for ready in wait(list(live)):
                assert isinstance(ready, Connection)
                message: Message | None = None
                with contextlib.suppress(EOFError, OSError):
                    message = ready.recv()
                self._messages.put((live[ready], message))
                if message is None or message.over:
                    del live[ready]

    def _share(self, number: int) -> Share:
        """The part of a process; of the width, what is left over goes to the first."""
        settings = self._settings
        width, more = divmod(settings.concurrency, self._count)
        own = width + (number < more)
        part = own / settings.concurrency
        roles = {
            role: replace(
                model,
                requests_per_minute=model.requests_per_minute and model.requests_per_minute * part,
                tokens_per_minute=model.tokens_per_minute and model.tokens_per_minute * part,
            )
            for role, model in settings.roles.items()
        }
        quiet = settings.quiet or number > 0  # what all of them find out is said once
        divided = replace(settings, concurrency=own, roles=roles, quiet=quiet)
        return Share(number, self._count, self._journal.run, divided, self._turns, self._budget.sums.values)

    def _killed(self, one: _Process) -> MachineError:
        one.process.join(_PATIENCE)
        _kill(one)  # where it cannot report
        one.process.join()
        code = one.process.exitcode or 0
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        return MachineError(
            f"a process of the run ended ({how})",
            self._journal.path,
            fix="Finished replies are stored: run the same command again",
        )


def _kill(one: _Process) -> None:
    if one.process.pid is not None:
        one.process.kill()


@contextlib.contextmanager
def _signals_blocked() -> Iterator[None]:
    """Processes started meanwhile ignore Ctrl-C and SIGTERM; what comes for this one comes a moment later."""
    resource_tracker.ensure_running()  # which lets signals through again when it is started
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
