"""Lexical diversity: Dist-1, Dist-2, Ent-4 and Self-BLEU, a unit of text at a time, then the mean.

PersonaLens appendix A.4, after Joko et al. (2024). Neither says what a token, a unit or the logarithm
is; the figures of Table 10 only fit small units. So this is our definition: a unit is a dialogue (or
whatever ``--by`` groups), its texts are the utterances; tokens are runs of letters and digits and
single marks, in lower case; n-grams do not cross texts.

- Dist-n    distinct n-grams of the unit over all of them
- Ent-4     Shannon entropy of its 4-grams, natural logarithm
- Self-BLEU mean over texts of sentence BLEU-4 against the unit's other texts, uniform weights,
            counts of zero as 0.1 (Chen and Cherry's method 1), closest reference length

Libraries compare every text with every other; keeping the two largest counts of an n-gram gives the
same number in one pass (the tests compare with NLTK's).

    python -m audits.diversity --benchmark heart --table memories --field content_full --by character_id,stage
"""

from __future__ import annotations

import argparse
import math
import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial

from audits.columns import Column, column
from audits.own_rows import add_rows, rows_of, table_shards
from schemas import command
from schemas.benchmarks import benchmark
from schemas.engines.choice import add_engine, engine, scratch
from schemas.engines.groups import Groups, Partitions
from schemas.engines.shards import Shard
from schemas.errors import RequestError
from schemas.sources import add_source
from schemas.tables import Row, Table

_TOKEN = re.compile(r"\w+|[^\w\s]")
_ORDERS = (1, 2, 3, 4)
_SMALLEST = 0.1
_UNITS = "units"  # the kind of partitions

Tokens = list[str]


@dataclass(frozen=True)
class Diversity:
    """Means over the units in which a measure is defined; None where it is in none.

    Lower ``self_bleu`` is more diverse, for the others higher is. ``compared`` counts the units with
    at least two texts: Self-BLEU needs them.
    """

    units: int
    texts: int
    compared: int
    dist_1: float | None
    dist_2: float | None
    ent_4: float | None
    self_bleu: float | None


def measure(units: Iterable[Sequence[str]]) -> Diversity:
    """The diversity of units of texts; texts without a token do not count."""
    return diversity_of(measured(unit) for unit in units)


@dataclass(frozen=True)
class Measured:
    """A unit: how many texts it has, and its measures, None where one is not defined."""

    texts: int
    values: tuple[tuple[str, float | None], ...]


def measured(unit: Iterable[str]) -> Measured:
    """The measures of a unit; texts without a token do not count."""
    said = [tokens for text in unit if (tokens := tokens_of(text))]
    return Measured(len(said), tuple(_unit(said)))


def diversity_of(units: Iterable[Measured]) -> Diversity:
    """The means of units, in whatever order."""
    count = texts = compared = 0
    found: dict[str, list[float]] = defaultdict(list)
    for unit in units:
        count, texts, compared = count + 1, texts + unit.texts, compared + (unit.texts > 1)
        for name, value in unit.values:
            if value is not None:
                found[name].append(value)
    means = {name: math.fsum(values) / len(values) for name, values in found.items()}
    return Diversity(
        count, texts, compared, means.get("dist_1"), means.get("dist_2"), means.get("ent_4"), means.get("self_bleu")
    )


def tokens_of(text: str) -> Tokens:
    """Runs of letters and digits, and single marks, in lower case."""
    return _TOKEN.findall(text.lower())


def distinct(said: Sequence[Tokens], order: int) -> float | None:
    """Distinct n-grams over all n-grams; None without any."""
    grams = _together(said, order)
    return len(grams) / grams.total() if grams else None


def entropy(said: Sequence[Tokens], order: int = 4) -> float | None:
    """Shannon entropy of the n-grams, natural logarithm; None without any."""
    grams = _together(said, order)
    total = grams.total()
    return math.fsum(-n / total * math.log(n / total) for n in sorted(grams.values())) + 0.0 if grams else None


def self_bleu(said: Sequence[Tokens]) -> float | None:
    """Mean BLEU-4 of each text against all others; None for fewer than two texts."""
    if len(said) < 2:
        return None
    logs = [0.0] * len(said)
    for order in _ORDERS:
        for number, (matched, total) in enumerate(_clipped([_grams(tokens, order) for tokens in said])):
            if order == 1 and not matched:
                logs[number] = -math.inf  # no common word at all: BLEU is 0, unsmoothed
            logs[number] += math.log((matched or _SMALLEST) / max(total, 1)) / len(_ORDERS)
    lengths = sorted(map(len, said))
    scores = (math.exp(log + _brevity(lengths, len(tokens))) for log, tokens in zip(logs, said, strict=True))
    return math.fsum(scores) / len(said)


def _unit(said: Sequence[Tokens]) -> Iterator[tuple[str, float | None]]:
    yield "dist_1", distinct(said, 1)
    yield "dist_2", distinct(said, 2)
    yield "ent_4", entropy(said)
    yield "self_bleu", self_bleu(said)


def _grams(tokens: Tokens, order: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(tokens[start:] for start in range(order)), strict=False))


def _together(said: Sequence[Tokens], order: int) -> Counter[tuple[str, ...]]:
    grams: Counter[tuple[str, ...]] = Counter()
    for tokens in said:
        grams.update(zip(*(tokens[start:] for start in range(order)), strict=False))
    return grams


def _clipped(texts: Sequence[Counter[tuple[str, ...]]]) -> Iterator[tuple[int, int]]:
    """For each text: its n-grams, each counted at most as often as the other text that has it most; all of them."""
    most: dict[tuple[str, ...], tuple[int, int]] = {}  # the largest count in a text, and the next
    for grams in texts:
        for gram, count in grams.items():
            largest, next_one = most.get(gram, (0, 0))
            most[gram] = (count, largest) if count > largest else (largest, max(next_one, count))
    for grams in texts:
        matched = sum(min(count, most[gram][count == most[gram][0]]) for gram, count in grams.items())
        yield matched, grams.total()


def _brevity(lengths: Sequence[int], own: int) -> float:
    """The logarithm of the brevity penalty of a text against the closest length of the others.

    ``lengths`` are those of all texts, sorted; of two lengths as close the shorter counts.
    """
    place = bisect_left(lengths, own)
    others = [*lengths[max(place - 1, 0) : place], *lengths[place + 1 : place + 2]]
    return min(0.0, 1 - min(others, key=lambda length: (abs(length - own), length)) / own)


def main(argv: Sequence[str] | None = None) -> int:
    """Print the lexical diversity of a text column."""
    made = command.parser(
        "audits.diversity",
        "Lexical diversity of a text column: Dist-1, Dist-2, Ent-4, Self-BLEU, by unit, then the mean.",
        "python -m audits.diversity --benchmark heart --table memories --field content_full --by character_id,stage",
    )
    add_source(made)
    add_rows(made)
    command.add_benchmark(made)
    made.add_argument("--table", required=True, metavar="T", help="table")
    made.add_argument("--field", required=True, metavar="PATH", help="text column, dotted, through lists as well")
    made.add_argument(
        "--by", metavar="COLUMNS", help="rows that agree on these are a unit (default: all rows; with lists, each row)"
    )
    command.add_processes(made)
    add_engine(made)
    return command.run(_run, made, argv)


def _run(arguments: argparse.Namespace) -> int:
    table = benchmark(arguments.benchmark).table(arguments.table)
    field = column(arguments.field, table.schema)
    grouped = arguments.by.split(",") if arguments.by else table.key if field.in_list else ()
    by = [column(path, table.schema) for path in grouped]
    if arguments.engine:
        measured_units = _measure_on_engine(arguments, table, field, by)
    else:
        measured_units = measure(units_of(rows_of(arguments, table.name), field, by).values())
    if not measured_units.units:
        where, fix = (
            (f"table {table.name}", "Build or import it first")
            if arguments.rows is None
            else (arguments.rows, "Name the field that holds it with --field")
        )
        raise RequestError("no text", where, field=arguments.field, fix=fix)
    found = asdict(measured_units)
    if arguments.json:
        command.print_json({"benchmark": arguments.benchmark, "table": table.name, "field": arguments.field, **found})
    if not arguments.quiet and not arguments.json:
        _show(found)
    return command.DONE


def _measure_on_engine(arguments: argparse.Namespace, table: Table, field: Column, by: Sequence[Column]) -> Diversity:
    """As ``measure``, of units whose rows lie in any shards."""
    shards, chosen = table_shards(arguments, table.name), engine(arguments.engine, arguments.processes)
    with scratch(arguments.scratch) as folder:
        partitions = Partitions.of(folder, sum(shard.rows for shard in shards))
        for _ in chosen.map(partial(_take_units, partitions, field, tuple(by)), list(enumerate(shards))):
            pass  # what is taken lies in the partitions
        parts = partitions.map(chosen, _UNITS, _units, len(shards))
        return diversity_of(unit for part in parts for unit in part)


def _take_units(partitions: Partitions, field: Column, by: Sequence[Column], numbered: tuple[int, Shard]) -> None:
    number, shard = numbered
    columns = {each.path.partition(".")[0] for each in (field, *by)}
    partitions.write(_UNITS, number, units_of(shard.walk(columns), field, by).items())


def _units(groups: Groups) -> list[Measured]:
    return [measured(text for texts in unit for text in texts) for unit in groups.values()]


def units_of(rows: Iterable[Row], field: Column, by: Sequence[Column]) -> dict[str, list[str]]:
    """The texts of rows by unit: rows that agree on some columns."""
    units: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        texts = [value for value in field.values(row) if isinstance(value, str)]
        if texts:
            units[repr([list(each.values(row)) for each in by])] += texts
    return units


def _show(found: Mapping[str, float | None]) -> None:
    for name, value in found.items():
        shown = "-" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:.4f}"
        command.say(f"{name:>10}  {shown}")


if __name__ == "__main__":
    raise SystemExit(main())
