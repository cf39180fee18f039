"""Tasks of a Ray cluster, as an engine: results in order, a task whose worker or node dies is run again.

``RAY_ADDRESS`` names a running cluster (``ray start --head``); without it one is started on this machine for as long
as the command runs. Every node needs this package, and storage that all of them reach. Ray is the extra ``scale``.

    RAY_ADDRESS=head.example:6379 python -m audits --benchmark heart --table memories --engine ray
"""

from __future__ import annotations

import logging
import os
import re
import socket
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TextIO, TypeVar, cast

from schemas.engines.local import AHEAD, calmly
from schemas.errors import MachineError, RequestError

Item = TypeVar("Item")
Made = TypeVar("Made")

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_RETRIES = 3
_PATIENCE = 10.0  # seconds for a cluster to answer


@dataclass(frozen=True)
class OnRay:
    """A cluster that was found at ``RAY_ADDRESS``, or one of so many processes here."""

    processes: int
    name: str = "ray"

    def __post_init__(self) -> None:
        _connected(self.processes)
        if not isinstance(sys.stdout, _Output):
            sys.stdout = cast(TextIO, _Output(sys.stdout))

    def map(self, task: Callable[[Item], Made], items: Iterable[Item]) -> Iterator[Made]:
        """What the task makes of each item, in order. Raises MachineError where workers die one after another."""
        import ray

        call = ray.remote(max_retries=_RETRIES, num_cpus=1)(_outcome)
        shared, most = ray.put(task), AHEAD * self._workers()
        going = iter(items)
        waiting: deque[Any] = deque()
        while True:
            while len(waiting) < most and (more := next(going, _NONE)) is not _NONE:
                waiting.append(call.remote(shared, more))
            if not waiting:
                return
            try:
                made, error = ray.get(waiting.popleft())
            except ray.exceptions.RayError as died:
                raise _failed(died) from None
            if error is not None:
                raise error
            yield made

    def _workers(self) -> int:
        import ray

        return max(self.processes, int(ray.cluster_resources().get("CPU", 1)))


_NONE: Any = object()


@dataclass(frozen=True)
class _Output:
    """Standard output without what Ray's own threads print there, whatever it is asked to log: that a worker died.

    It stood in the midst of a command's JSON. The task is run again, or its error says why it was given up.
    """

    stream: TextIO

    def write(self, text: str) -> int:
        of_ray = threading.current_thread().name.startswith("ray_")
        return len(text) if of_ray else self.stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def _outcome(task: Callable[[Any], Any], item: Any) -> tuple[Any, Exception | None]:
    """What a task makes, or what it raised: as it is, not as Ray wraps it."""
    try:
        return calmly(task, item), None
    except Exception as error:  # noqa: BLE001 - raised again by whoever asked
        return None, error


def _connected(processes: int) -> None:
    """Join the cluster, or start one. Raises RequestError without Ray, MachineError where there is no such cluster."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_DEDUP_LOGS", "0")  # else it prints what it held back when the command ends
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
    except ModuleNotFoundError:
        fix = "Install it: pip install 'anamnesis[scale]', or leave --engine ray out"
        raise RequestError("Ray is not installed", expected="the extra scale", fix=fix) from None
    if ray.is_initialized():
        return
    address = os.environ.get("RAY_ADDRESS")
    _check_reachable(address)
    here = {} if address else {"num_cpus": processes, "include_dashboard": False}
    try:
        ray.init(address=address or "local", log_to_driver=False, logging_level=logging.CRITICAL, **here)
    except (ConnectionError, OSError, RuntimeError, ValueError) as error:
        raise _no_cluster(address, error) from None


def _check_reachable(address: str | None) -> None:
    """Raises MachineError where nobody answers at HOST:PORT: Ray itself asks for minutes before it says so."""
    host, _, port = (address or "").removeprefix("ray://").rpartition(":")
    if host and port.isdigit():
        try:
            socket.create_connection((host, int(port)), timeout=_PATIENCE).close()
        except OSError as error:
            raise _no_cluster(address, error) from None


def _no_cluster(address: str | None, error: Exception) -> MachineError:
    fix = "Start it with `ray start --head`, or correct RAY_ADDRESS"
    reason = (str(error).splitlines() or [type(error).__name__])[0]
    return MachineError("no Ray cluster", address or "this machine", expected=reason, fix=fix)


def _failed(error: Exception) -> MachineError:
    fix = "Free memory on the nodes or lower --processes, and run the same command again"
    said = [line for line in _COLOUR.sub("", str(error)).splitlines() if line.strip()]
    return MachineError("Ray gave up a task", expected=said[-1] if said else type(error).__name__, fix=fix)
