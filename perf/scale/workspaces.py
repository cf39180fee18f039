"""A workspace of any size: the memories and ledgers of heart@2.0.0 under the ids of so many characters.

The offline writer's own texts, a thousand a character; nothing is compared across characters, so it does not matter
that every eleventh has the same ones.

    python -m perf.scale.workspaces build/scale --characters 100
    python -m releases freeze many-memories@1.0.0 --benchmark perf/scale/many-memories --workspace build/scale
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from releases.opening import open_release
from schemas.command import whole_number
from schemas.rows import encode, write_whole
from schemas.workspace import Workspace

BENCHMARK = Path(__file__).parent / "many-memories"
SOURCE = "heart@2.0.0"

# Ids of as many digits stand in the order of their numbers.
_FIRST = 1_000_000

_PREFIXES = (b"MEM_", b"CHAR_", b"LED_")


def write_workspace(root: Path, characters: int) -> Workspace:
    """A workspace with a thousand memories a character, one working file each."""
    workspace, release = Workspace(root, BENCHMARK), open_release(SOURCE)
    with workspace.lock():
        for table in ("ledgers", "memories"):
            files: dict[str, bytes] = defaultdict(bytes)
            for row in release.rows(table):
                files[row["character_id"]] += encode(row)
            names = sorted(files)
            for number in range(1, characters + 1):
                source = names[number % len(names)]
                key = f"CHAR_{number:06d}"
                write_whole(workspace.path(table, key), [_renamed(files[source], source, key)])
    return workspace


def copy_users(source: Workspace, target: Workspace, users: int) -> None:
    """A workspace of PersonaLens with the users of another and their situations, again and again under further ids."""
    with target.lock():
        for name in ("preferences", "tasks"):
            write_whole(target.path(name, "all"), [encode(row) for row in source.rows(name)])
        for name in ("users", "situations"):
            lines: dict[str, list[bytes]] = defaultdict(list)
            for row in source.rows(name):
                lines[row["user_id"]].append(encode(row).replace(f'"{row["user_id"]}"'.encode(), b'"%s"'))
            write_whole(target.path(name, "all"), _copies(list(lines.values()), users))


def _copies(each: list[list[bytes]], users: int) -> Iterator[bytes]:
    for number in range(users):
        for line in each[number % len(each)]:
            yield line.replace(b'"%s"', b'"user%d"' % (_FIRST + number))


def _renamed(lines: bytes, source: str, key: str) -> bytes:
    old, new = source.partition("_")[2].encode(), key.partition("_")[2].encode()
    for prefix in _PREFIXES:
        lines = lines.replace(prefix + old, prefix + new)
    return lines


def main(argv: Sequence[str] | None = None) -> int:
    """Write a workspace."""
    made = argparse.ArgumentParser(prog="python -m perf.scale.workspaces", description=__doc__)
    made.add_argument("folder", type=Path)
    made.add_argument("--characters", type=whole_number(1, 10**6), default=100)
    arguments = made.parse_args(argv)
    write_workspace(arguments.folder, arguments.characters)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
