"""Findings of single rows by content: a row that was audited before, beside the same rows, is not audited again.

What is found in a row by itself depends on the row, on the rows of other tables that its audits look things up in,
on the table's declaration, on the codes wanted, and on the code and data of the audits. An entry is named by the
digest of all of these; whatever changes, the name changes, and the row is audited. What rows are found for beside one
another (duplicates, repeated keys, coverage) is never cached. A row that gets an entry is audited beside those rows
alone that are part of the entry's name, so that it cannot depend on others.

    build/heart/.audits/memories/CHAR_04.json

A file has the entries of the rows that its working file had when it was built or audited last; one that is damaged is
not used, and is named in ``lines``. Used by ``python -m audits``, ``python -m releases freeze`` and
``builders.memories``.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from audits.subjects import Related, subjects
from schemas.findings import Finding
from schemas.rows import write_whole
from schemas.tables import Row, Table
from schemas.version import code_digest, environment_digest

if TYPE_CHECKING:
    from schemas.workspace import Workspace

FOLDER = ".audits"

_CODE = ("schemas", "models", "audits")
_BETWEEN_ROWS = "duplicate."
"""Codes that no row has by itself: entries do not depend on whether they are wanted."""


@dataclass(frozen=True)
class Group:
    """Rows that are audited together: their places in the table, and the rows that they are audited beside.

    Rows that cannot be ``named`` stand one after the other in the table.
    """

    places: Sequence[int]
    related: Related
    named: bool = True


RunGroups = Callable[[Sequence[Group]], Iterable[Sequence[Finding]]]
"""Audits groups, each by itself, and returns their findings in order of group."""


Entries = dict[str, list[dict[str, Any]]]
"""Findings by the digest of all that they depend on."""


@dataclass
class AuditCache:
    """Entries by name; ``used`` are the names that rows asked for, each with the working file of the row.

    ``misses`` counts the rows that had to be audited; ``lines`` are for people: files that are of no use.
    """

    entries: Entries = field(default_factory=dict)
    used: dict[str, str] = field(default_factory=dict)
    misses: int = 0
    lines: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, workspace: Workspace, table: str, keys: Iterable[str]) -> AuditCache:
        """What is known of the rows of some working files of a table."""
        made = cls()
        for path in (path for key in keys if (path := _path(workspace, table, key)).is_file()):
            seal, _, body = path.read_bytes().partition(b"\n")
            if seal == _seal(body):
                made.entries.update(orjson.loads(body))
            else:
                made.lines.append(f"{path} is damaged: its rows are audited again")
        return made

    def used_by(self, key: str) -> Entries:
        """The entries that rows of a working file used."""
        return {name: self.entries[name] for name, file in sorted(self.used.items()) if file == key}

    def save(self, workspace: Workspace, table: str, keys: Iterable[str]) -> None:
        """Store the entries that rows of these working files used; nothing where all of them had been stored."""
        try:
            for key in keys if self.misses or self.lines else ():
                write_entries(workspace, table, key, self.used_by(key))
        except OSError as error:
            self.lines.append(f"findings are not stored in {workspace.folder / FOLDER}: {error.strerror}")

    def findings(
        self, table: Table, rows: Sequence[Row], related: Related, wanted: Collection[str], run: RunGroups
    ) -> list[Finding]:
        """The findings of every row by itself, in order of row: stored ones, and those of ``run`` for other rows."""
        names, groups = self._missing(table, rows, related, wanted)
        fresh: dict[int, list[Finding]] = {}
        for group, found in zip(groups, run(groups), strict=True):
            fresh |= _by_place(table, rows, group, found)
        self.misses += len(fresh)
        made: list[Finding] = []
        for place, (row, name) in enumerate(zip(rows, names, strict=True)):
            if name:
                self.used[name] = str(_file_of(table, row) or "all")
                if place in fresh:
                    self.entries[name] = [finding.as_dict() for finding in fresh[place]]
            found_here = fresh.get(place)
            made += [Finding.from_dict(each) for each in self.entries[str(name)]] if found_here is None else found_here
        return made

    def _missing(
        self, table: Table, rows: Sequence[Row], related: Related, wanted: Collection[str]
    ) -> tuple[list[str | None], list[Group]]:
        """The name of every row's entry, None where a row can have none; and the rows to audit, in groups."""
        files = _by_file(table, related)
        contexts: dict[Hashable, tuple[bytes | None, Related]] = {}
        names: list[str | None] = []
        together: dict[Hashable, list[int]] = defaultdict(list)
        alone: list[int] = []
        for place, (row, single) in enumerate(zip(rows, _single(table, rows), strict=True)):
            file = _file_of(table, row)
            if file not in contexts:
                beside = {name: rows_of[file] for name, rows_of in files.items()}
                contexts[file] = _context(table, beside, wanted), beside
            name = _name(contexts[file][0], row) if single else None
            names.append(name)
            if name is None:
                alone.append(place)
            elif name not in self.entries:
                together[file].append(place)
        groups = [Group(places, contexts[file][1]) for file, places in together.items()]
        return names, [*(Group(places, related, named=False) for places in _runs(alone)), *groups]


def write_entries(workspace: Workspace, table: str, key: str, entries: Entries) -> None:
    """Store the entries of a working file's rows, whole."""
    body = orjson.dumps(entries)
    write_whole(_path(workspace, table, key), [_seal(body), b"\n", body])


def _path(workspace: Workspace, table: str, key: str) -> Path:
    return workspace.folder / FOLDER / table / f"{key}.json"


def _seal(body: bytes) -> bytes:
    return hashlib.sha256(body).hexdigest().encode()


def _single(table: Table, rows: Sequence[Row]) -> list[bool]:
    """Of each row whether its id is its own, so that findings can be told to be its."""
    ids = [subject.id for subject in subjects(table.record, table.key, rows, 0)]
    times = Counter(ids)
    return [times[row_id] == 1 and not row_id.startswith("#") for row_id in ids]


def _file_of(table: Table, row: Row) -> Hashable:
    value = row.get(table.file) if table.file else None
    return value if isinstance(value, str | int) else None


def _by_file(table: Table, related: Related) -> dict[str, Mapping[Hashable, Sequence[Row]]]:
    """The rows of the tables that the audits read by the working file of the table that they belong to.

    A table whose rows do not say which one belongs to all of them as a whole.
    """
    made: dict[str, Mapping[Hashable, Sequence[Row]]] = {}
    for name in (name for name in table.reads if name in related and name != table.name):
        files: dict[Hashable, list[Row]] = defaultdict(list)
        alike = table.file is not None and all(table.file in row for row in related[name])
        for row in related[name] if alike else ():
            files[_file_of(table, row)].append(row)
        made[name] = files if alike else _Everywhere(related[name])
    return made


class _Everywhere(dict[Hashable, Sequence[Row]]):
    """The same rows for every working file."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = rows

    def __missing__(self, file: Hashable) -> Sequence[Row]:
        return self._rows


def _context(table: Table, related: Related, wanted: Collection[str]) -> bytes | None:
    """The digest of all that a finding depends on beside its row; None where there are rows that have none."""
    declared = [table.record, table.key, table.file, table.audits, table.reads, table.text, table.metadata]
    codes = sorted(code for code in wanted if not code.startswith(_BETWEEN_ROWS))
    version = [code_digest(_CODE), environment_digest()]
    return _digest([version, declared, table.schema, table.shipped, codes, dict(related)])


def _name(context: bytes | None, row: Row) -> str | None:
    digest = None if context is None else _digest(row)
    return None if digest is None or context is None else hashlib.sha256(context + digest).hexdigest()


def _digest(value: Any) -> bytes | None:
    """The digest of a value as JSON; None for one that JSON cannot carry, such as half a surrogate pair."""
    try:
        return hashlib.sha256(orjson.dumps(value)).digest()
    except (TypeError, ValueError):
        return None


def _runs(places: Sequence[int]) -> list[list[int]]:
    """Places in runs without a gap."""
    made: list[list[int]] = []
    for place in places:
        if made and made[-1][-1] == place - 1:
            made[-1].append(place)
        else:
            made.append([place])
    return made


def _by_place(table: Table, rows: Sequence[Row], group: Group, found: Sequence[Finding]) -> dict[int, list[Finding]]:
    """Findings by the place of their row; of rows that cannot be told apart all stand at the first."""
    made: dict[int, list[Finding]] = {place: [] for place in group.places}
    if not group.named:
        return {**made, group.places[0]: list(found)}
    read = subjects(table.record, table.key, [rows[place] for place in group.places], 0)
    places = {subject.id: place for subject, place in zip(read, group.places, strict=True)}
    for finding in found:
        made[places[finding.row_id]].append(finding)
    return made
