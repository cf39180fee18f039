"""A build step as a command of its own: its arguments, its run, and what it reports.

The arguments are the same wherever a step is run: ``--benchmark``, ``--char`` where the step works character by
character, ``--fresh``, its own ``OPTIONS``, and ``--backend`` with its companions where it asks a model.

    python -m builders.scenarios --blueprints mine.toml
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from builders.pipeline.run import Build, Done, Option, Run
from builders.pipeline.staleness import outcome_records, summary_lines
from models.backends import BackendSettings, add_backend_arguments, backend_settings
from models.prices import read_prices
from models.remedies import write_failures
from schemas.command import DONE, FINDINGS, MACHINE_FAILED, add_benchmark, parser, print_json, run, say, whole_number
from schemas.workspace import Workspace

COUNT = whole_number(1, 10**6)
"""The type of an argument that is a number of rows, or of processes."""

DEFAULT_BENCHMARK = "heart"


def _nothing(_: Run) -> Mapping[str, Any]:
    return {}


def _no_lines(_: Run) -> Sequence[str]:
    return ()


@dataclass(frozen=True)
class StepCommand:
    """The command of a step; ``name`` is the step's short name, as in ``python -m builders.<name>``.

    ``selects``: it works character by character; ``asks``: it has requests for a model. ``document`` adds to
    ``--json``, ``lines`` to what people read; both are called after the build.
    """

    name: str
    description: str
    example: str
    build: Build
    options: tuple[Option, ...] = ()
    selects: bool = False
    asks: bool = True
    parallel: bool = False
    document: Callable[[Run], Mapping[str, Any]] = _nothing
    lines: Callable[[Run], Sequence[str]] = _no_lines

    def main(self, argv: Sequence[str] | None = None) -> int:
        """Parse, build and report; returns the exit code."""
        made = parser(f"builders.{self.name}", self.description, self.example)
        add_benchmark(made, DEFAULT_BENCHMARK)
        if self.selects:
            add_selection(made)
        add_options(made, self.options)
        if self.parallel:
            add_workers(made)
        add_fresh(made)
        if self.asks:
            add_backend_arguments(made)
        return run(self._command, made, argv)

    def _command(self, parsed: argparse.Namespace) -> int:
        given = run_of(parsed, self.options)
        with given.space.lock():
            done = self.build(given)
            if self.asks:
                write_failures(given.space.folder / f"failed-{self.name}.jsonl", done.failures)
        if parsed.json:
            document = {"outcomes": outcome_records(done.outcomes), **self.document(given)}
            print_json({**document, "failed": len(done.failures)} if self.asks else document)
        else:
            for line in [*summary_lines(done.outcomes), *self.lines(given)]:
                say(line, quiet=parsed.quiet)
        return exit_code(done)


def exit_code(done: Done) -> int:
    """3 when answers are missing, 1 when rows were left out, 0 otherwise."""
    return MACHINE_FAILED if done.failures else FINDINGS if done.left_out else DONE


def add_selection(made: argparse.ArgumentParser) -> None:
    """Add ``--char``."""
    made.add_argument(
        "--char", action="append", default=[], metavar="ID", help="a character; may be given again (default: all)"
    )


def add_workers(made: argparse.ArgumentParser) -> None:
    """Add ``--workers``."""
    made.add_argument("--workers", type=COUNT, metavar="N", help="processes of the offline writer (default: cores)")


def add_fresh(made: argparse.ArgumentParser) -> None:
    """Add ``--fresh``."""
    made.add_argument("--fresh", action="store_true", help="rebuild everything, also files that were edited by hand")


def add_options(made: argparse.ArgumentParser | argparse._ArgumentGroup, options: Sequence[Option]) -> None:
    """Add the options of steps."""
    for option in options:
        default = "" if option.default is None else f" (default: {option.default})"
        settings = {"choices": option.choices} if option.choices else {"type": option.read, "metavar": option.metavar}
        made.add_argument(option.flag, default=option.default, help=f"{option.help}{default}", **settings)


def run_of(parsed: argparse.Namespace, options: Sequence[Option]) -> Run:
    """What the arguments say. Raises RequestError for an unknown benchmark and malformed settings of a backend."""
    space = Workspace(parsed.workspace, parsed.benchmark)
    return Run(
        space=space,
        settings=_settings(parsed, space),
        selection=tuple(getattr(parsed, "char", None) or ()),
        seed=parsed.seed,
        fresh=getattr(parsed, "fresh", False),
        workers=getattr(parsed, "workers", None),
        quiet=parsed.quiet or parsed.json,
        options={option.name: getattr(parsed, option.name) for option in options},
    )


def _settings(parsed: argparse.Namespace, space: Workspace) -> BackendSettings:
    if "backend" in parsed:
        return backend_settings(parsed, space.benchmark)
    # A step that asks nobody: whatever the backend, it is not called.
    return BackendSettings("offline", {}, read_prices(None), space.folder / "journal.sqlite", quiet=parsed.quiet)
