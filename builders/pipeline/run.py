"""What a build step is given and what it returns: one signature for every step of every benchmark.

A step is a module with ``build(run: Run) -> Done``. It may also say, for the order of steps and for the
command line:

    READS = ("characters", "ledgers")           tables it reads
    MAKES = ("memories",)                       tables it writes
    OPTIONS = (Option("--count", ...),)         options of its own

A benchmark lists its steps under ``[build] steps``; ``builders.pipeline.steps`` loads them and
``python -m builders run NAME_OR_DIR`` runs them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from builders.pipeline.streams import Streams
from models.backends import BackendSettings
from models.remedies import Failure
from schemas.workspace import Workspace


@dataclass(frozen=True)
class Outcome:
    """What was done with one file of a table, and why; ``kept``: a person has changed it."""

    table: str
    key: str
    action: Literal["built", "up to date", "kept"]
    why: str
    rows: int


@dataclass(frozen=True)
class Run:
    """One build of one benchmark: what every step is given.

    ``selection`` are keys (of characters, users, ...) to build, as they were given; none: all. ``options`` are
    the steps' own, by name (``--per-user`` is ``per_user``). ``workers`` None: one process a core.
    """

    space: Workspace
    settings: BackendSettings
    selection: tuple[str, ...] = ()
    seed: int = 7
    fresh: bool = False
    workers: int | None = None
    quiet: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def streams(self) -> Streams:
        """The random streams of the run, under the benchmark's own name."""
        return Streams(self.seed, self.space.benchmark.name)


@dataclass(frozen=True)
class Done:
    """What a step did: files written or current, answers that are missing, and rows it had to leave out."""

    outcomes: Sequence[Outcome] = ()
    failures: Sequence[Failure] = ()
    left_out: Sequence[str] = ()


Build = Callable[[Run], Done]


@dataclass(frozen=True)
class Option:
    """An option of a step: its flag, and what ``argparse`` needs to read it."""

    flag: str
    help: str
    default: Any = None
    read: Callable[[str], Any] = str
    choices: tuple[str, ...] = ()
    metavar: str | None = None

    @property
    def name(self) -> str:
        """The option's key in ``Run.options``."""
        return self.flag.lstrip("-").replace("-", "_")

    def of(self, run: Run) -> Any:
        """The value that a run was given, or the default."""
        return run.options.get(self.name, self.default)
