"""Which releases are there (``list``), and what is in one (``show``).

python -m releases list
python -m releases show heart@2.0.0
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from releases.checking.files import read_manifest
from releases.opening import Release, open_release
from releases.query import views
from releases.roles import records
from schemas.command import DONE, FINDINGS, print_json, say
from schemas.release_names import Name, add_frozen, add_release, benchmarks, versions

if TYPE_CHECKING:
    import pyarrow as pa

LIST_HELP = "list the releases"
LIST_EXAMPLE = "python -m releases list"
SHOW_HELP = "show what is in a release: tables, views, where it comes from"
SHOW_EXAMPLE = "python -m releases show heart@2.0.0"


def listed(frozen: Path) -> list[dict[str, Any]]:
    """One record a release, by benchmark and version; ``problem`` is set where the manifest cannot be used."""
    names = (Name(benchmark, version) for benchmark in benchmarks(frozen) for version in versions(frozen, benchmark))
    return [_record(name, frozen) for name in names]


def _record(name: Name, frozen: Path) -> dict[str, Any]:
    manifest, problems = read_manifest(name.folder(frozen))
    record: dict[str, Any] = {"release": str(name), "folder": str(name.folder(frozen))}
    if manifest is None or problems:
        return record | {"problem": str(min(problems))}
    return record | {
        "rows": sum(table["rows"] for table in manifest["tables"].values()),
        "bytes": sum(file["bytes"] for file in manifest["files"].values()),
        "parent": manifest["parent"]["version"] if manifest["parent"] else None,
        "change": manifest["parent"]["change"] if manifest["parent"] else None,
        "released": manifest["released"],
        "digest": manifest["digest"],
        "content_digest": manifest["content_digest"],
        "problem": None,
    }


def add_list_arguments(made: argparse.ArgumentParser) -> None:
    """The arguments of ``list``."""
    add_frozen(made)


def add_show_arguments(made: argparse.ArgumentParser) -> None:
    """The arguments of ``show``."""
    add_release(made)


def run_list(args: argparse.Namespace) -> int:
    """The verb ``list``."""
    records = listed(args.frozen)
    if args.json:
        print_json(records)
    elif not records:
        say(f"no releases in {args.frozen}", quiet=args.quiet)
    for record in [] if args.json else records:
        if record["problem"]:
            _print([f"{record['release']}  {record['problem']}"])
            continue
        step = f"{record['change']} after {record['parent']}" if record["parent"] else "first"
        size = f"{record['rows']:>9,} rows  {record['bytes']:>13,} bytes"
        _print([f"{record['release']:<24}{size}  {record['digest'][:16]}  {step}"])
    return FINDINGS if any(record["problem"] for record in records) else DONE


def run_show(args: argparse.Namespace) -> int:
    """The verb ``show``."""
    release = open_release(args.release, args.frozen)
    if args.json:
        print_json(release.manifest)
    else:
        _print(_shown(release))
    return DONE


def _shown(release: Release) -> Iterable[str]:
    manifest = release.manifest
    yield f"{release.name}  {manifest['title']}"
    yield f"folder   {release.folder}"
    yield f"digest   {release.digest}"
    yield f"content  {release.content_digest}"
    yield f"licence  {manifest['license']}"
    if parent := manifest["parent"]:
        yield f"parent   {parent['version']} ({parent['change']}: {'; '.join(parent['reasons'])})"
    for group in manifest["built"]["rows"]:
        maker = " ".join(str(group[part]) for part in ("origin", "backend", "model", "prompt") if group[part])
        yield f"made by  {group['table']}: {group['rows']:,} rows, {maker or 'a person'}"
    for table, counts in manifest["review"].items():
        yield f"review   {table}: {', '.join(f'{status} {count:,}' for status, count in counts.items())}"
    for allowed in manifest["checks"]["allowed"]:
        yield f"allowed  {allowed['code']} {allowed['findings']:,}: {allowed['why']}"
    for table, rows in release.tables.items():
        yield f"\n{table}  {rows:,} rows, key {', '.join(release.key(table))}"
        yield from (f"  {field.name}  {_kind(field)}" for field in release.schema(table))
    for view in views(records(manifest)):
        yield f"\n{view.name}  (view) {view.about}"


def _kind(field: pa.Field[Any]) -> str:
    """A column's type in few words: ``{…}`` a struct, ``[…]`` a list, ``?`` where it may be null."""
    import pyarrow as pa

    kind = field.type
    if pa.types.is_struct(kind):
        shown = "{" + ", ".join(kind.field(index).name for index in range(kind.num_fields)) + "}"
    else:
        shown = f"[{_kind(kind.value_field)}]" if pa.types.is_list(kind) else str(kind)
    return shown + ("?" if field.nullable else "")


def _print(lines: Iterable[str]) -> None:
    """What was asked for goes to stdout; only what accompanies it goes to stderr."""
    sys.stdout.writelines(f"{line}\n" for line in lines)
