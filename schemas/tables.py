"""Tables and links of a benchmark: what ``[tables]`` and ``[[links]]`` of its file say.

``schemas.benchmarks`` reads and checks the file; ``schemas.records`` has the schemas of the rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

# Re-exported until all callers import them from schemas.records.
from schemas.records import record_names as record_names
from schemas.records import record_path
from schemas.records import record_schema as record_schema
from schemas.records import resolved as resolved
from schemas.records import term_ids as term_ids
from schemas.records import vocabulary as vocabulary

Row = dict[str, Any]

Role = Literal["questions", "keys", "shown", "record"]


@dataclass(frozen=True)
class Table:
    """A table of a benchmark.

    - ``key``: the columns that name a row; ``record``: the record schema of the rows (default: the name)
    - ``file``: the column whose values name the working files (None: one file, ``all``)
    - ``rows``, ``rows_per``: the expected number of rows, in all and for every value of a column
    - ``filled``: the nullable fields that this benchmark requires; ``optional``: it is whole without the table
    - ``audits``: which audits the rows get (none: the table is unaudited); ``reads``: the tables these look into
    - ``text``: the column that audits read as the row's text; ``window``: the columns that rows have to agree on
      for their texts to be compared
    - ``role``: what an evaluation makes of it; ``gold``, ``metadata``: columns that are gold, columns that are
      neither shown nor scored; every other column is part of the question
    - ``gold_of``: of a table of gold, the table of questions whose rows have the same ids
    - ``home``: the folder of a benchmark of one's own
    """

    name: str
    key: tuple[str, ...]
    record: str = ""
    file: str | None = None
    rows: int | None = None
    rows_per: Mapping[str, int] | None = None
    filled: tuple[str, ...] = ()
    optional: bool = False
    audits: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    text: str | None = None
    window: tuple[str, ...] = ()
    role: Role = "shown"
    gold: tuple[str, ...] = ()
    gold_of: str | None = None
    metadata: tuple[str, ...] = ()
    home: Path | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "record", self.record or self.name)

    @property
    def schema(self) -> Mapping[str, Any]:
        """The JSON Schema of the rows."""
        return record_schema(self.record, self.home)

    @property
    def shipped(self) -> bool:
        """Whether the record is a shipped one, whose rules and figures apply; a folder's own record has none."""
        return self.home is None or not record_path(self.record, self.home).is_relative_to(self.home)

    def row_id(self, row: Mapping[str, Any]) -> str:
        """The values of the key columns, joined with ``/``."""
        return "/".join(str(row.get(column)) for column in self.key)

    def file_of(self, row: Mapping[str, Any]) -> str:
        """The working file a row belongs to."""
        return str(row[self.file]) if self.file else "all"


@dataclass(frozen=True)
class Link:
    """A reference: what stands at ``paths`` of ``table`` stands in ``columns`` of a row of ``to_table`` too.

    One path and column, or several that are looked up together. ``both_ways``: every row of ``to_table``
    is named.
    """

    table: str
    paths: tuple[tuple[str, ...], ...]
    to_table: str
    columns: tuple[str, ...]
    both_ways: bool = False

    @property
    def field(self) -> str:
        """What points: ``memories.memory_id``, or several paths joined with ``+``."""
        return "+".join(".".join(path) for path in self.paths)

    @property
    def target(self) -> str:
        """What is pointed at: a column, or several joined with ``+``."""
        return "+".join(self.columns)

    def __str__(self) -> str:
        return f"{self.table}.{self.field} -> {self.to_table}.{self.target}"
