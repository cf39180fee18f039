"""Releases at the size of HEART: freeze, verify, load and query, beside the tools people use otherwise.

Rows are made by ``perf.lives`` (11 characters, 11,000 memories of 3,300 characters), untimed. ``write``
and ``layout`` are in ``perf.storage.parquet``. ``freeze`` is the whole verb. ``load`` is the first load
through ``datasets`` with an empty cache. ``query`` runs five typical queries on an open connection, and
says the slowest.

    python -m perf.releases
    python -m perf.releases --only load --repeat 5
    python -m perf.releases --streaming
    ANAMNESIS_KILLS=50 python -m pytest tests/test_releases_freeze.py tests/test_releases_publish.py -k killed

``--streaming`` freezes and verifies 1,100,000 memories (3.6 GB of text) in a bounded amount of memory;
it takes minutes and about 6 GB of disk.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from perf.harness import Comparison, Promise, Timed, main
from perf.lives import CHARACTERS, EACH, write_heart
from perf.storage import parquet as storage
from releases.freeze import Plan, freeze
from releases.gate import check
from releases.opening import Release, load, open_release
from releases.verify import verify
from schemas.release_names import parse_name
from schemas.workspace import Workspace
from validators import check as validate

NAME = parse_name("heart@0.1.0")

# Characters of the streaming case.
_MANY = 1100

_NOTHING: Mapping[str, Any] = {"rows": 0, "ran": [], "findings": {}, "figures": []}
_UNCHECKED: Mapping[str, Any] = {"validators": _NOTHING, "audits": {}, "allowed": []}

_QUERIES = (
    "SELECT stage, count(*), avg(emotion_signature.intensity) FROM memories GROUP BY stage",
    "SELECT answer, count(*) FROM questions GROUP BY answer",
    "SELECT age, content_summary FROM timeline WHERE character_id = 'CHAR_04' ORDER BY step LIMIT 20",
    "SELECT content_full FROM memories WHERE id = 'MEM_07_0421'",
    "SELECT source_character_id, count(*) FROM options WHERE NOT is_gold GROUP BY ALL ORDER BY 2 DESC",
)


_FOLDERS = contextlib.ExitStack()


def _folder() -> Path:
    """A folder that goes when this process goes."""
    return Path(_FOLDERS.enter_context(tempfile.TemporaryDirectory(prefix="anamnesis-perf-")))


def _workspace(arguments: argparse.Namespace) -> Workspace:
    return Workspace(arguments.workspace, "heart")


def _release(arguments: argparse.Namespace) -> Release:
    return open_release(NAME.folder(arguments.frozen))


def _frozen_size(folder: Path) -> Mapping[str, Any]:
    return {"MB": round(sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6, 2)}


def _freeze(arguments: argparse.Namespace) -> Timed:
    workspace, frozen = _workspace(arguments), _folder()

    def timed() -> Mapping[str, Any]:
        start = time.perf_counter()
        outcome = check(workspace)
        checked = time.perf_counter() - start
        release = freeze(Plan(NAME, workspace, frozen), {**outcome.checks, "allowed": []})
        return {"checks_s": round(checked, 2), **_frozen_size(release.folder)}

    return timed


def _freeze_without_checks(arguments: argparse.Namespace) -> Timed:
    workspace, frozen = _workspace(arguments), _folder()
    return lambda: _frozen_size(freeze(Plan(NAME, workspace, frozen), _UNCHECKED).folder)


def _verify(arguments: argparse.Namespace) -> Timed:
    release = _release(arguments)
    return lambda: {"problems": len(verify(release.folder).problems)}


def _open(arguments: argparse.Namespace) -> Timed:
    release = _release(arguments)
    return lambda: {"digest": open_release(release.folder).digest[:8]}


def _load_bare(arguments: argparse.Namespace) -> Timed:
    release = _release(arguments)
    import datasets

    datasets.disable_progress_bars()
    files, cache = [str(path) for path in release.paths("memories")], str(_folder())
    return lambda: _loaded(datasets.load_dataset("parquet", data_files=files, split="train", cache_dir=cache))


def _load_release(arguments: argparse.Namespace) -> Timed:
    release = _release(arguments)
    import datasets

    datasets.disable_progress_bars()
    folder, cache = str(release.folder), str(_folder())
    return lambda: _loaded(datasets.load_dataset(folder, "memories", split="test", cache_dir=cache))


def _load_ours(arguments: argparse.Namespace) -> Timed:
    release = _release(arguments)
    return lambda: _loaded(load("heart", "0.1.0", "memories", release.folder.parents[1]))


def _loaded(rows: Any) -> Mapping[str, Any]:
    return {"rows": len(rows)}


def _query_ours(arguments: argparse.Namespace) -> Timed:
    release = _release(arguments)
    from releases.query import connect

    connection = connect(release)
    return lambda: _asked(connection)


def _query_plain(arguments: argparse.Namespace) -> Timed:
    """Plain DuckDB over the files, with the same views."""
    release = _release(arguments)
    import duckdb

    from releases.query import views
    from releases.roles import records

    connection = duckdb.connect()
    for table in release.tables:
        files = ", ".join(f"'{path}'" for path in release.paths(table))
        connection.execute(f"CREATE VIEW {table} AS SELECT * FROM read_parquet([{files}])")
    for view in views(records(release.manifest)):
        connection.execute(f"CREATE VIEW {view.name} AS {view.sql}")
    return lambda: _asked(connection)


def _asked(connection: Any) -> Mapping[str, Any]:
    slowest = 0.0
    for sql in _QUERIES:
        start = time.perf_counter()
        assert connection.execute(sql).fetchall()
        slowest = max(slowest, time.perf_counter() - start)
    return {"slowest_ms": round(slowest * 1000, 1)}


def _connect(arguments: argparse.Namespace) -> Timed:
    release = _release(arguments)
    from releases.query import connect

    return lambda: {"views": len(connect(release).execute("SHOW TABLES").fetchall())}


def _stream(arguments: argparse.Namespace) -> Timed:
    workspace, frozen = _workspace(arguments), _folder()

    def timed() -> Mapping[str, Any]:
        release = freeze(Plan(NAME, workspace, frozen), _UNCHECKED)
        shards = len(release.manifest["tables"]["memories"]["files"])
        return {"rows": release.tables["memories"], "shards": shards, **_frozen_size(release.folder)}

    return timed


def _stream_validators(arguments: argparse.Namespace) -> Timed:
    """The validators alone: audits take one character at a time, so their memory is that of the small case."""
    workspace = _workspace(arguments)
    tables = {name: workspace.rows(name) for name in workspace.benchmark.tables if workspace.keys(name)}
    return lambda: {"rows": sum(validate(workspace.benchmark, tables).rows.values())}


COMPARISONS = (
    *storage.COMPARISONS,
    Comparison("freeze", {"checks and all": _freeze, "without checks": _freeze_without_checks}, base="checks and all"),
    Comparison("verify", {"verify": _verify, "open": _open}, base="verify"),
    Comparison(
        "load",
        {"datasets, bare Parquet": _load_bare, "datasets, release": _load_release, "releases.load": _load_ours},
        base="datasets, bare Parquet",
        promises=(
            Promise("datasets, release", "datasets, bare Parquet", 0.8),
            Promise("releases.load", "datasets, bare Parquet", 1.0),
        ),
    ),
    Comparison(
        "query",
        {"plain duckdb": _query_plain, "ours": _query_ours, "opening ours": _connect},
        base="plain duckdb",
    ),
)

STREAMING = (Comparison("streaming", {"freeze": _stream, "validators": _stream_validators}, base="freeze"),)


def _add_arguments(made: argparse.ArgumentParser) -> None:
    made.add_argument(
        "--workspace", type=Path, metavar="DIR", help="measure on these rows of heart (default: made ones)"
    )
    made.add_argument("--streaming", action="store_true", help="instead: 1,100,000 memories, once")
    made.add_argument("--frozen", type=Path, help=argparse.SUPPRESS)
    made.add_argument("--scratch", type=Path, help=argparse.SUPPRESS)


def run(argv: Sequence[str] | None = None) -> int:
    """Make the rows and a release of them once, and run the comparisons on them; folders go with the process."""
    words = list(sys.argv[1:] if argv is None else argv)
    streaming = "--streaming" in words
    with _FOLDERS:
        if not {"--child", "--help"} & set(words):
            made = "--workspace" not in words
            words += ["--workspace", str(_folder())] if made else []
            words += [
                "--frozen",
                str(_folder()),
                "--scratch",
                str(_folder()),
                *(["--repeat", "1"] if streaming else []),
            ]
            workspace, frozen = (Path(words[words.index(name) + 1]) for name in ("--workspace", "--frozen"))
            # In a process of its own: a child's peak memory is never below its parent's.
            maker = get_context("spawn").Process(target=_prepare, args=(workspace, frozen, made, streaming))
            maker.start()
            maker.join()
        return main("perf.releases", STREAMING if streaming else COMPARISONS, words, _add_arguments)


def _prepare(workspace: Path, frozen: Path, made: bool, streaming: bool) -> None:
    if made:
        write_heart(workspace, _MANY if streaming else CHARACTERS, EACH)
    if not streaming:
        freeze(Plan(NAME, Workspace(workspace, "heart"), frozen), _UNCHECKED)


if __name__ == "__main__":
    raise SystemExit(run())
