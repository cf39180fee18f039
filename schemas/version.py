"""Which code this is: the package's version, and a digest of every file that decides what a build contains.

A build records both beside its rows, and ``python -m releases rebuild`` compares them: the same
digest and the same seed give the same rows.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.metadata
import platform
import re
import tomllib
from pathlib import Path

DISTRIBUTION = "anamnesis"

# The stages that make rows or repair them. What freezes or evaluates rows does not change them.
BUILDING = ("schemas", "models", "audits", "validators", "builders")

_ROOT = Path(__file__).resolve().parent.parent


@functools.cache
def package_version() -> str:
    """The version in ``pyproject.toml`` of a checkout, or of the installed distribution."""
    project = _ROOT / "pyproject.toml"
    if project.is_file():
        return str(tomllib.loads(project.read_text("utf-8"))["project"]["version"])
    return importlib.metadata.version(DISTRIBUTION)


@functools.cache
def code_digest(packages: tuple[str, ...] = BUILDING) -> str:
    """SHA-256 over the paths and contents of all files of packages (the building stages), in order of path."""
    total = hashlib.sha256()
    for path in sorted(_files(packages), key=lambda path: path.relative_to(_ROOT).as_posix()):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        total.update(f"{path.relative_to(_ROOT).as_posix()}\x1f{content}\n".encode())
    return total.hexdigest()


@functools.cache
def environment_digest() -> str:
    """SHA-256 over the versions of Python and of every installed package that the project requires."""
    required = (re.match(r"[\w.-]+", line) for line in importlib.metadata.requires(DISTRIBUTION) or ())
    found = [platform.python_version()]
    for name in sorted({match[0] for match in required if match}):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found.append(f"{name} {importlib.metadata.version(name)}")
    return hashlib.sha256("\n".join(found).encode()).hexdigest()


def _files(packages: tuple[str, ...]) -> list[Path]:
    found = (path for package in packages for path in (_ROOT / package).rglob("*"))
    return [path for path in found if path.is_file() and "__pycache__" not in path.parts and path.name[0] != "."]
