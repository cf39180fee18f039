"""Is a release exactly what its manifest says? Every byte, every row, and nothing besides.

Found, each with its place: a changed, missing, extra, renamed or linked file; rows that are not the
declared ones, in a table whose bytes fit a manifest that was adapted to them; a manifest that was
edited; a path that leaves the folder; with ``--signature`` a manifest that the key did not sign; with
``--expect`` a release other than the one that was cited.

    python -m releases verify heart@0.1.0
"""

from __future__ import annotations

import argparse
import hashlib
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from releases.content import ContentDigest, schema_digest
from releases.manifest import MAX_BYTES, Manifest, Problem, decode
from releases.parquet import read_batches
from releases.publishing.sign import SIGNATURE, signature_problem
from schemas.command import DONE, FINDINGS, print_json, say
from schemas.release_names import MANIFEST, add_release, locate, parse_name

HELP = "check every byte and row of a release"
EXAMPLE = "python -m releases verify heart@0.1.0"


@dataclass(frozen=True)
class Verified:
    """What was looked at and what was found; ``manifest`` is None when it cannot be used."""

    manifest: Manifest | None
    problems: tuple[Problem, ...]
    files: int
    size: int
    rows: int


def verify(folder: Path, *, public_key: Path | None = None, expect: str | None = None) -> Verified:
    """Check a release's folder against its manifest: bytes, rows, and that there is nothing else."""
    manifest, problems = read_manifest(folder)
    if public_key is not None and (problem := signature_problem(folder, public_key)):
        problems.append(problem)
    if manifest is None:
        return Verified(None, tuple(problems), 0, 0, 0)
    if expect is not None and expect != manifest["digest"]:
        problems.append(Problem(MANIFEST, "manifest.unexpected", f"digest is {manifest['digest']}, expected {expect}"))
    problems += file_problems(folder, manifest)
    broken = {problem.place for problem in problems}
    rows = 0
    for name, table in manifest["tables"].items():
        if not broken & {file["path"] for file in table["files"]}:
            rows += table["rows"]
            problems += _table_problems(folder, manifest, name)
    files = manifest["files"]
    return Verified(manifest, tuple(sorted(set(problems))), len(files), sum(f["bytes"] for f in files.values()), rows)


def read_manifest(folder: Path) -> tuple[Manifest | None, list[Problem]]:
    """The manifest of a release, and what is wrong with it; None when it cannot be used."""
    if folder.is_symlink():
        return None, [Problem(".", "file.symlink", "the release is a symbolic link")]
    path = folder / MANIFEST
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None, [Problem(MANIFEST, "file.missing", "no manifest")]
    except OSError as error:
        return None, [
            Problem(MANIFEST, "file.symlink" if path.is_symlink() else "file.unreadable", str(error.strerror))
        ]
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return None, [Problem(MANIFEST, "file.kind", "not a regular file")]
        return decode(file.read(MAX_BYTES + 1))


def file_problems(folder: Path, manifest: Manifest, only: Iterable[str] | None = None) -> list[Problem]:
    """What is wrong with the files' bytes; with ``only``, of these files and without looking for others."""
    declared = manifest["files"]
    present = dict(_walk(folder))
    problems = []
    for name in declared if only is None else only:
        problem = _file_problem(folder / name, name, declared[name], present.pop(name, None))
        problems += [problem] if problem else []
    if only is None:
        needed = {str(parent) for name in declared for parent in Path(name).parents}
        for name, kind in sorted(present.items()):
            if name not in (MANIFEST, SIGNATURE) and not (kind == "folder" and name in needed):
                problems.append(Problem(name, *_UNWANTED.get(kind, ("file.extra", f"a {kind} that is not declared"))))
            elif name == SIGNATURE and kind != "file":
                problems.append(Problem(name, "file.kind", f"a {kind}"))
    return problems


_UNWANTED = {"symbolic link": ("file.symlink", "a symbolic link, which may lead out of the release")}


def _walk(folder: Path, below: str = "") -> Iterator[tuple[str, str]]:
    """Path and kind of everything in a folder, following no link."""
    with os.scandir(folder / below) as entries:
        for entry in entries:
            name = f"{below}{entry.name}"
            if entry.is_symlink():
                yield name, "symbolic link"
            elif entry.is_dir(follow_symlinks=False):
                yield name, "folder"
                yield from _walk(folder, f"{name}/")
            else:
                yield name, "file" if entry.is_file(follow_symlinks=False) else "special file"


def _file_problem(path: Path, name: str, declared: Manifest, kind: str | None) -> Problem | None:
    if kind is None:
        return Problem(name, "file.missing", "declared, not there")
    if kind != "file":
        return Problem(name, *_UNWANTED.get(kind, ("file.kind", f"a {kind} in place of a file")))
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size != declared["bytes"]:
            return Problem(name, "file.size", f"{size:,} bytes, declared {declared['bytes']:,}")
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    if sha256 != declared["sha256"]:
        return Problem(name, "file.bytes", f"SHA-256 is {sha256}, declared {declared['sha256']}")
    return None


def _table_problems(folder: Path, manifest: Manifest, name: str) -> list[Problem]:
    """What is wrong with a table's rows; its files' bytes are already known to be the declared ones."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = manifest["tables"][name]
    paths = [folder / file["path"] for file in table["files"]]
    digest = ContentDigest()
    before: tuple[str | int, ...] | None = None
    try:
        for path, file in zip(paths, table["files"], strict=True):
            shape = schema_digest(pq.read_schema(path))
            if shape != table["schema_digest"]:
                return [Problem(file["path"], "table.schema", f"columns are not those of {name}")]
            start = digest.rows
            for batch in read_batches([path]):
                rows = batch.to_pylist()
                for row in rows:
                    key = tuple(row[column] for column in table["key"])
                    if before is not None and key <= before:
                        place = f"{file['path']}, row {'/'.join(map(str, key))}"
                        return [Problem(place, "table.order", f"stands after {'/'.join(map(str, before))}")]
                    before = key
                digest.update(rows)
            if digest.rows - start != file["rows"]:
                return [Problem(file["path"], "table.rows", f"{digest.rows - start} rows, declared {file['rows']}")]
    except (pa.ArrowException, OSError, KeyError, TypeError) as error:
        return [Problem(name, "table.unreadable", str(error).splitlines()[0])]
    if digest.hexdigest() != table["content_digest"]:
        return [Problem(name, "table.content", f"rows give {digest.hexdigest()}, declared {table['content_digest']}")]
    return []


def add_arguments(made: argparse.ArgumentParser) -> None:
    """The arguments of ``verify``."""
    add_release(made)
    made.add_argument(
        "--signature", type=Path, metavar="PUBLIC.pem", help="also demand a signature by this Ed25519 key"
    )
    made.add_argument("--expect", metavar="DIGEST", help="also demand this digest, e.g. from a citation")


def run(args: argparse.Namespace) -> int:
    """The verb."""
    folder = locate(args.release, args.frozen)
    checked = verify(folder, public_key=args.signature, expect=args.expect)
    problems = [*checked.problems, *misnamed(args.release, checked.manifest)]
    if args.json:
        print_json(_document(args.release, checked, problems))
        return FINDINGS if problems else DONE
    for problem in problems:
        say(str(problem))
    counts = f"{checked.files} files, {checked.size:,} bytes, {checked.rows:,} rows"
    if problems or checked.manifest is None:
        say(f"{args.release} does not verify: {len(problems)} problem{'s'[: len(problems) != 1]}")
        return FINDINGS
    signed = "" if args.signature is None else ", signed by that key"
    say(f"{args.release} verifies: {counts}{signed}\ndigest {checked.manifest['digest']}", quiet=args.quiet)
    return DONE


def misnamed(release: str, manifest: Manifest | None) -> list[Problem]:
    """A release asked for by name must bear that name."""
    if manifest is None or "@" not in release:
        return []
    asked, found = str(parse_name(release)), f"{manifest['name']}@{manifest['version']}"
    return [] if asked == found else [Problem(MANIFEST, "manifest.name", f"is {found}, expected {asked}")]


def _document(release: str, checked: Verified, problems: list[Problem]) -> dict[str, object]:
    return {
        "release": release,
        "ok": not problems,
        "digest": checked.manifest["digest"] if checked.manifest else None,
        "content_digest": checked.manifest["content_digest"] if checked.manifest else None,
        "files": checked.files,
        "bytes": checked.size,
        "rows": checked.rows,
        "problems": [{"place": p.place, "code": p.code, "message": p.message} for p in problems],
    }
