"""How well ``--deep`` agrees with labels: precision, recall and Cohen's kappa on whole memories, a code at a time.

A memory of ``tests/cases/whole_memories.jsonl`` has faults of a code or none, and the model finds some or none. The
figure needs a model; against the rehearsal server the command only proves that questions are asked and replies read.

    python -m perf.quality.deep_agreement --set unseen --backend messages --model NAME
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import orjson

from audits import llm_judge
from models.backends import add_backend_arguments, backend_settings
from models.backends import run as ask
from perf.quality.agreement import WHOLE
from schemas.benchmarks import benchmark
from schemas.command import DONE, MACHINE_FAILED, parser, print_json, run, say
from schemas.errors import RequestError, unknown


def measures(labels: Sequence[bool], found: Sequence[bool]) -> dict[str, float | int | None]:
    """Precision, recall and Cohen's kappa; None where there is nothing to divide by."""
    both = sum(label and hit for label, hit in zip(labels, found, strict=True))
    same = sum(label == hit for label, hit in zip(labels, found, strict=True)) / len(labels)
    shares = sum(labels) / len(labels), sum(found) / len(labels)
    chance = shares[0] * shares[1] + (1 - shares[0]) * (1 - shares[1])
    return {
        "memories": len(labels),
        "faulty": sum(labels),
        "precision": both / sum(found) if any(found) else None,
        "recall": both / sum(labels) if any(labels) else None,
        "kappa": (same - chance) / (1 - chance) if chance < 1 else None,
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Print the measures of every code; returns the exit code."""
    made = parser(
        "perf.quality.deep_agreement",
        "Precision, recall and kappa of --deep on labelled whole memories.",
        "python -m perf.quality.deep_agreement --set unseen --backend messages --model NAME",
    )
    made.add_argument("--set", metavar="NAME", help="one set, e.g. unseen")
    add_backend_arguments(made)
    return run(_command, made, argv)


def _command(arguments: argparse.Namespace) -> int:
    memories: list[dict[str, Any]] = [orjson.loads(line) for line in WHOLE.read_bytes().splitlines()]
    names = list(dict.fromkeys(row["set"] for row in memories))
    if arguments.set is not None and arguments.set not in names:
        raise unknown("set", arguments.set, names, WHOLE)
    if arguments.backend == "offline":
        raise RequestError("no model to measure", "--backend offline", fix="Name one with --backend messages")
    memories = [row for row in memories if arguments.set in (None, row["set"])]
    codes = sorted({fault["code"] for row in memories for fault in row["faults"]})
    settings = backend_settings(arguments, benchmark("heart"))
    starts = llm_judge.starts(memories, frozenset(codes))
    judged = list(ask(starts, settings, rows=len(memories) * len({code.split(".")[0] for code in codes})))
    unanswered = sum(bool(each.unanswered) for each in judged)
    found = [(row, {finding.code for finding in each.findings}) for row, each in zip(memories, judged, strict=True)]
    found = [pair for pair, each in zip(found, judged, strict=True) if not each.unanswered]
    rows = [{"code": code, **_of_code(code, found)} for code in codes if found]
    if arguments.json:
        print_json({"rows": rows, "unanswered": unanswered})
    for row in [] if arguments.json else rows:
        say(
            "  ".join(
                f"{name} {value:.3f}" if isinstance(value, float) else f"{name} {value}" for name, value in row.items()
            )
        )
    if unanswered:
        say(f"{unanswered:,} memories were not judged, as the model gave no usable reply", quiet=arguments.json)
    return MACHINE_FAILED if unanswered else DONE


def _of_code(code: str, found: Sequence[tuple[dict[str, Any], set[str]]]) -> dict[str, Any]:
    labels = [any(fault["code"] == code for fault in row["faults"]) for row, _ in found]
    return measures(labels, [code in codes for _, codes in found])


if __name__ == "__main__":
    raise SystemExit(main())
