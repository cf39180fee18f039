"""What the tests of releases share: small workspaces, releases made of them, and a process to kill."""

import atexit
import contextlib
import functools
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import orjson

from releases import Release
from releases.__main__ import main as releases_main
from releases.freeze import Plan, freeze
from releases.opening import open_release
from schemas.release_names import parse_name
from schemas.tables import Row
from schemas.workspace import Workspace

ROOT = Path(__file__).resolve().parents[1]

CHECKS = {"validators": {"rows": 0, "ran": [], "findings": {}, "figures": []}, "audits": {}, "allowed": []}

# Kills at random instants in each of the tests that kill; more of them with ANAMNESIS_KILLS=50.
KILLS = int(os.environ.get("ANAMNESIS_KILLS", "12"))

RECIPE = ["builders", "run", "heart", "--seed", "7"]

PROVENANCE = {
    "origin": "built",
    "backend": "offline",
    "model": None,
    "prompt": "memory@1",
    "prompt_digest": "a" * 64,
    "seed": 7,
    "revision": 0,
    "repairs": [],
}


def small_tables() -> dict[str, list[Row]]:
    """A few rows of every table of heart; fresh each time."""
    return orjson.loads((ROOT / "tests/cases/small_heart.json").read_bytes())


def many_memories(count: int) -> list[Row]:
    """So many different memories of the first character of the small workspace, of a hundred characters each."""
    first = small_tables()["memories"][0]
    return [
        {**first, "id": f"MEM_01_{number:04d}", "content_full": f"{number} " + "and so it went on. " * 5}
        for number in range(1, count + 1)
    ]


def write_workspace(root: Path, tables: dict[str, list[Row]], benchmark: str = "heart") -> Workspace:
    """A workspace with these rows; tables that are not given are there without a row."""
    workspace = Workspace(root, benchmark)
    with workspace.lock():
        for name, table in workspace.benchmark.tables.items():
            if table.optional and name not in tables:
                continue
            files: dict[str, list[Row]] = {}
            for row in tables.get(name, []):
                files.setdefault(table.file_of(row), []).append(row)
            for key, rows in (files or {"all": []}).items():
                workspace.write(name, rows, key)
        workspace.write_recipe(RECIPE, 7, {})
    return workspace


def release_of(root: Path, spec: str, tables: dict[str, list[Row]], **plan: Any) -> Release:
    """Freeze these rows under ``root/frozen``; the gate is not asked."""
    name = parse_name(spec)
    work = root / "work" / str(name)
    workspace = write_workspace(work, tables, name.benchmark)
    return freeze(Plan(name, workspace, root / "frozen", **plan), CHECKS)


def frozen_once(root: Path, spec: str, tables: dict[str, list[Row]]) -> Release:
    """As ``release_of``, by copying what was frozen of these rows before: for tests of what reads releases."""
    folder = parse_name(spec).folder(root / "frozen")
    shutil.copytree(_frozen(spec, orjson.dumps(tables)), folder)
    return open_release(folder)


@functools.cache
def _frozen(spec: str, tables: bytes) -> Path:
    kept = tempfile.TemporaryDirectory(prefix="anamnesis-frozen-")
    atexit.register(kept.cleanup)
    return release_of(Path(kept.name), spec, orjson.loads(tables)).folder


def copy_of(release: Release, folder: Path) -> Path:
    """A copy of a release that can be written to."""
    shutil.copytree(release.folder, folder)
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)
    return folder


def command(*words: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run ``python -m releases …``: in this process, or in one of its own for another environment."""
    argv = [str(word) for word in words]
    if not environment:
        # Files, as what a verb starts writes to them, too.
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code = releases_main(argv)
            said, errors = (file.seek(0) or file.read() for file in (out, err))
        return subprocess.CompletedProcess(argv, code, said, errors)
    return subprocess.run(
        [sys.executable, "-m", "releases", *argv],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


_KEEPER = """
import os, sys
exec(sys.argv[1])
print("ready", flush=True)
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        work(line.strip())
        os._exit(0)
    print(child, flush=True)
    print(os.waitpid(child, 0)[1], flush=True)
"""


class Keeper:
    """A process with everything imported that does one piece of work at a time in a child, which can be killed."""

    def __init__(self, work: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _KEEPER, work],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._read() == "ready"

    def _read(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def run(self, argument: str, seconds: float | None = None) -> bool:
        """Do the work, killed after so many seconds; whether it came to its end."""
        assert self._process.stdin is not None
        self._process.stdin.write(argument + "\n")
        self._process.stdin.flush()
        child = int(self._read())
        if seconds is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                subprocess.run(["tail", f"--pid={child}", "-f", "/dev/null"], timeout=seconds, check=False)
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        return int(self._read()) == 0

    def close(self) -> None:
        """Let it go."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


@contextlib.contextmanager
def keeper(work: str) -> Iterator[Keeper]:
    """A keeper for the length of a test; ``work`` defines the function ``work(argument)``."""
    made = Keeper(work)
    try:
        yield made
    finally:
        made.close()


def files_of(folder: Path) -> dict[str, bytes]:
    """Path -> bytes of everything in a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def names_in(folder: Path) -> list[str]:
    """What stands in a folder under a visible name."""
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))


def codes(problems: Iterable[Any]) -> set[str]:
    """The codes of problems."""
    return {problem.code for problem in problems}
