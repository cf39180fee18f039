"""Where the rows of a release come from and who reviewed them, counted as they pass by on their way to disk."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from schemas.version import package_version

if TYPE_CHECKING:
    import pyarrow as pa

_COLUMNS = ("origin", "backend", "model", "prompt", "prompt_digest", "seed")

Group = tuple[Any, ...]
Counts = dict[str, Any]


class Tally:
    """Rows by table and provenance, and by review status where a table has one."""

    def __init__(self) -> None:
        self._rows: Counter[Group] = Counter()
        self._repaired: Counter[Group] = Counter()
        self._reviews: dict[str, Counter[str]] = {}

    def count(self, table: str, batch: pa.RecordBatch) -> None:
        """Count the rows of a batch."""
        import pyarrow as pa
        import pyarrow.compute as pc

        names = batch.schema.names
        if "provenance" in names:
            source = batch.column("provenance")
            columns = [_part(source, column) for column in _COLUMNS]
            repaired = pa.array([int(bool(repairs)) for repairs in _part(source, "repairs").to_pylist()], pa.int64())
            grouped = pa.table([*columns, repaired], [*_COLUMNS, "repaired"]).group_by(_COLUMNS, use_threads=False)
            for row in grouped.aggregate([([], "count_all"), ("repaired", "sum")]).to_pylist():
                group = (table, *(row[column] for column in _COLUMNS))
                self._rows[group] += row["count_all"]
                self._repaired[group] += row["repaired_sum"]
        if "review" in names and _has(batch.column("review"), "status"):
            reviews = batch.column("review").drop_null()
            for each in pc.value_counts(_part(reviews, "status")).to_pylist() if len(reviews) else ():
                self._reviews.setdefault(table, Counter())[each["values"]] += each["counts"]

    def add(self, counted: Counts) -> None:
        """Count what another tally counted."""
        for *group, rows, repaired in counted["rows"]:
            self._rows[tuple(group)] += rows
            self._repaired[tuple(group)] += repaired
        for table, statuses in counted["reviews"].items():
            self._reviews.setdefault(table, Counter()).update(statuses)

    def counts(self) -> Counts:
        """What was counted, as JSON can carry it: for ``add`` in another process."""
        rows = [[*group, count, self._repaired[group]] for group, count in self._rows.items()]
        return {"rows": rows, "reviews": {table: dict(statuses) for table, statuses in self._reviews.items()}}

    def built(self, recipe: dict[str, Any] | None) -> dict[str, Any]:
        """The manifest's ``built``: what froze the rows, the recipe, and the rows by provenance."""
        groups = sorted(self._rows, key=lambda group: tuple((value is None, str(value)) for value in group))
        return {
            "frozen_by": package_version(),
            "recipe": recipe,
            "rows": [
                {
                    **dict(zip(("table", *_COLUMNS), group, strict=True)),
                    "rows": self._rows[group],
                    "repaired": self._repaired[group],
                }
                for group in groups
            ],
        }

    def review(self) -> dict[str, dict[str, int]]:
        """The manifest's ``review``: rows by status, a table at a time."""
        return {table: dict(sorted(counts.items())) for table, counts in sorted(self._reviews.items())}


def _has(column: pa.Array[Any], field: str) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_struct(column.type)) and int(column.type.get_field_index(field)) >= 0


def _part(column: pa.Array[Any], field: str) -> pa.Array[Any]:
    """A field of objects; null where an object is null, or they have no such field."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.struct_field(column, field) if _has(column, field) else pa.nulls(len(column), pa.string())
