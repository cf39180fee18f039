"""Where the rows of a release come from and who reviewed them, counted as they pass by on their way to disk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from schemas.tables import Row
from schemas.version import package_version

_COLUMNS = ("origin", "backend", "model", "prompt", "prompt_digest", "seed")

Group = tuple[Any, ...]
Counts = dict[str, Any]


class Tally:
    """Rows by table and provenance, and by review status where a table has one."""

    def __init__(self) -> None:
        self._rows: Counter[Group] = Counter()
        self._repaired: Counter[Group] = Counter()
        self._reviews: dict[str, Counter[str]] = {}

    def watch(self, table: str, rows: Iterable[Row]) -> Iterator[Row]:
        """The same rows, counted."""
        for row in rows:
            if "provenance" in row:
                source = row["provenance"] or {}
                group = (table, *(source.get(column) for column in _COLUMNS))
                self._rows[group] += 1
                self._repaired[group] += bool(source.get("repairs"))
            if isinstance(row.get("review"), dict) and "status" in row["review"]:
                self._reviews.setdefault(table, Counter())[row["review"]["status"]] += 1
            yield row

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
