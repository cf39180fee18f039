"""What all commands share: common arguments, exit codes, one line for an error, one document for ``--json``.

Exit codes: 0 done and clean; 1 done, findings remain; 2 the request is wrong; 3 a backend or the
machine failed, work is kept; 130 interrupted, resumable. People's output goes to stderr, so that
stdout carries the JSON document and nothing else.
"""

from __future__ import annotations

import argparse
import errno
import math
import os
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import orjson

from schemas.errors import AnamnesisError

DONE, FINDINGS, WRONG_REQUEST, MACHINE_FAILED, INTERRUPTED = 0, 1, 2, 3, 130

DEFAULT_SEED = 7
DEFAULT_WORKSPACE = Path("build")

_PIECE = 1 << 24
_NO_SPACE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class _Once(argparse.Action):
    """Keep the value of an argument: another one, given later, is refused, as it would replace the first unnoticed."""

    kept_for: argparse.Namespace | None = None

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        if namespace is self.kept_for and getattr(namespace, self.dest) != values:
            raise argparse.ArgumentError(self, "given twice, with two values. Leave one out")
        self.kept_for = namespace
        setattr(namespace, self.dest, values)


class _Parser(argparse.ArgumentParser):
    """An argument parser whose errors have the house's form, and whose arguments have one value each."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.register("action", None, _Once)
        self.register("action", "store", _Once)

    def error(self, message: str) -> NoReturn:
        self.exit(WRONG_REQUEST, f"error: {message}. See: {self.prog} --help\n")


def parser(prog: str, description: str, example: str) -> argparse.ArgumentParser:
    """A parser with the arguments every command has; ``example`` is shown by ``--help``."""
    made = _Parser(prog=f"python -m {prog}", description=description, **_form(example))
    add_common(made)
    return made


@dataclass(frozen=True)
class Verb:
    """A verb of a command: its line of help, an example, its arguments and what it does."""

    help: str
    example: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


def run_verb(prog: str, description: str, verbs: Mapping[str, Verb], argv: Sequence[str] | None) -> int:
    """Run a command that has verbs, as ``run`` does one that has none; each verb has the common arguments."""
    first = next(iter(verbs.values()))
    made = _Parser(prog=f"python -m {prog}", description=description, **_form(first.example))
    choices = made.add_subparsers(dest="verb", required=True, metavar="VERB")
    for name, verb in verbs.items():
        about = f"{verb.help[0].upper()}{verb.help[1:]}."
        sub = choices.add_parser(name, help=verb.help, description=about, **_form(verb.example))
        add_common(sub)
        verb.add_arguments(sub)
    return run(lambda args: verbs[args.verb].run(args), made, argv)


def _form(example: str) -> dict[str, Any]:
    return {
        "epilog": f"example:\n  {example}",
        "formatter_class": argparse.RawDescriptionHelpFormatter,
        "allow_abbrev": False,
    }


def add_common(made: argparse.ArgumentParser) -> None:
    """Add the common arguments."""
    made.add_argument(
        "--workspace", type=Path, default=DEFAULT_WORKSPACE, metavar="DIR", help="working rows (default: build)"
    )
    made.add_argument(
        "--seed",
        type=whole_number(0, 2**63 - 1),
        default=DEFAULT_SEED,
        metavar="N",
        help=f"seed of all choices (default: {DEFAULT_SEED})",
    )
    made.add_argument("--json", action="store_true", help="print one JSON document on stdout")
    made.add_argument("--quiet", action="store_true", help="no progress, no summary")
    made.add_argument("--debug", action="store_true", help="show the traceback of an error")


def add_benchmark(made: argparse.ArgumentParser, default: str | None = None) -> None:
    """``--benchmark``: a shipped benchmark or a folder of one's own, as ``schemas.benchmarks.benchmark`` takes it.

    Required where there is no default.
    """
    made.add_argument(
        "--benchmark",
        required=default is None,
        default=default,
        metavar="NAME|DIR",
        help="name of a shipped benchmark, or folder of your own" + (f" (default: {default})" if default else ""),
    )


def add_processes(made: argparse.ArgumentParser) -> None:
    """``--processes``: how many work side by side."""
    made.add_argument(
        "--processes",
        type=whole_number(1, 256),
        default=os.cpu_count() or 1,
        metavar="N",
        help="at a time (default: all cores)",
    )


def whole_number(least: int, most: int) -> Callable[[str], int]:
    """The type of an argument that is a whole number in decimal digits."""

    def read(text: str) -> int:
        if not text.isascii() or not text.isdigit() or len(text) > 20 or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {least:,} to {most:,}")
        return int(text)

    return read


def number(least: float, below: float) -> Callable[[str], float]:
    """The type of an argument that is a number, ``below`` being the first that is too large."""

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not least <= value < below:
            raise argparse.ArgumentTypeError(f"{text!r} is not a number from {least:g} to below {below:g}")
        return value

    return read


def run(
    command: Callable[[argparse.Namespace], int], arguments: argparse.ArgumentParser, argv: Sequence[str] | None
) -> int:
    """Parse, run, and turn what was raised into one line and an exit code."""
    try:
        parsed = arguments.parse_args(argv)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else WRONG_REQUEST
    try:
        return command(parsed)
    except KeyboardInterrupt:
        return _print_error(
            "interrupted. Run the same command again: what is finished is not done again",
            INTERRUPTED,
            parsed.debug,
        )
    except AnamnesisError as error:
        return _print_error(str(error), error.exit_code, parsed.debug)
    except BrokenPipeError:
        # The reader went away (`… | head`); keep Python from complaining again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return MACHINE_FAILED
    except OSError as error:
        return _print_error(_os_error(error), MACHINE_FAILED, parsed.debug)


def _os_error(error: OSError) -> str:
    where = f" in {error.filename}" if error.filename else ""
    fix = "Free some room" if error.errno in _NO_SPACE else "Fix that"
    return (
        f"{(error.strerror or str(error)).lower()}{where}. "
        f"{fix} and run the same command again: what is finished is not done again"
    )


def _print_error(line: str, code: int, debug: bool) -> int:
    if debug:
        traceback.print_exc()
    print(f"error: {line}", file=sys.stderr)
    return code


def say(line: str = "", *, quiet: bool = False) -> None:
    """A line for people, on stderr."""
    if not quiet:
        print(line, file=sys.stderr, flush=True)


def print_json(document: Any) -> None:
    """The one JSON document of ``--json``, on stdout. Raises OSError where that is closed or full."""
    text = orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()
    if sys.stdout is None:
        raise OSError(errno.EBADF, "standard output is closed")
    # An unbuffered stream takes at most 2 GiB at a time, and says so to nobody.
    for start in range(0, len(text), _PIECE):
        sys.stdout.write(text[start : start + _PIECE])
    sys.stdout.flush()
