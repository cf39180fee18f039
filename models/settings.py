"""How models are asked in one run: what ``--backend`` and its companions say (``models.backends`` reads them)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from models.prices import Prices
from models.request import Role
from models.roles import Model

CONCURRENCY = 16
TIMEOUT = 600.0


@dataclass(frozen=True)
class BackendSettings:
    """What a command's arguments say.

    ``max_cost`` is in US dollars, None: no limit; ``budget`` is a file that several processes
    share it by; ``timeout`` in seconds of silence on one attempt; ``processes`` drive the chains, which can then be
    pickled, as their results.
    """

    name: str
    roles: Mapping[Role, Model]
    prices: Prices
    journal: Path
    max_cost: float | None = None
    concurrency: int = CONCURRENCY
    batch: bool = False
    quiet: bool = False
    timeout: float = TIMEOUT
    budget: Path | None = None
    processes: int = 1
