"""The steps of a benchmark, in the order its TOML lists them under ``[build] steps``.

A step is named by what a user types after ``python -m``: ``builders.scenarios`` is the module of that name,
or the module ``step`` of the room of that name. A benchmark of one's own may also list Python files of its folder,
``mine.py``, or one function of a file, ``mine.py:sessions``. What a step is: ``builders.pipeline.run``.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import schemas
from builders.pipeline.run import Build, Option
from schemas.benchmarks import FILE, Benchmark, benchmark, benchmark_names
from schemas.errors import RequestError, unknown

SHIPPED = Path(schemas.__file__).parent / "benchmarks"
_FUNCTION = "build"


@dataclass(frozen=True)
class Step:
    """A step as it was loaded; ``name`` is what the benchmark lists."""

    name: str
    build: Build
    reads: tuple[str, ...] = ()
    makes: tuple[str, ...] = ()
    options: tuple[Option, ...] = ()

    @property
    def short(self) -> str:
        """The step's name on the command line: ``memories`` for ``builders.memories``."""
        return self.name if ".py" in self.name else self.name.rpartition(".")[2]


def source_of(made: Benchmark) -> Path:
    """The TOML file that lists a benchmark's steps."""
    return SHIPPED / f"{made.name}.toml" if made.home is None else made.home / FILE


def load_steps(made: Benchmark) -> list[Step]:
    """The steps of a benchmark, loaded and in a possible order.

    Raises RequestError for a benchmark without steps, a step that cannot be loaded, a step that stands twice, and
    a step that reads what only a later one makes.
    """
    source = source_of(made)
    steps = [load_step(name, source) for name in made.steps]
    if not steps:
        raise RequestError(
            "no build steps",
            source,
            field="build.steps",
            expected="a list of steps",
            fix="List some, or use the command that makes its rows: python -m builders.importers --help",
        )
    _check_order(made, steps, source)
    return steps


def load_step(name: str, source: Path) -> Step:
    """One step by its name in the TOML file ``source``. Raises RequestError, in one line, for what cannot be loaded."""
    path, _, function = name.partition(":")
    module = _file(source.parent / path, name, source) if path.endswith(".py") else _module(name, source)
    build = getattr(module, function or _FUNCTION, None)
    if not callable(build):
        expected = f"a function {function or _FUNCTION}(run) in {path}"
        raise RequestError(f"step {name!r} cannot be run", source, field="build.steps", expected=expected)
    declared = {} if function else {key: tuple(getattr(module, key.upper(), ())) for key in ("reads", "makes")}
    return Step(name, build, **declared, options=tuple(getattr(module, "OPTIONS", ())))


def command_making(made: Benchmark, table: str) -> str:
    """What to run for a table that is missing: the step that makes it, or all of them."""
    for name in made.steps:
        if table in load_step(name, source_of(made)).makes and ".py" not in name:
            return f"python -m {name}"
    return f"python -m builders run {made.spec}"


def selected_steps(steps: Sequence[Step], first: str | None, only: str | None, source: Path) -> list[Step]:
    """The steps from ``first`` on, or ``only`` one, named in full or in short. Raises RequestError if unknown."""
    wanted = only or first
    if wanted is None:
        return list(steps)
    places = [place for place, step in enumerate(steps) if wanted in (step.name, step.short)]
    if not places:
        raise unknown("step", wanted, [step.short for step in steps], source)
    return list(steps[places[0] :][: 1 if only else None])


def _module(name: str, source: Path) -> ModuleType:
    """The module of a step: of that name, or ``step`` in the room of that name."""
    for candidate in (f"{name}.step", name):
        try:
            return importlib.import_module(candidate)
        except ModuleNotFoundError as error:
            if error.name is None or not candidate.startswith(error.name):
                raise _broken(name, source, error) from None
        except ImportError as error:
            raise _broken(name, source, error) from None
    known = {step for shipped in benchmark_names() for step in benchmark(shipped).steps}
    raise unknown("step", name, known, source)


def _file(path: Path, name: str, source: Path) -> ModuleType:
    """The module of a Python file. Whatever goes wrong in it is its author's to read, in one line."""
    if not path.is_file():
        raise unknown("step", name, [file.name for file in path.parent.glob("*.py")], source)
    spec = importlib.util.spec_from_file_location(f"steps_of_{source.parent.name}.{path.stem}", path)
    if spec is None or spec.loader is None:
        raise RequestError(f"step {name!r} cannot be loaded", source, field="build.steps", expected="a Python file")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise _broken(name, source, error) from error
    return module


def _broken(name: str, source: Path, error: Exception) -> RequestError:
    line = f", line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
    return RequestError(
        f"step {name!r} cannot be loaded",
        source,
        field="build.steps",
        expected=f"{type(error).__name__}: {error.msg if isinstance(error, SyntaxError) else error}{line}",
        fix="Correct the step; --debug shows where it fails",
    )


def _check_order(made: Benchmark, steps: Sequence[Step], source: Path) -> None:
    """Raise for a step listed twice, a table that does not exist, and tables that are read before they are made."""
    makers: dict[str, Step] = {}
    for place, step in enumerate(steps):
        if step.name in [earlier.name for earlier in steps[:place]]:
            raise RequestError(f"step {step.name!r} is listed twice", source, field="build.steps")
        for table in (*step.reads, *step.makes):
            if table not in made.tables:
                raise unknown(f"table of step {step.name}:", table, made.tables, source)
        makers.update(dict.fromkeys(step.makes, step))
    ready: set[str] = set()
    for step in steps:
        ready |= set(step.makes)
        late = [table for table in step.reads if table in makers and table not in ready]
        if late:
            later = makers[late[0]]
            circle = set(step.makes) & set(later.reads)
            expected = f"step {step.name!r} reads {late[0]}, which the later step {later.name!r} makes"
            if circle:
                expected += f" from {sorted(circle)[0]}, which it makes itself: a circle"
            fix = "Let one of the two do without the other" if circle else f"List {later.name!r} first"
            raise RequestError("impossible order", source, field="build.steps", expected=expected, fix=fix)
