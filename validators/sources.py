"""A user's rows of one table, in a JSON Lines file: what they may lack, and what is wrong with the file itself.

Rows of a user need not have what follows from other columns (it is filled in) or what only a builder
knows. A line that is no JSON object, or has the key of an earlier one, is a finding and left out; a column
that no row has is one finding.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from schemas.benchmarks import Benchmark
from schemas.derived import completed, derivations, planned
from schemas.errors import RequestError
from schemas.findings import Finding, Severity
from schemas.rows import lines_jsonl
from schemas.tables import Row, Table
from validators.own_rows import OwnRows
from validators.records import row_name

_SOURCE = "file of rows"


class UserFile:
    """A user's rows of one table, read whole.

    ``rows`` are those that can be judged, with their derived columns; ``lines`` says on which line the row of
    an id stands; ``findings`` are about lines and columns, each with its line in ``line_of``.
    Raises RequestError for a missing file, for one of another form and for one without any row.
    """

    def __init__(self, path: Path, table: Table) -> None:
        self.path, self.table = path, table
        self.lines: dict[str, int] = {}
        self.findings: list[Finding] = []
        self.line_of: dict[Finding, int] = {}
        self.left_out = 0
        self._as_given: dict[str, Row] = {}
        self.rows = completed(table, list(self._read()))
        self.own = self._own()

    def given(self, row_ids: set[str]) -> Iterator[tuple[int, str, Row]]:
        """Line, id and row of some rows, as they stand in the file, in order."""
        return ((self.lines[row_id], row_id, row) for row_id, row in self._as_given.items() if row_id in row_ids)

    def _read(self) -> Iterator[Row]:
        first: RequestError | None = None
        for line, row in lines_jsonl(self.path):
            if isinstance(row, RequestError):
                first = first or row
                message = f"is not a row: {row.what}, expected {row.expected}; it is skipped"
                self._leave_out(line, "schema.line", f"line {line}", message)
                continue
            row_id = row_name(self.table, row, len(self.lines) + 1)
            if row_id in self.lines:
                message = f"on line {line} is the key of line {self.lines[row_id]} too; the later row is left out"
                self._leave_out(line, "table.duplicate_key", row_id, message)
                continue
            self.lines[row_id], self._as_given[row_id] = line, row
            yield row
        if not self.lines:
            raise first or RequestError("no rows", self.path, expected="one JSON object a line")

    def _leave_out(self, line: int, code: str, row_id: str, message: str) -> None:
        field = self.table.key[0] if code.startswith("table.") else None
        found = Finding(code, self.table.name, row_id, field, "error", None, None, message, _SOURCE)
        self.findings.append(found)
        self.line_of[found] = line
        self.left_out += 1

    def _own(self) -> OwnRows:
        """What these rows lack, and may; a finding for each column that none of them has."""
        columns = self.table.schema["properties"]
        may_lack = {*planned(self.table), *derivations(self.table.record, self.table.home)}
        present = {name for row in self.rows for name in row}
        absent = frozenset(columns) - present
        for column in columns:
            if column in absent:
                optional, source = column in may_lack, columns[column].get("x-source", "record schema")
                message = "occurs in no row" + ("; checks that need it are skipped" if optional else "")
                severity: Severity = "note" if optional else "error"
                where = (self.table.name, "", column, severity, None, None)
                self.findings.append(Finding("schema.absent_column", *where, message, source))
        return OwnRows(absent, absent | may_lack)


def table_of(path: Path, name: str | None, benchmark: Benchmark) -> Table:
    """The table of a user's file: the one named, or the one the file is called after."""
    if name is not None:
        return benchmark.table(name)
    if path.stem in benchmark.tables:
        return benchmark.table(path.stem)
    raise RequestError("unknown table of the rows", path, fix=f"Say which with --table: {', '.join(benchmark.tables)}")
