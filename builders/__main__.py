"""All tables of a benchmark from one command, in the order of its ``[build] steps``.

Each step says what it did and why; what is up to date is left alone, so running the command again after a
change builds just what follows from the change (HEART-BENCH figure 1, all four stages). A benchmark of one's own
is built by the same command, from its folder.

    python -m builders run heart
    python -m builders run heart --char CHAR_01 --char CHAR_02 --char CHAR_03 --char CHAR_04 --count 100
    python -m builders run heart --from-step activations
"""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

from builders.pipeline.command import add_fresh, add_options, add_workers, exit_code, run_of
from builders.pipeline.run import Done, Option, Outcome, Run
from builders.pipeline.staleness import outcome_records, summary_lines
from builders.pipeline.steps import Step, load_steps, selected_steps, source_of
from models.backends import add_backend_arguments
from models.remedies import Failure, write_failures
from schemas.benchmarks import benchmark, benchmark_names
from schemas.command import Verb, print_json, run_verb, say
from schemas.errors import AnamnesisError, RequestError

_DESCRIPTION = "Build all tables of a benchmark."


def main(argv: Sequence[str] | None = None) -> int:
    """Build a whole benchmark; see ``--help``."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        options = _options(_named_benchmark(words))
    except AnamnesisError:
        options = []  # the command itself names what is wrong
    verb = Verb(
        "run the steps of a benchmark in order",
        "python -m builders run heart --char CHAR_04",
        lambda made: _add_arguments(made, options),
        lambda parsed: _command(parsed, options),
    )
    return run_verb("builders", _DESCRIPTION, {"run": verb}, words)


def _add_arguments(made: argparse.ArgumentParser, options: Sequence[Option]) -> None:
    made.add_argument("benchmark", metavar="NAME_OR_DIR", help="a shipped benchmark, or the folder of one of your own")
    made.add_argument(
        "--char", "--only", action="append", default=[], metavar="ID", help="a character, user, ...; may be given again"
    )
    part = made.add_mutually_exclusive_group()
    part.add_argument("--from-step", metavar="STEP", help="leave out the steps before this one")
    part.add_argument("--only-step", metavar="STEP", help="run this step alone")
    add_workers(made)
    add_fresh(made)
    add_options(made.add_argument_group("options of the steps"), options)
    add_backend_arguments(made)


def _named_benchmark(words: Sequence[str]) -> str | None:
    """The benchmark a command line names: the first word that is one. Its steps decide which options there are."""
    plain = [word for word in words[1:] if not word.startswith("-")]
    known = [word for word in plain if word in benchmark_names() or (Path(word) / "benchmark.toml").is_file()]
    return known[0] if known else None


def _options(name: str | None) -> list[Option]:
    """The options of a benchmark's steps; those of all shipped benchmarks where none is named, for ``--help``."""
    names = [name] if name else [each for each in benchmark_names() if benchmark(each).steps]
    options: dict[str, Option] = {}
    for each in names:
        made = benchmark(each)
        for step in load_steps(made):
            for option in step.options:
                if options.setdefault(option.flag, option) != option:
                    what = f"option {option.flag} of step {step.name!r} differs from another step's"
                    raise RequestError(what, source_of(made), field="build.steps", fix="Rename one of the two")
    return list(options.values())


def _command(parsed: argparse.Namespace, options: Sequence[Option]) -> int:
    made = benchmark(parsed.benchmark)
    steps = selected_steps(load_steps(made), parsed.from_step, parsed.only_step, source_of(made))
    _options(parsed.benchmark)
    given = run_of(parsed, options)

    def report(outcomes: Sequence[Outcome]) -> None:
        for line in summary_lines(outcomes):
            say(line, quiet=given.quiet)

    with given.space.lock():
        done = _build(given, steps, report)
        write_failures(given.space.folder / "failed-run.jsonl", done.failures)
        if not parsed.from_step and not parsed.only_step:
            settings = {"backend": given.settings.name, **_written(given)}
            given.space.write_recipe(_recipe(parsed, options), given.seed, settings)
    if parsed.json:
        counts = {"left_out": list(done.left_out), "failed": len(done.failures)}
        print_json({"outcomes": outcome_records(done.outcomes), **counts})
    if done.failures:
        missing = f"{len(done.failures)} answers are missing: see failed*.jsonl in {given.space.folder}"
        say(f"{missing}; run the same command again to ask for them", quiet=parsed.quiet)
    return exit_code(done)


def _build(given: Run, steps: Sequence[Step], report: Callable[[Sequence[Outcome]], None]) -> Done:
    """Every step; stops after the first one in which answers are missing, as the next would build on the gap."""
    outcomes: list[Outcome] = []
    left_out: list[str] = []
    failures: Sequence[Failure] = ()
    for step in steps:
        done = _run_step(step, given)
        outcomes += done.outcomes
        left_out += done.left_out
        failures = done.failures
        report(done.outcomes)
        if failures:
            break
    return Done(outcomes, failures, left_out)


def _run_step(step: Step, given: Run) -> Done:
    """One step. What goes wrong in a step of the user's own is told in one line, as its author is the user."""
    try:
        done = step.build(given)
    except (AnamnesisError, OSError):
        raise
    except Exception as error:
        if ".py" not in step.name:
            raise
        last = traceback.extract_tb(error.__traceback__)[-1]
        raise RequestError(
            f"step {step.name!r} failed",
            source_of(given.space.benchmark),
            expected=f"{type(error).__name__}: {error} ({last.filename}, line {last.lineno})",
            fix="Correct the step; --debug shows where it fails",
        ) from error
    if not isinstance(done, Done):
        expected = f"a builders.pipeline.run.Done, not {type(done).__name__}"
        raise RequestError(f"step {step.name!r} returned", source_of(given.space.benchmark), expected=expected)
    return done


def _written(given: Run) -> dict[str, object]:
    """The options of the steps that have a value, as JSON values."""
    values = {name: value for name, value in given.options.items() if value is not None}
    return {name: str(value) if isinstance(value, Path) else value for name, value in values.items()}


def _recipe(parsed: argparse.Namespace, options: Sequence[Option]) -> list[str]:
    """The words that make the same rows in an empty workspace."""
    words = ["builders", "run", str(parsed.benchmark), "--seed", str(parsed.seed)]
    for option in options:
        value = getattr(parsed, option.name)
        if value is not None:
            words += [option.flag, str(value)]
    for key in parsed.char:
        words += ["--char", key]
    return words


if __name__ == "__main__":
    raise SystemExit(main())
