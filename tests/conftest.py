"""What tests share: the optional data folder, and valid rows of any table made from its schema."""

import contextlib
import functools
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import orjson
import pytest
from hypothesis import strategies as st

from models.rehearsal.api import Api
from models.rehearsal.server import running
from models.rehearsal.writing import Rehearsal
from schemas.benchmarks import benchmark
from schemas.tables import Row, record_schema

ROOT = Path(__file__).resolve().parents[1]

# Tests start the commands again and again: byte code, and the anchors kept with it, are made once, beside no code.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix = str(ROOT / ".pytest_cache/bytecode")
sys.dont_write_bytecode = False

# Workers share the cores: threads of a matrix product beside them only wait for each other, in loops, and processes
# that are started for what is small only read the whole program again. Tests that are about several name the number.
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
os.cpu_count = lambda: 1

# No test can cut the power: what this process writes need not reach the disk. Commands that are started do as ever.
os.fsync = lambda handle: None

# The same examples on every machine, and no deadline: machines are shared and slow at times.
hypothesis.settings.register_profile("house", derandomize=True, database=None, deadline=None)
hypothesis.settings.load_profile("house")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with the published datasets; tests that need it are skipped where it is absent."""
    folder = ROOT.parent / "shared"
    if not (folder / "data").is_dir():
        pytest.skip(f"no published data: {folder}/data is absent")
    return folder


@pytest.fixture
def small_heart() -> dict[str, list[Row]]:
    """A few rows of the tables of ``heart`` that keep all rules and links (some tables empty); fresh for every test."""
    some = orjson.loads((ROOT / "tests/cases/small_heart.json").read_bytes())
    return {name: some.get(name, []) for name in benchmark("heart").tables}


@pytest.fixture
def rehearse(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Api]]:
    """Starts the rehearsal server of ``models`` (arguments: those of Rehearsal) and points the environment at it."""
    with contextlib.ExitStack() as servers:

        def start(**behaviour: Any) -> Api:
            address, api = servers.enter_context(running(Rehearsal(**behaviour)))
            monkeypatch.setenv("ANTHROPIC_BASE_URL", address)
            monkeypatch.setenv("ANTHROPIC_API_KEY", "key-of-the-tests")
            monkeypatch.setenv("OPENAI_BASE_URL", address)
            monkeypatch.setenv("OPENAI_API_KEY", "key-of-the-tests")
            return api

        yield start


@functools.cache
def rows_of(table: str, *, filled: bool = False) -> st.SearchStrategy[Row]:
    """Rows that the table's record schema accepts; ``filled``: nothing null, no array empty."""
    return values_of(record_schema(table), filled=filled)


def one_row(table: str) -> Row:
    """The simplest row of a table with nothing null and no array empty; a fresh copy each time."""
    return orjson.loads(_one_row(table))


@functools.cache
def _one_row(table: str) -> bytes:
    drawn = []

    # The first example of a derandomised run is the simplest one.
    @hypothesis.settings(max_examples=1, phases=[hypothesis.Phase.generate], derandomize=True, database=None)
    @hypothesis.given(rows_of(table, filled=True))
    def draw(row: Row) -> None:
        drawn.append(row)

    draw()
    return orjson.dumps(drawn[0])


def values_of(node: dict[str, Any], *, filled: bool = False) -> st.SearchStrategy[Any]:
    """Values that a node of a record schema accepts."""
    kinds = [node["type"]] if isinstance(node["type"], str) else node["type"]
    (kind,) = (k for k in kinds if k != "null")
    made = _of_kind(kind, node, filled)
    return st.none() | made if "null" in kinds and not filled else made


def _of_kind(kind: str, node: dict[str, Any], filled: bool) -> st.SearchStrategy[Any]:
    if "enum" in node:
        return st.sampled_from([term for term in node["enum"] if term is not None])
    if kind == "string":
        return _strings(node)
    if kind == "integer":
        return st.integers(node["minimum"], node["maximum"])
    if kind == "number":
        return st.floats(node["minimum"], node["maximum"], allow_nan=False, allow_infinity=False)
    if kind == "boolean":
        return st.booleans()
    if kind == "array":
        least = max(node.get("minItems", 0), 1 if filled else 0)
        return lists_of(node, least, node.get("maxItems", least + 3), filled=filled)
    return st.fixed_dictionaries({name: values_of(child, filled=filled) for name, child in node["properties"].items()})


def lists_of(node: dict[str, Any], least: int, most: int, *, filled: bool = False) -> st.SearchStrategy[list[Any]]:
    """Lists of an array node with so many items, different ones where the node says so."""
    distinct = orjson.dumps if node.get("uniqueItems") else None
    return st.lists(values_of(node["items"], filled=filled), min_size=least, max_size=most, unique_by=distinct)


def _strings(node: dict[str, Any]) -> st.SearchStrategy[str]:
    least, most = node.get("minLength", 0), node.get("maxLength", node.get("minLength", 0) + 30)
    if "pattern" in node:
        # Python's `$` also matches before a final newline; JSON Schema's does not.
        return st.from_regex(node["pattern"], fullmatch=True).filter(
            lambda text: "\n" not in text and len(text) >= least and len(text) <= node.get("maxLength", 200)
        )
    return st.text(st.characters(exclude_categories=["Cs"]), min_size=least, max_size=most)
