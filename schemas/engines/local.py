"""Processes of this machine, as an engine: results in order, a worker that dies is replaced.

python -m audits --benchmark heart --table memories --engine local --processes 2
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from typing import Any, TypeVar

from schemas.collector import calm_collector
from schemas.errors import MachineError

Item = TypeVar("Item")
Made = TypeVar("Made")

AHEAD = 2
"""Items a worker that are under way or wait for their turn: what bounds the results in memory."""

_DEATHS = 3  # pools that broke before the same item was done


@dataclass(frozen=True)
class Local:
    """So many processes; with one, everything is done in this process."""

    processes: int
    name: str = "local"

    def map(self, task: Callable[[Item], Made], items: Iterable[Item]) -> Iterator[Made]:
        """What the task makes of each item, in order. Raises MachineError where an item kills one worker after another.

        The task and the items are sent to other processes: a function of a module, or a ``partial`` of one.
        """
        if self.processes < 2:
            yield from map(partial(calmly, task), items)
            return
        going = iter(items)
        waiting: deque[tuple[Item, Future[Made]]] = deque()
        deaths = 0
        with ExitStack() as stack:
            pool = stack.enter_context(_pool(self.processes))
            while True:
                while len(waiting) < AHEAD * self.processes and (more := next(going, _NONE)) is not _NONE:
                    waiting.append((more, _submit(pool, task, more)))
                if not waiting:
                    return
                item, future = waiting[0]
                try:
                    made = future.result()
                except BrokenProcessPool:
                    deaths += 1
                    if deaths == _DEATHS:
                        raise _killed(item) from None
                    stack.pop_all().close()
                    pool = stack.enter_context(_pool(self.processes))
                    waiting = deque((again, _resubmit(pool, task, again, old)) for again, old in waiting)
                    continue
                waiting.popleft()
                deaths = 0
                yield made


_NONE: Any = object()


def calmly(task: Callable[[Item], Made], item: Item) -> Made:
    """What the task makes of an item; thousands of rows are objects that the garbage collector looks at in vain."""
    with calm_collector():
        return task(item)


def _pool(processes: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(processes, mp_context=get_context("forkserver"))


def _submit(pool: ProcessPoolExecutor, task: Callable[[Item], Made], item: Item) -> Future[Made]:
    """As ``pool.submit``; of a pool that is broken already, a future that says so."""
    try:
        return pool.submit(calmly, task, item)
    except BrokenProcessPool as error:
        failed: Future[Made] = Future()
        failed.set_exception(error)
        return failed


def _resubmit(
    pool: ProcessPoolExecutor, task: Callable[[Item], Made], item: Item, before: Future[Made]
) -> Future[Made]:
    """The future of an item in a new pool; what was done before the old one broke is not done again."""
    done = before.done() and not before.cancelled() and not isinstance(before.exception(), BrokenProcessPool)
    return before if done else _submit(pool, task, item)


def _killed(item: object) -> MachineError:
    fix = "Free memory or lower --processes, and run the same command again"
    return MachineError(f"{_DEATHS} workers died one after another", _shown(item), fix=fix)


def _shown(item: object) -> str:
    return getattr(item, "path", None) or repr(item)[:80]
