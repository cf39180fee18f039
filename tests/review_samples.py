"""A review played by three annotators and an arbitrator on the small benchmark."""

import csv
import io
from collections.abc import Callable
from pathlib import Path

import orjson

from schemas.workspace import Workspace
from validators.review.__main__ import main

PEOPLE = ("A1", "A2", "A3", "B1")
AS_IS = {"suitable": "yes", "verdict": "as_is", "trace_verdict": "as_is"}
DECIDED = "SCN_SCHOOL_AGE_1"


class Play:
    """A workspace with the small benchmark and the four people."""

    def __init__(self, root: Path, tables, capsys) -> None:
        self.root, self.capsys = root, capsys
        self.space = Workspace(root, "heart")
        self.folder = self.space.folder / "review/decisions"
        for name, rows in tables.items():
            table = self.space.benchmark.table(name)
            for key in {table.file_of(row) for row in rows}:
                self.space.write(name, [row for row in rows if table.file_of(row) == key], key)

    def call(self, verb, *words):
        """Exit code, document, stderr."""
        self.capsys.readouterr()
        code = main([verb, "--workspace", str(self.root), "--json", *map(str, words)])
        out, err = self.capsys.readouterr()
        return code, orjson.loads(out) if out else None, err

    def export(self, *words):
        return self.call("export", "--annotators", *PEOPLE[:3], "--arbitrator", "B1", *words)

    def again(self):
        return self.call("export")

    def sheet(self, person):
        return list(csv.DictReader(io.StringIO((self.folder / f"{person}.csv").read_bytes().decode("utf-8-sig"))))

    def save(self, person, rows, delimiter=",") -> Path:
        path = self.folder / f"{person}.csv"
        with path.open("w", encoding="utf-8", newline="") as out:
            writer = csv.DictWriter(out, rows[0].keys(), delimiter=delimiter)
            writer.writeheader()
            writer.writerows(rows)
        return path

    def fill(self, person, answer: Callable[[str], dict[str, str]] | dict[str, str], delimiter=",") -> Path:
        """Answer every line; ``answer`` takes the text of the decision."""
        rows = self.sheet(person)
        for row in rows:
            row.update(answer(row["text"]) if callable(answer) else answer)
        return self.save(person, rows, delimiter)

    def judge(self, by_text: dict[str, dict[str, str]] | None = None, who="A3"):
        """All three find all acceptable, but ``who`` as ``by_text`` says; imported."""
        files = [self.fill(p, AS_IS) for p in PEOPLE[:3] if p != who]
        files.append(self.fill(who, lambda text: (by_text or {}).get(text, AS_IS)))
        return self.call("import", *files)

    def decisions(self):
        return {
            row["character_id"]: row
            for key in self.space.keys("decisions")
            for row in self.space.rows("decisions", key)
        }

    def reviews(self):
        return list(self.space.rows("reviews"))

    def bytes(self):
        kept = sorted(self.space.folder.glob("decisions/*")) + sorted(self.space.folder.glob("reviews/*"))
        return {path.name: path.read_bytes() for path in kept}


def codes(document):
    return [found["code"] for found in document["findings"]]
