"""Checks of the phrase banks: what a writer of banks can get wrong, line by line.

A line has only slots somebody fills, balanced marks and stops, no expression a memory may not use
(HEART-BENCH appendix G.2, B.4), nothing that names the protagonist's gender, no clinical word, and in
child bands no abstraction. A scene has all handles in every variant and the beats its tiers need.

    python -m builders.offline.lint
    python -m builders.offline.lint builders/offline/banks/scenes/child_health.toml
"""

from __future__ import annotations

import argparse
import re
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from builders.offline.banks import BEATS, FOLDER, LANGUAGES, Scene, bank, read_scenes
from builders.offline.cast import FORMS
from builders.offline.grammar import Choice, Template, parse_line, slots
from schemas.command import DONE, FINDINGS, parser, print_json, run, say
from schemas.errors import RequestError

HANDLES = frozenset(["thing", "mine", "matter", "gist", "fear", "want", "fix", "easy", "doing", "crew", "prop", "here"])
TIME = frozenset(
    [
        "when",
        "weekday",
        "month",
        "month_part",
        "nth",
        "mark",
        "about",
        "clock",
        "part",
        "ahead",
        "later",
        "soon",
        "days",
    ]
)

_FORBIDDEN = re.compile(
    r"years later|later (?:I )?(?:learn|discover|realis|realiz)|looking back|(?:did not|didn't) know then|only then did"
    r"|from then on|thereafter|the whole thing|the (?:worst|best|hardest|strangest) part (?:was|of)|if only I had known"
    r"|it took (?:me )?[^.]{1,30} to (?:realis|realiz)|I thought at the time|now thinking back|to this day"
    r"|ever since then",
    re.IGNORECASE,
)
_GENDERED = re.compile(
    r"\b(?:good|clever|big|brave) (?:girl|boy)\b(?=[,.!?]*\u201d)"
    r"|\u201c[^\u201d]*\b(?:sir|madam|miss|lad|lass|young (?:man|lady)|my (?:boy|girl)|son|daughter)\b[,.!?]*\u201d"
    r"|\bmy (?:husband|wife|boyfriend|girlfriend|beard|dress|skirt|bra)\b|\bas a (?:boy|girl|man|woman)\b",
    re.IGNORECASE,
)
_CLINICAL = re.compile(
    r"\b(?:trauma\w*|anxiety|anxious attachment|boundar(?:y|ies)|coping|dysregulat\w*|schema\w*|disorder|dissociat\w*"
    r"|triggered|attachment style|defen[cs]e mechanism\w*|catastrophi\w*|neurotic\w*|introver\w*|extrover\w*"
    r"|extraver\w*|conscientious\w*|agreeable\w*)\b",
    re.IGNORECASE,
)
_ABSTRACT = re.compile(
    r"\b(?:relationship|realis\w+|realiz\w+|perspective|ambivalen\w+|responsibilit\w+|consequence\w*|significan\w+|situation"
    r"|identity|emotion\w*|regret\w*|dignity|inevitabl\w+|awareness|existence|ultimately|nevertheless|furthermore|merely)\b",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"\b[Aa]n \{|\b[Aa]n \[(?![aeioAEIO])")


def check(path: Path) -> list[str]:
    """What is wrong in one file of the banks, one line each. Raises RequestError for a file that is no TOML."""
    try:
        raw = tomllib.loads(path.read_text("utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise RequestError("not a bank", path, expected=str(error), mend="Mend that line") from None
    if path.parent.name == "scenes":
        return [f"{path.name}: {problem}" for scene in read_scenes(path) for problem in _scene(scene)]
    if path.parent.name == "voices":
        return [f"{path.name}: {problem}" for problem in _voice(raw)]
    return []


def _scene(scene: Scene) -> Iterator[str]:
    needed = [beat for beat in BEATS if beat not in ("away", "detail")] + ["away"] * bool({"A", "B"} & set(scene.tiers))
    for beat in needed:
        if beat not in scene.beats:
            yield f"{scene.id}: beat {beat} is missing"
    for number, variant in enumerate(scene.variants):
        for handle in sorted(HANDLES - variant.keys()):
            yield f"{scene.id}: variant {number} lacks {handle}"
    unknown = sorted(set("|".join(scene.cast.values()).split("|")) - bank("cast")["query"].keys())
    if unknown or not {"other", "second"} <= scene.cast.keys():
        yield f"{scene.id}: cast asks for {', '.join(unknown) or 'no other or second'}"
    if scene.setting not in bank("settings"):
        yield f"{scene.id}: unknown setting {scene.setting}"
    own = {*scene.variants[0], *scene.once, *(bank("trades")["any"] if scene.language == "adult" else ())}
    for beat, lines in scene.beats.items():
        for line in lines:
            yield from (
                f"{scene.id}.{beat}: {problem}" for problem in line_problems(line, own, set(scene.cast), scene.language)
            )
        if beat == "open" and any(line.count("{when}") + line.count("{When}") != 1 for line in lines):
            yield f"{scene.id}.open: each line needs {{when}} exactly once"
    for text in (*(value for variant in scene.variants for value in variant.values()), *scene.summary, *scene.triggers):
        yield from (f"{scene.id}: {text!r}: {problem}" for problem in _slots_of(text, own, set(scene.cast)))


def _voice(raw: dict[str, Any]) -> Iterator[str]:
    parts = [("", raw), *((f"pattern {number}.", part) for number, part in enumerate(raw["pattern"]))]
    if len(parts) != 9:
        yield f"{len(parts) - 1} patterns instead of 8"
    for where, part in parts:
        for beat, lists in part.items():
            if isinstance(lists, dict):
                for language in (name for name in lists if name in (*LANGUAGES, "older", "all")):
                    spoken = "child" if language in ("child", "all") else "adult"
                    for line in lists[language]:
                        for problem in line_problems(line, HANDLES, {"other", "second"}, spoken):
                            yield f"{where}{beat}.{language}: {problem}: {line[:70]!r}"


def line_problems(line: str, known: set[str] | frozenset[str], people: set[str], language: str) -> Iterator[str]:
    """What is wrong with one line; ``known`` are its slots besides time, small words and ``people``."""
    yield from _slots_of(line, known, people)
    for name, pattern in (
        ("forbidden", _FORBIDDEN),
        ("gendered", _GENDERED),
        ("clinical", _CLINICAL),
        ("article", _ARTICLE),
    ):
        if found := pattern.search(line):
            yield f"{name} {found[0]!r}"
    if language == "child" and (found := _ABSTRACT.search(line)):
        yield f"too abstract for a child {found[0]!r}"
    if line.count("\u201c") != line.count("\u201d"):
        yield "unbalanced quotation marks"
    if '"' in line:
        yield "straight quotation mark"
    if not re.search(r"[.!?\u2026][\u201d>\]]*$", line):
        yield f"no stop at the end: {line[-30:]!r}"


def _slots_of(text: str, known: set[str] | frozenset[str], people: set[str]) -> Iterator[str]:
    try:
        templates: list[Template] = [template for _, template in parse_line(text)]
    except ValueError as error:
        yield str(error)
        return
    for name in dict.fromkeys(slot for template in templates for slot in slots(template)):
        head, _, form = name.partition(".")
        if form:
            if head not in people or form not in FORMS:
                yield f"unknown slot {{{name}}}"
        elif name not in people and name not in known and name not in HANDLES | TIME and name not in bank("words"):
            yield f"unknown slot {{{name}}}"
    for template in templates:
        if any(isinstance(node, Choice) and len(node.options) < 2 for node in template):
            yield "a choice of one"


def main(argv: Sequence[str] | None = None) -> int:
    """Check bank files; see ``--help``."""
    made = parser(
        "builders.offline.lint", "Check the phrase banks of the offline writer.", "python -m builders.offline.lint"
    )
    made.add_argument("files", nargs="*", type=Path, help="bank files (default: all)")
    return run(_command, made, argv)


def _command(parsed: argparse.Namespace) -> int:
    paths = parsed.files or sorted(FOLDER.rglob("*.toml"))
    problems = [problem for path in paths for problem in check(path)]
    if parsed.json:
        print_json({"files": len(paths), "problems": problems})
    else:
        for problem in problems:
            say(problem)
        say(f"{len(paths)} files, {len(problems)} problems", quiet=parsed.quiet)
    return FINDINGS if problems else DONE


if __name__ == "__main__":
    raise SystemExit(main())
