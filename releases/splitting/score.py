"""Score answers against a release that has the keys: how often right, and what could not be scored.

Answers are JSON Lines, ``{"question_id": "…", "answer": "A"}``, in any order. A question without an answer, and one
whose answer is none of its labels, counts as not right and is counted apart. The interval (95 %) is Wilson's over the
questions of the release, with questions that share options as clusters.

    python -m releases score heart@2.0.0 answers.jsonl
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from audits.shortcuts.rates import rate
from releases.opening import Release, open_release
from releases.splitting.split import families, questions_table
from schemas.command import DONE, FINDINGS, print_json, say
from schemas.errors import RequestError
from schemas.release_names import add_release
from schemas.rows import numbered_jsonl

HELP = "score answers against a release that has the keys"
EXAMPLE = "python -m releases score heart@2.0.0 answers.jsonl"


def score(release: Release, answers: Mapping[Any, str]) -> dict[str, Any]:
    """The figures: questions, right, answered, missing, unreadable, rate and its interval.

    Raises RequestError for a release without keys.
    """
    table = questions_table(release)
    (column,) = release.key(table)
    keys, answer = _keys(release, table)
    questions = list(release.rows(table))
    family = families(questions, (column,))
    hits, chances, groups, missing, unreadable = [], [], [], 0, 0
    for row in questions:
        labels = [option["label"] for option in row["options"]]
        given = answers.get(row[column])
        missing += given is None
        unreadable += given is not None and given not in labels
        hits.append(float(given == keys[row[column]]))
        chances.append(1 / len(labels))
        groups.append(str(family[(row[column],)]))
    found = rate(hits, chances, groups)
    return {
        "release": str(release.name),
        "content_digest": release.content_digest,
        "questions": found.items,
        "right": int(found.hits),
        "missing": missing,
        "unreadable": unreadable,
        "rate": found.rate,
        "low": found.low,
        "high": found.high,
        "chance": found.chance,
        "of": answer,
    }


def read_answers(path: Path, column: str) -> dict[Any, str]:
    """Question -> answer. Raises RequestError, with the line, for what is no answer and for a question twice."""
    found: dict[Any, str] = {}
    for line, row in numbered_jsonl(path):
        if column not in row or not isinstance(row.get("answer"), str):
            raise RequestError("no answer", f"{path}:{line}", expected=f'{{"{column}": "…", "answer": "A"}}')
        if row[column] in found:
            raise RequestError("a question twice", f"{path}:{line}", row=str(row[column]), fix="Leave one out")
        found[row[column]] = row["answer"].strip()
    return found


def _keys(release: Release, table: str) -> tuple[dict[Any, str], str]:
    entries = release.manifest["tables"]
    for name, entry in entries.items():
        roles = entry.get("roles") or {}
        if roles.get("role") == "keys" and roles.get("gold_of") == table and len(roles["gold"]) == 1:
            column, gold = *release.key(name), roles["gold"][0]
            return {row[column]: row[gold] for row in release.rows(name)}, f"{name}.{gold}"
    raise RequestError("no keys", release.name, expected="a table of role keys", fix="Score with whoever has the keys")


def add_arguments(made: argparse.ArgumentParser) -> None:
    """The arguments of ``score``."""
    add_release(made)
    made.add_argument("answers", type=Path, metavar="FILE.jsonl", help="one answer a line: question_id and answer")


def run(args: argparse.Namespace) -> int:
    """The verb."""
    release = open_release(args.release, args.frozen)
    (column,) = release.key(questions_table(release))
    answers = read_answers(args.answers, column)
    known = {row[column] for row in release.keys_of(questions_table(release))}
    if odd := sorted(map(str, answers.keys() - known)):
        raise RequestError(f"{len(odd):,} answers to no question", args.answers, row=odd[0], fix="Answer this release")
    figures = score(release, answers)
    if args.json:
        print_json(figures)
    rate_, low, high, chance = (f"{figures[part]:.1%}" for part in ("rate", "low", "high", "chance"))
    lines = [
        f"{figures['right']:,} of {figures['questions']:,} right: {rate_} [{low}, {high}], by chance {chance}",
        "interval: 95 %, Wilson, over these questions; those that share options are a cluster",
        f"not answered {figures['missing']:,}, answered with no option's letter {figures['unreadable']:,}",
    ]
    for line in lines:
        say(line, quiet=args.quiet or args.json)
    return FINDINGS if figures["missing"] or figures["unreadable"] else DONE
