"""What a model has to beat: rates that need no model, measured on the release itself.

Three kinds. Of every table of keys, the answer that is right most often, given to every question. What a card declares
(``[[floor]]``: name, needs, sql), as readers that go by single words of what a model is shown: a SELECT of an item a
row, with ``is_right``, ``chance`` and ``grouped_by``. And what the audit of shortcuts measured before the freeze: how
often a question can be answered from its options alone, by their length, or by whose they are (``checks.audits`` of the
manifest).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from audits.shortcuts.rates import Rate, rate
from releases.asking.bounded import Patience, at_most
from releases.cards.texts import Texts
from releases.manifest import Manifest
from releases.query import ask
from schemas.errors import RequestError

if TYPE_CHECKING:
    import duckdb

_MOST_VALUES = 12
"""Of a column of gold that can be guessed; one with more different values is no closed answer."""


def measured(connection: duckdb.DuckDBPyConnection, manifest: Manifest, patience: Patience) -> list[dict[str, Any]]:
    """The rates: name, items, rate, its 95 % interval (Wilson, over the questions of this release), and chance."""
    return [
        *_commonest(connection, manifest, patience),
        *_declared(connection, manifest, patience),
        *_of_audits(manifest),
    ]


def shown(found: Sequence[Mapping[str, Any]], said: Texts) -> str:
    """The rates as the card shows them, and which of its floors no row of this release has."""
    named = {each["name"] for each in found}
    missing = [floor["name"] for floor in said["floor"] if floor["name"] not in named]
    parts = [_table(found, said["spec"])] if found else []
    if missing:
        parts.append(f"Not measured, as no row of this release can be asked it: {'; '.join(missing)}.")
    if not parts:
        return "None was measured: nothing in this release has a closed answer."
    return "\n\n".join(filter(None, [*parts, said.get("floors_about", "").strip()]))


def _table(found: Sequence[Mapping[str, Any]], spec: str) -> str:
    lines = ["| measured | of | rate | 95 % interval | by chance |", "|---|---:|---:|---|---:|"]
    for each in found:
        rate, low, high, chance = (f"{each[part]:.1%}" for part in ("rate", "low", "high", "chance"))
        lines.append(f"| {each['name']} | {each['items']:,} | {rate} | {low} to {high} | {chance} |")
    return (
        "\n".join(lines) + "\n\nA model that is no better than these has shown nothing. What is given for every "
        f"question is the answer that is right most often; what reads more than options is a SELECT that stands in "
        f"the manifest (`card.floor`); the rest is measured by `python -m audits.shortcuts --benchmark {spec}`. "
        "Intervals are Wilson's, over the questions of this release."
    )


def _of_audits(manifest: Manifest) -> Iterator[dict[str, Any]]:
    for checked in manifest["checks"]["audits"].values():
        yield from checked["figures"]


def _commonest(
    connection: duckdb.DuckDBPyConnection, manifest: Manifest, patience: Patience
) -> Iterator[dict[str, Any]]:
    for name, table in sorted(manifest["tables"].items()):
        roles = table.get("roles")
        for column in roles["gold"] if roles and roles["role"] == "keys" and table["rows"] else ():
            sql = f'SELECT "{column}", count(*) AS n FROM "{name}" WHERE "{column}" IS NOT NULL GROUP BY 1'
            with ask(connection, f"{sql} ORDER BY n DESC, 1 LIMIT {_MOST_VALUES + 1}", patience) as batches:
                counts = [tuple(row.values()) for batch in batches for row in batch.to_pylist()]
            if not 1 < len(counts) <= _MOST_VALUES or not isinstance(counts[0][0], str | int):
                continue
            items, (value, hits) = sum(count for _, count in counts), counts[0]
            right, chance = [1.0] * hits + [0.0] * (items - hits), 1 / len(counts)
            found = rate(right, [chance] * items, [str(n) for n in range(items)])
            yield _figure(f"`{value}` for every `{name}.{column}`", found)


def _declared(
    connection: duckdb.DuckDBPyConnection, manifest: Manifest, patience: Patience
) -> Iterator[dict[str, Any]]:
    most = sum(table["rows"] for table in manifest["tables"].values())
    for floor in manifest["card"].get("floor", ()):
        if not set(floor["needs"]) <= manifest["tables"].keys():
            continue
        with ask(connection, floor["sql"], patience) as batches:
            rows = [row for batch in at_most(batches, most, f"floor {floor['name']}") for row in batch.to_pylist()]
        if not rows:
            continue  # the card says so: ``shown``
        try:
            right = [float(row["is_right"]) for row in rows]
            found = rate(right, [float(row["chance"]) for row in rows], [str(row["grouped_by"]) for row in rows])
        except (KeyError, TypeError, ValueError):
            expected = "rows with is_right, chance and grouped_by"
            fix = "Correct its sql in the file of the card"
            raise RequestError("a floor that gives no rate", floor["name"], expected=expected, fix=fix) from None
        yield _figure(floor["name"], found)


def _figure(name: str, found: Rate) -> dict[str, Any]:
    return {"name": name, **{part: getattr(found, part) for part in ("items", "rate", "low", "high", "chance")}}
