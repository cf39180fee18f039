"""Persona fidelity against figures that others computed: Table 17, and the released scores and sentences.

    python -m evaluators.scoring.golden
    python -m evaluators.scoring.golden --from ../shared/data/atomic

With ``--from`` the released scores give the released figures to 1e-12, or exit code 1; and our sentences are counted
against the released lists.
"""

from __future__ import annotations

import argparse
import functools
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from evaluators.protocols import released
from evaluators.protocols.sentences import split
from evaluators.scoring.fidelity import fidelity
from schemas.command import DONE, FINDINGS, parser, print_json, run, say

TOLERANCE = 1e-12
_PRINTED = 0.0051  # half of the last of two digits

_FILE = Path(__file__).with_name("golden_fidelity.toml")


@dataclass(frozen=True)
class Checked:
    """One figure: what was printed or released, what we compute, whether the two agree, and whether they should."""

    where: str
    metric: str
    theirs: float
    ours: float | None
    agrees: bool
    misprint: bool = False


@dataclass(frozen=True)
class Splitting:
    """Our sentences against the released lists."""

    responses: int
    same: int
    sentences_theirs: int
    sentences_ours: int


@functools.cache
def golden() -> Mapping[str, Any]:
    """The worked examples."""
    return tomllib.loads(_FILE.read_text("utf-8"))


def table_17() -> list[Checked]:
    """Each printed figure of Table 17 beside ours."""
    by_name = {one["name"]: one for one in golden()["generation"]}
    made = []
    for one in by_name.values():
        ours = fidelity([[one["scores"]]], one["level"])
        made += _checked(f"generation {one['name']}", one["printed"], ours, _PRINTED, one.get("misprinted", ()))
    for pair in golden()["pair"]:
        first, second = (by_name[name] for name in pair["generations"])
        ours = fidelity([[first["scores"]], [second["scores"]]], first["level"])
        made += _checked(f"generations {first['name']} and {second['name']}", pair["printed"], ours, _PRINTED)
    return made


def released_figures(folder: Path) -> list[Checked]:
    """Each released figure beside what the released scores come to. Raises RequestError for malformed files."""
    known = {one["scores"]: one["figures"] for one in golden()["released"]}
    made = []
    for setting, path in released.settings_of(folder, released.SCORES):
        beside = folder / released.FIGURES / path.relative_to(folder / released.SCORES)
        theirs = released.figures(beside) if beside.is_dir() else known.get(setting.name, {})
        made += _checked(setting.name, theirs, fidelity(released.scores(path), setting.level), TOLERANCE)
    return made


def splitting(folder: Path) -> Splitting:
    """How our sentences compare with the released ones."""
    found = [(one.sentences, tuple(split(one.text))) for one in released.responses(folder)]
    return Splitting(
        responses=len(found),
        same=sum(theirs == ours for theirs, ours in found),
        sentences_theirs=sum(len(theirs) for theirs, _ in found),
        sentences_ours=sum(len(ours) for _, ours in found),
    )


def _checked(
    where: str,
    theirs: Mapping[str, float],
    ours: Mapping[str, float | None],
    tolerance: float,
    misprinted: Sequence[str] = (),
) -> list[Checked]:
    made = []
    for metric, value in theirs.items():
        own = ours[metric]
        agrees = own is not None and abs(own - value) <= tolerance
        made.append(Checked(where, metric, value, own, agrees, metric in misprinted))
    return made


def main(argv: Sequence[str] | None = None) -> int:
    """The command; see the module's docstring."""
    made = parser(
        "evaluators.scoring.golden",
        "Hold persona fidelity against Table 17 and the released figures.",
        "python -m evaluators.scoring.golden --from ../shared/data/atomic",
    )
    made.add_argument("--from", dest="source", type=Path, metavar="DIR", help="folder of the released files")
    return run(_command, made, argv)


def _command(parsed: argparse.Namespace) -> int:
    checked = table_17()
    sentences = None
    if parsed.source:
        checked += released_figures(parsed.source)
        sentences = splitting(parsed.source)
    wrong = [one for one in checked if one.agrees == one.misprint]
    if parsed.json:
        print_json({"figures": [asdict(one) for one in checked], "sentences": asdict(sentences) if sentences else None})
    for one in checked:
        note = "  a misprint: no score lies in that third" if one.misprint else "" if one.agrees else "  DIFFERS"
        ours = "none" if one.ours is None else f"{one.ours:.16g}"
        say(f"{one.where:<42}{one.metric:<10}{one.theirs:>22.16g}{ours:>22}{note}", quiet=parsed.quiet or parsed.json)
    if sentences:
        say(
            f"sentences: {sentences.same} of {sentences.responses} responses split as released"
            f" ({sentences.sentences_ours:,} sentences for {sentences.sentences_theirs:,})",
            quiet=parsed.quiet or parsed.json,
        )
    return FINDINGS if wrong else DONE


if __name__ == "__main__":
    raise SystemExit(main())
