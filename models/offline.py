"""The backend without a model: every request composes its own answer. No key, no network.

Chains are spread over processes; results come back in the order the chains were given, whatever
the number of workers.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor

from models.request import Asked, Chain, Reply, Request, Result


def drive(chain: Chain[Result]) -> Result:
    """Run one chain to its end, answering every request by its ``compose``."""
    replies: Reply | list[Reply] | None = None
    while True:
        try:
            asked = chain.send(replies)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]
        replies = composed(asked)


def composed(asked: Asked) -> Reply | list[Reply]:
    """What a chain is sent for what it yielded, without a model."""
    if isinstance(asked, Request):
        return Reply("answered", asked.compose())
    return [Reply("answered", request.compose()) for request in asked]


def run(starts: Sequence[Callable[[], Chain[Result]]], workers: int | None = None) -> Iterator[Result]:
    """Drive many chains, ``workers`` at a time (default: one a core); results in order.

    ``starts`` are picklable callables that make the chains. When the caller stops or is interrupted,
    chains that have not begun are dropped; when it is killed, its workers end with it.
    """
    count = min(workers or os.cpu_count() or 1, len(starts))
    if count <= 1:
        yield from (drive(start()) for start in starts)
        return
    context = multiprocessing.get_context("forkserver")
    pool = ProcessPoolExecutor(count, mp_context=context, initializer=_worker)
    try:
        yield from pool.map(_started, starts)
    finally:
        pool.shutdown(cancel_futures=True)


def _started(start: Callable[[], Chain[Result]]) -> Result:
    return drive(start())


def _worker() -> None:
    """Leave Ctrl-C to the parent, and do not outlive it: a pool's worker would wait for work for ever."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
