"""The backend without a model: every request composes its own answer. No key, no network.

Chains are spread over processes; results come back in the order the chains were given, whatever
the number of workers.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from models.request import Chain, Reply, Result


def drive(chain: Chain[Result]) -> Result:
    """Run one chain to its end, answering every request by its ``compose``."""
    try:
        request = next(chain)
        while True:
            request = chain.send(Reply("answered", request.compose()))
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]


def run(starts: Sequence[Callable[[], Chain[Result]]], workers: int | None = None) -> Iterator[Result]:
    """Drive many chains, ``workers`` at a time (default: one a core); results in order.

    ``starts`` are picklable callables that make the chains.
    """
    count = min(workers or os.cpu_count() or 1, len(starts))
    if count <= 1:
        yield from (drive(start()) for start in starts)
        return
    with ProcessPoolExecutor(count, mp_context=get_context("forkserver")) as pool:
        yield from pool.map(_started, starts)


def _started(start: Callable[[], Chain[Result]]) -> Result:
    return drive(start())
