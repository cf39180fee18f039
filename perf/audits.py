"""The audits against their peers: patterns beside ``re`` and hyperscan, and the whole audit of 11,000 memories.

``phrases``   the same 60 expressions by every engine, per text and expression; all print one digest
``patterns``  every expression our criteria look for in a narrative. ``re`` searches them one by one in
              lowered text; hyperscan in its prefilter mode, the only one that takes them, answers a
              superset; ours also says where, and who speaks
``audit``     all audits of a memory but duplicates (``perf.duplicates``), with one process and with two

The corpus: 36 million characters of generated narratives; one sentence in fifteen is a near-miss of
some pattern, so that anchors are as common as in real text or more so, and six texts in a thousand
hold a hit. Whole memories begin with a thousand characters of near-misses, in English. hyperscan is
optional: where it is not installed its cases are absent, and it says so. To compile all our expressions
takes it minutes, as to search for them one by one takes ``re``: hence fewer memories.

    python -m perf.audits --only phrases
    python -m perf.audits --only patterns --memories 100 --repeat 1
    python -m perf.audits --only audit --memories 10000
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import importlib.util
import re
import sys
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from audits.patterns.expressions import Expression

from audits.patterns.criteria import Criterion, Pattern, criteria
from audits.patterns.matcher import Matcher
from builders.ids import memory_id
from builders.memories.stages import memory_stage
from perf import harness
from schemas.randomness import rng_for
from schemas.tables import Row

_PHRASES = Path(__file__).with_name("phrases.toml")
_NEAR_MISS, _HIT = 1 / 15, 0.006
_WORDS = 6_000
_OPENING = 1_000

Answer = set[tuple[int, int]]
Searched = Callable[[], Answer]
Expressions = Callable[[], list[tuple[int, str]]]
"""Expressions, each with the number of the pattern it is one of: a pattern is found where one of them is."""


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


def re_lowered(expressions: Expressions) -> harness.Case:
    """Every expression in every lowered text, one after the other."""

    def case(arguments: argparse.Namespace) -> harness.Timed:
        texts, compiled = narratives(arguments), [(which, re.compile(text)) for which, text in expressions()]

        def search() -> Answer:
            found = set()
            for number, text in enumerate(texts):
                low = text.lower()
                found |= {(number, which) for which, each in compiled if each.search(low)}
            return found

        return _timed(texts, search)

    return case


def hyperscan_block(expressions: Expressions, prefilter: bool) -> harness.Case:
    """One database of all expressions, one scan a text."""

    def case(arguments: argparse.Namespace) -> harness.Timed:
        import hyperscan

        texts, wanted = narratives(arguments), expressions()
        flags = hyperscan.HS_FLAG_CASELESS | hyperscan.HS_FLAG_SINGLEMATCH
        flags |= hyperscan.HS_FLAG_PREFILTER | hyperscan.HS_FLAG_UTF8 if prefilter else 0
        database = hyperscan.Database()
        database.compile(
            expressions=[text.encode() for _, text in wanted],
            ids=[which for which, _ in wanted],
            elements=len(wanted),
            flags=[flags] * len(wanted),
        )

        def search() -> Answer:
            found: Answer = set()
            for number, text in enumerate(texts):
                seen: list[int] = []
                database.scan(text.encode(), match_event_handler=lambda which, *rest, seen=seen: seen.append(which))
                found |= {(number, which) for which in seen}
            return found

        return _timed(texts, search)

    return case


def ours(wanted: Callable[[], list[Criterion]]) -> harness.Case:
    """``audits.patterns.matcher``: one automaton of anchors, expressions round them only."""

    def case(arguments: argparse.Namespace) -> harness.Timed:
        texts, chosen = narratives(arguments), wanted()
        names = {(p.code, p.name): which for which, p in enumerate(p for c in chosen for p in c.patterns)}
        matcher = Matcher(chosen)
        # Expressions are compiled when first needed; those of the peers are, too, before the clock starts.
        matcher.scan([text for c in chosen for pattern in c.patterns for text in pattern.hits])
        return _timed(texts, lambda: {(found.text, names[found.code, found.name]) for found in matcher.scan(texts)})

    return case


def whole_audit(processes: int) -> harness.Case:
    """``audits.audit`` of memories, every code but duplicates."""

    def case(arguments: argparse.Namespace) -> harness.Timed:
        from audits import audit
        from audits.codes import codes

        made, wanted = rows(arguments), [code for code in codes("memories") if code != "duplicate.semantic"]

        def timed() -> dict[str, Any]:
            found = audit("memories", made, only=wanted, processes=processes)
            return {"rows": len(made), "findings": len(found), "digest": _digest(found)}

        return timed

    return case


def _timed(texts: Sequence[str], search: Searched) -> harness.Timed:
    size = round(sum(map(len, texts)) / 1e6, 1)

    def timed() -> dict[str, Any]:
        found = search()
        return {"rows": len(texts), "MB": size, "hits": len(found), "digest": _digest(sorted(found))}

    return timed


def _digest(found: object) -> str:
    return hashlib.sha256(repr(found).encode()).hexdigest()[:10]


def _narrative_criteria() -> list[Criterion]:
    known = criteria().values()
    return [c for c in known if c.table == "memories" and c.at_least is None and "content_full" in c.fields]


def _narrative_expressions() -> list[tuple[int, str]]:
    written = [
        (which, expression.source)
        for which, pattern in enumerate(p for c in _narrative_criteria() for p in c.patterns)
        for expression in pattern.expressions
    ]
    return [
        (which, re.sub(r"\\u([0-9a-f]{4})", lambda found: chr(int(found[1], 16)), re.sub(r"\(\?P<\w+>", "(?:", text)))
        for which, text in written
    ]


def _phrase_expressions() -> list[tuple[int, str]]:
    document = tomllib.loads(_PHRASES.read_text("utf-8"))
    gapped: list[str] = document["gapped"]
    return list(enumerate([*(re.escape(text).replace("\\ ", " ") for text in document["plain"]), *gapped]))


def _phrase_criteria() -> list[Criterion]:
    patterns = tuple(
        Pattern("perf.phrase", f"{which:02d}", (Expression(text),), "", "", None, None, "any", (), ())
        for which, text in _phrase_expressions()
    )
    return [
        Criterion("perf.phrase", "memories", "", "note", "", "", ("content_full",), None, None, None, 0.0, patterns)
    ]


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
    """What is compared; hyperscan where it is installed."""
    peer = importlib.util.find_spec("hyperscan") is not None
    phrases = {"re_lowered": re_lowered(_phrase_expressions), "ours": ours(_phrase_criteria)}
    patterns = {"re_lowered": re_lowered(_narrative_expressions), "ours": ours(_narrative_criteria)}
    promises = [harness.Promise("ours", "re_lowered", 10)]
    if peer:
        phrases["hyperscan"] = hyperscan_block(_phrase_expressions, prefilter=False)
        patterns["hyperscan_prefilter"] = hyperscan_block(_narrative_expressions, prefilter=True)
    else:
        print("hyperscan is absent: its cases are left out (pip install hyperscan)", file=sys.stderr)
    within = 1 / 3.5
    return (
        harness.Comparison(
            "phrases", phrases, "re_lowered", (*promises, *([harness.Promise("ours", "hyperscan", within)] * peer))
        ),
        harness.Comparison(
            "patterns",
            patterns,
            "re_lowered",
            (*promises, *([harness.Promise("ours", "hyperscan_prefilter", within)] * peer)),
        ),
        harness.Comparison("audit", {"1_process": whole_audit(1), "2_processes": whole_audit(2)}, "1_process"),
    )


if __name__ == "__main__":
    raise SystemExit(harness.main("perf.audits", comparisons(), add_arguments=_arguments))
