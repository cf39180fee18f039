"""Judgements that the released code wrote, read as it reads them and strictly: a compatibility mode.

The released judge writes a text a dialogue and dimension. Its parser takes ``VERDICT: True`` alone, so a reply that
begins with True, as its prompt invites, counts as a failure of the task; it takes ``Personalization Score: 3`` alone,
with one space and no marks, leaves what it cannot read out of the mean, and checks no range. Strictly read, a verdict
that stands by itself counts as well, marks do not matter, scores outside the scale do, and what cannot be read is
counted by itself.

    python -m evaluators.task_dialogues.released_parsing FOLDER --dimension task_completion
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evaluators.rubrics.released_judgements import (
    COMPLETION,
    SCALES,
    released_score,
    released_verdict,
    strict_score,
    strict_verdict,
)
from schemas.command import DONE, FINDINGS, parser, print_json, run, say
from schemas.errors import RequestError


def figures(texts: Sequence[str], dimension: str) -> dict[str, Any]:
    """Both readings of the replies on a dimension: value, how many were read, how many differ."""
    if dimension == COMPLETION:
        pairs: list[tuple[Any, Any]] = [(released_verdict(text), strict_verdict(text)) for text in texts]
        released = sum(one is True for one, _ in pairs) / len(pairs)
    else:
        pairs = [(released_score(text, dimension), strict_score(text, dimension)) for text in texts]
        released_values = [one for one, _ in pairs if one is not None]
        released = sum(released_values) / len(released_values) if released_values else None  # type: ignore[assignment]
    strict = [float(one) for _, one in pairs if one is not None]
    return {
        "replies": len(texts),
        "released": released,
        "released_unread": sum(one is None for one, _ in pairs),
        "strict": sum(strict) / len(strict) if strict else None,
        "strict_unread": sum(one is None for _, one in pairs),
        "differ": sum(one != two for one, two in pairs),
    }


def main(argv: Sequence[str] | None = None) -> int:
    """Print both readings of a folder of replies; see ``--help``."""
    made = parser(
        "evaluators.task_dialogues.released_parsing",
        "Read what the released judge of PersonaLens wrote, as its code does and strictly.",
        "python -m evaluators.task_dialogues.released_parsing eval/task_completion --dimension task_completion",
    )
    made.add_argument("folder", type=Path, metavar="FOLDER", help="text files, a reply each, searched through")
    made.add_argument(
        "--dimension", required=True, choices=(COMPLETION, *SCALES), metavar="NAME",
        help=f"what was judged: {', '.join((COMPLETION, *SCALES))}",
    )  # fmt: skip
    return run(_command, made, argv)


def _command(parsed: argparse.Namespace) -> int:
    paths = sorted(parsed.folder.rglob("*.txt"))
    if not paths:
        raise RequestError("no replies", parsed.folder, expected="text files (*.txt)", fix="Check the path")
    found = figures([path.read_text("utf-8", errors="replace") for path in paths], parsed.dimension)
    if parsed.json:
        print_json({"dimension": parsed.dimension, **found})
    formatted = {name: "none" if found[name] is None else f"{found[name]:.4f}" for name in ("released", "strict")}
    say(f"{parsed.dimension}: {found['replies']:,} replies", quiet=parsed.quiet or parsed.json)
    for name in formatted:
        say(f"  {name:<9}{formatted[name]}, {found[f'{name}_unread']:,} not read", quiet=parsed.quiet or parsed.json)
    say(f"  {found['differ']:,} are read differently", quiet=parsed.quiet or parsed.json)
    return FINDINGS if found["strict_unread"] else DONE


if __name__ == "__main__":
    raise SystemExit(main())
