"""Parts of work side by side in copies of this process, results in order.

Copies have the rows and the expressions without being sent them, and never run the caller's script again.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

Part = Callable[[], Any]


def in_order(parts: Sequence[Part], processes: int, prepare: Callable[[], object]) -> list[Any]:
    """What the parts return. ``prepare`` is called before the first copy is made, for what all of them need.

    Copies are only made on Linux, where no other thread of this process could hold a lock.
    """
    count = min(processes, len(parts))
    if count < 2 or sys.platform != "linux" or threading.active_count() > 1:
        return [part() for part in parts]
    prepare()
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    with ProcessPoolExecutor(count, get_context("fork"), initializer=_parts.extend, initargs=(parts,)) as pool:
        return list(pool.map(_part, range(len(parts))))


_parts: list[Part] = []
"""What a worker was handed when it was made; always empty in the process that makes workers."""


def _part(number: int) -> Any:
    return _parts[number]()
