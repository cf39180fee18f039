"""Which tables of a benchmark a review is about: ``[review]`` of its file, and what its rows are shown with.

The desk of HEART-BENCH appendix D.2 judges rows of the record ``decisions``, shows them with rows of
``characters`` and ``scenarios``, and keeps judgements as rows of ``reviews``, whatever the tables are called.
"""

from __future__ import annotations

from dataclasses import dataclass

from schemas.benchmarks import Benchmark, benchmark, benchmark_names
from schemas.errors import RequestError
from validators.binding import tables_by_record

JUDGED, PEOPLE, SITUATIONS, KEPT = "decisions", "characters", "scenarios", "reviews"


@dataclass(frozen=True)
class ReviewTables:
    """The names of the tables: what is judged, who it is about, where it takes place, where judgements are kept."""

    judged: str
    people: str
    situations: str
    reviews: str


def review_tables(of: Benchmark) -> ReviewTables:
    """The tables of a benchmark's review. Raises RequestError for one without a review, or that lacks a table."""
    if of.review is None:
        known = ", ".join(name for name in benchmark_names() if benchmark(name).review)
        fix = f"Add [review] with table to its file. Benchmarks that have one: {known}"
        raise RequestError(f"{of.name} has no review", of.home, fix=fix)
    table = of.table(of.review)
    found = tables_by_record(of, table, (JUDGED, PEOPLE, SITUATIONS, KEPT)) if table.record == JUDGED else None
    if found is None:
        expected = f"a table of record {JUDGED}, and with it tables of records {PEOPLE}, {SITUATIONS} and {KEPT}"
        raise RequestError(f"{table.name} cannot be reviewed", of.home or of.name, expected=expected)
    return ReviewTables(found[JUDGED], found[PEOPLE], found[SITUATIONS], found[KEPT])


def default_benchmark() -> str:
    """The first shipped benchmark that has a review."""
    return next(name for name in benchmark_names() if benchmark(name).review)
