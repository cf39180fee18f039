"""How often small words come in composed memories, and whether their prose keeps to the life ledger.

HEART-BENCH appendix B.4 (natural language) and the life ledger's contract. Banks written around a metric starve
articles and conjunctions, or strew them: rates are held against those of the published scenarios and decisions
(``function_words.toml``). What is told of pets, kin and storeys is held against the ledger by the rules of
``audits.checks.continuity``, and a parent's memories of home are asked for the partner or a child. Printed by

    python -m perf.quality.text_quality

and the published rates, from the folder with ``scenarios.json`` and ``ground_truth.json``, by

    python -m perf.quality.text_words FOLDER
"""

from __future__ import annotations

import argparse
import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from audits.checks import continuity
from audits.subjects import Subject
from audits.text.passage import Passage
from builders.offline.banks import bank
from builders.offline.scene_files import scenes
from schemas.command import DONE, parser, run, say
from schemas.tables import Row

PUBLISHED: Mapping[str, Mapping[str, float]] = tomllib.loads(
    Path(__file__).with_name("function_words.toml").read_text("utf-8")
)
_WORD = re.compile(r"[a-z]+(?:['\u2019][a-z]+)?")
# Published strings shorter than this are names and labels, not prose.
_PROSE = 60
_FAMILY = frozenset({"child", "partner"})


def rates(texts: Iterable[str]) -> dict[str, float]:
    """Occurrences in a thousand words of each word of ``function_words.toml``."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(_WORD.findall(text.lower()))
    total = max(1, counts.total())
    return {word: 1000 * counts[word] / total for word in PUBLISHED["decisions"]}


def factor(word: str, rate: float) -> float:
    """By what factor a rate lies outside those of the published texts; 1 between them."""
    low, high = sorted(published[word] for published in PUBLISHED.values())
    return max(1.0, rate / high, low / max(rate, 0.001))


def invented(rows: Sequence[Row], ledger: Sequence[Row]) -> int:
    """How many memories tell of pets, kin, storeys and the like that the ledger does not have."""
    known = continuity.ledgers(ledger)
    return sum(
        any(
            finding.code == "continuity.invented"
            for finding in continuity.audit(
                Subject("memories", row["id"], row), row["age"], known, Passage(row["content_full"])
            )
        )
        for row in rows
    )


def family_at_home(rows: Sequence[Row], ledger: Sequence[Row]) -> float | None:
    """The share of a parent's memories of home that a child or the partner is in; None for somebody without a child."""
    facts = {fact["fact_id"]: fact for fact in ledger}
    births = [fact["from_age"] for fact in ledger if fact["kind"] == "child"]
    if not births:
        return None
    places = tuple(sorted(_places_at_home()))
    home = [row for row in rows if row["age"] > min(births) and row["context"].startswith(places)]
    with_family = [row for row in home if any(facts[ref]["kind"] in _FAMILY for ref in row["ledger_refs"])]
    return len(with_family) / len(home) if home else None


def _places_at_home() -> set[str]:
    """The places, as contexts begin with them, of grown-ups' scenes that happen at home and nowhere else."""
    at_home = {True: set[str](), False: set[str]()}
    for scene in scenes():
        if scene.language == "adult":
            at_home[bank("settings")[scene.setting].get("ground") == "home"] |= {
                place for place in scene.place if "{" not in place
            }
    return at_home[True] - at_home[False]


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        if " " in value and len(value) > _PROSE:
            yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)


def main(argv: Sequence[str] | None = None) -> int:
    """Print the rates of published texts as ``function_words.toml`` holds them."""
    made = parser("perf.quality.text_words", "Rates of small words.", "python -m perf.quality.text_words FOLDER")
    made.add_argument("folder", type=Path, help="folder with scenarios.json and ground_truth.json")
    return run(_command, made, argv)


def _command(parsed: argparse.Namespace) -> int:
    for name, file in (("scenarios", "scenarios.json"), ("decisions", "ground_truth.json")):
        texts = _strings(json.loads((parsed.folder / file).read_text("utf-8")))
        say("\n".join([f"[{name}]", *(f"{word} = {rate:.2f}" for word, rate in rates(texts).items())]))
    return DONE


if __name__ == "__main__":
    raise SystemExit(main())
