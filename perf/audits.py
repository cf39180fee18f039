"""The whole audit of 11,000 memories, every code but duplicates (``perf.duplicates``), with one process and with two.

The corpus: 36 million characters of generated narratives; one sentence in fifteen is a near-miss of some pattern, and
six texts in a thousand hold a hit. Whole memories begin with a thousand characters of near-misses, in English.

    python -m perf.audits --memories 100 --repeat 1
"""

from __future__ import annotations

import argparse
import functools
import hashlib
from typing import Any

from audits.patterns.criteria import Criterion, criteria
from builders.ids import memory_id
from builders.memories.stages import memory_stage
from perf import harness
from schemas.randomness import rng_for
from schemas.tables import Row

_NEAR_MISS, _HIT = 1 / 15, 0.006
_WORDS = 6_000
_OPENING = 1_000
_FIRST = 200


def narratives(arguments: argparse.Namespace) -> list[str]:
    """Texts of 2,000 to 4,500 characters: generated sentences, near-misses among them, a hit here and there."""
    misses = _misses()
    hits = [text for criterion in _narrative_criteria() for pattern in criterion.patterns for text in pattern.hits]
    words = _vocabulary()
    made = []
    for number in range(arguments.memories * 11):
        rng = rng_for(7, "perf", "audits", "narratives", number)
        target = min(max(rng.gauss(3300, 550), 2000), 4500)
        parts, length = [hits[int(rng.random() * len(hits))]] if rng.random() < _HIT else [], 0
        while length < target:
            if rng.random() < _NEAR_MISS:
                parts.append(misses[int(rng.random() * len(misses))])
            else:
                chosen = rng.choices(words, k=int(6 + 14 * rng.random()))
                parts.append(" ".join(chosen).capitalize() + ".")
            length += len(parts[-1]) + 1
        made.append("\n\n".join(" ".join(parts[at : at + 6]) for at in range(0, len(parts), 6)))
    return made


def rows(arguments: argparse.Namespace) -> list[Row]:
    """Whole memories round the narratives, which begin in English: texts in another language are not audited."""
    texts, each = narratives(arguments), arguments.memories
    openings = (_opening(number) for number in range(len(texts)))
    told = [f"{opening}\n\n{text[len(opening) :]}" for opening, text in zip(openings, texts, strict=True)]
    return [_memory(f"CHAR_{1 + n // each:02d}", 1 + n % each, each, text) for n, text in enumerate(told)]


@functools.cache
def _misses() -> list[str]:
    return [text for criterion in _narrative_criteria() for pattern in criterion.patterns for text in pattern.misses]


def _opening(number: int) -> str:
    """A thousand characters of near-misses."""
    rng = rng_for(7, "perf", "audits", "openings", number)
    misses = _misses()
    parts = [misses[int(rng.random() * len(misses))]]
    while sum(map(len, parts)) < _OPENING:
        parts.append(misses[int(rng.random() * len(misses))])
    return " ".join(parts)


def whole_audit(processes: int) -> harness.Case:
    """``audits.audit`` of memories, every code but duplicates."""

    def case(arguments: argparse.Namespace) -> harness.Timed:
        from audits import audit
        from audits.codes import codes

        made, wanted = rows(arguments), [code for code in codes("memories") if code != "duplicate.semantic"]
        audit("memories", made[:_FIRST], only=wanted)  # what is compiled when first needed is no part of the work

        def timed() -> dict[str, Any]:
            found = audit("memories", made, only=wanted, processes=processes)
            return {"rows": len(made), "findings": len(found), "digest": _digest(found)}

        return timed

    return case


def word_counts(arguments: argparse.Namespace) -> harness.Timed:
    """The words of the same texts counted by scikit-learn: what any look at every word costs on this machine."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = [str(row["content_full"]) for row in rows(arguments)]

    def timed() -> dict[str, Any]:
        return {"rows": TfidfVectorizer().fit_transform(texts).shape[0]}

    return timed


def _digest(found: object) -> str:
    return hashlib.sha256(repr(found).encode()).hexdigest()[:10]


def _narrative_criteria() -> list[Criterion]:
    known = criteria().values()
    return [c for c in known if c.table == "memories" and c.at_least is None and "content_full" in c.fields]


def _vocabulary() -> list[str]:
    rng = rng_for(7, "perf", "audits", "words")
    starts, middles = [*"bcdfghlmnprstvw", "br", "ch", "st", "tr"], [*"aeiou", "ea", "oo"]
    ends = ["", "n", "r", "l", "st", "m", "ck", "nd"]
    return [
        "".join(rng.choice(part) for part in (starts, middles, ends) * rng.choice((1, 2, 2, 3))) for _ in range(_WORDS)
    ]


def _memory(character: str, number: int, of: int, text: str) -> Row:
    rng = rng_for(7, "perf", "audits", f"rows/{character}", number)
    age = 6 + 44 * (number - 1) // max(of - 1, 1)
    stage = memory_stage(age)
    return {
        "id": memory_id(character, number),
        "timeline": f"{stage['label']} ({age})",
        "context": "Back yard, first frost",
        "content_summary": "A key went missing and came back",
        "content_full": text,
        "triggers": ["key", "frost", "yard", "silence"],
        "relevance_tags": ["duty", "home", "doubt", "winter"],
        "psych_conclusion": "What is lost may come back by itself.",
        "behavior_policy": "I wait a day before I tell anyone.",
        "emotion_signature": {"primary": "worry", "secondary": "relief", "intensity": round(rng.random(), 2)},
        "character_id": character,
        "age": age,
        "stage": stage["id"],
        "domain": "daily_life",
        "tier": "B",
        "ledger_refs": [],
        "provenance": None,
    }


def _arguments(made: argparse.ArgumentParser) -> None:
    made.add_argument("--memories", type=int, default=1000, metavar="N", help="narratives of each of 11 characters")


def comparisons() -> tuple[harness.Comparison, ...]:
    """What is compared."""
    cases = {"word_counts": word_counts, "1_process": whole_audit(1), "2_processes": whole_audit(2)}
    # Ten times as long as counting words is usual; with every expression tried on every sentence it is forty times.
    return (harness.Comparison("audit", cases, "word_counts", (harness.Promise("1_process", "word_counts", 1 / 16),)),)


if __name__ == "__main__":
    raise SystemExit(harness.main("perf.audits", comparisons(), add_arguments=_arguments))
