"""What people say about a benchmark's releases: ``cards/<name>.toml``, or ``card.toml`` of a folder of one's own.

Checked when it is read. What a card does not say has a plain default; only a summary, the licence and the
table a reader gets by default have to be there.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from schemas.benchmarks import CARD, Benchmark
from schemas.documents import check_form, check_known, read_toml
from schemas.errors import RequestError

Texts = Mapping[str, Any]

_CARDS = Path(__file__).parent

_NOT_SAID = "Not said."


def card_path(benchmark: Benchmark) -> Path:
    """The file of a benchmark's card."""
    return _CARDS / f"{benchmark.name}.toml" if benchmark.home is None else benchmark.home / CARD


def card_texts(benchmark: Benchmark) -> Texts:
    """The texts of a benchmark's card, with a default for what it leaves out.

    Raises RequestError where nobody has written it yet, and for a mistake in it.
    """
    path = card_path(benchmark)
    if not path.is_file():
        raise RequestError("missing card", path, fix="Write it after the model of docs/own-benchmark.md")
    said = read_toml(path)
    check_form(said, orjson.loads((_CARDS / "card.schema.json").read_bytes()), path, "setting")
    check_known("table", [said["default_table"]], benchmark.tables, path, "default_table")
    for kind in ("figure", "config", "floor"):
        for number, entry in enumerate(said.get(kind, ())):
            check_known("table", entry["needs"], benchmark.tables, path, f"{kind}.{number}.needs")
    for record in ("raters", "ratings") if "curves" in said else ():
        name = said["curves"][record]
        check_known("table", [name], benchmark.tables, path, f"curves.{record}")
        if benchmark.tables[name].record != record:
            raise RequestError(
                f"{name} is no table of {record}", path, field=f"curves.{record}",
                expected=f"a table with the record schema {record}", fix="Name that table, or leave out [curves]",
            )  # fmt: skip
    taken = dict.fromkeys(benchmark.tables, "a table")
    for number, config in enumerate(said.get("config", ())):
        if config["name"] in taken:
            what = f"a config with the name of {taken[config['name']]}"
            raise RequestError(what, path, field=f"config.{number}.name", fix="Give it another name")
        taken[config["name"]] = "an earlier config"
    return _with_defaults(benchmark, said)


def _with_defaults(benchmark: Benchmark, said: Mapping[str, Any]) -> Texts:
    lists: dict[str, Any] = {name: [] for name in ("task_categories", "tags", "deviations")}
    lists |= {name: [_NOT_SAID] for name in ("intended", "unintended", "limits")}
    optional = ("composed", "mixed", "written", "unreviewed", "canary", "homepage", "floors_about")
    texts = dict.fromkeys((*optional, "recipe", "recipe_without_keys"), "")
    texts["recipe_about"] = "A whole evaluation, with a model of your own in the place of `ask`:"
    texts["recipe_without_keys_about"] = (
        "The answers of a model of your own, in the place of `ask`, for whoever scores them:"
    )
    rai = {
        **dict.fromkeys(("collection", "annotation", "manipulation", "social_impact"), _NOT_SAID),
        **{name: [_NOT_SAID] for name in ("collection_type", "preprocessing", "biases", "sensitive")},
    }
    return {
        **lists,
        **texts,
        "language": ["en"],
        "maintenance": "Releases are never changed. Corrections are new versions.",
        "citation": {"key": benchmark.name.replace("-", "_"), "title": benchmark.title},
        "authors": ["Anamnesis"],
        "figure": [],
        "config": [],
        "floor": [],
        "curves": None,
        **said,
        "spec": benchmark.name if benchmark.home is None else "DIR",
        "rai": {**rai, **said.get("rai", {})},
    }
