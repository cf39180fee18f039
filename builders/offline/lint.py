"""Checks of the phrase banks: what a writer of banks can get wrong, line by line.

A line has only slots somebody fills, balanced marks and stops, no expression a memory may not use
(HEART-BENCH appendix G.2, B.4), nothing that names the protagonist's gender, no clinical word, and in
child bands no abstraction. A scene has all handles in every variant, each of its type (``slots``), and the beats its
tiers need. Every line is told in all its wordings and read by the audits (``proof``); ``--render`` prints them, for
somebody to read. Printed a file: sentences, and those that have fewer than three wordings and no slot (plain).

    python -m builders.offline.lint
    python -m builders.offline.lint --render builders/offline/banks/scenes/teen_health.toml
    python -m builders.offline.lint builders/offline/banks/scenes/child_health.toml
"""

from __future__ import annotations

import argparse
import functools
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from builders.offline import slots as slot_types
from builders.offline.banks import BEATS, FOLDER, LANGUAGES, Scene, bank
from builders.offline.cast import FORMS
from builders.offline.grammar import Choice, Template, parse_line, slots
from builders.offline.lines import fixed
from builders.offline.material import LEAST, material, ranges
from builders.offline.proof import Line, Proof, proof, shared_lines, wordings_of
from builders.offline.scene_files import read_scenes, scenes
from schemas.command import DONE, FINDINGS, parser, print_json, run, say
from schemas.errors import RequestError

# Banks of sentences that any scene may use.
_SHARED = frozenset({"settings", "weather", "body", "home", "tempted"})
# What every variant of a scene gives, because voices use it in any scene.
HANDLES = frozenset(["matter", "fix", "easy", "doing", "fear_s"])
# People and things of the ledger at home, which lines of home.toml name.
AT_HOME = frozenset(["partner", "child", "pet", "keepsake", "ailment"])
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

# A sentence of so many characters may stand in two scenes ("“Well?” said my mother.").
_SHORT = 30


@dataclass(frozen=True)
class Checked:
    """What is wrong in one file of the banks, one line each, and the figures of its lines."""

    problems: list[str]
    proof: Proof
    scenes: Sequence[Scene] = ()


def check(path: Path) -> Checked:
    """Read one file of the banks. Raises RequestError for a file that is no TOML."""
    try:
        raw = tomllib.loads(path.read_text("utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise RequestError("not a bank", path, expected=str(error), fix="Correct that line") from None
    problems: list[str] = []
    told: list[Scene] = []
    if path.parent.name == "scenes":
        told = read_scenes(path)
        problems = [problem for scene in told for problem in _scene(scene)]
    elif path.parent.name == "voices":
        problems = list(_voice(raw))
    elif path.stem in _SHARED:
        problems = list(_shared_problems(raw, path.stem))
    lines = [] if problems else lines_in(path)
    if problems:  # lines that cannot be rendered are fixed first
        return Checked([f"{path.name}: {problem}" for problem in problems], proof(()))
    made = proof(lines)
    problems = [*made.problems, *(thin for scene in told for thin in _thin(scene))]
    return Checked([f"{path.name}: {problem}" for problem in problems], made, told)


def repeated(told: Sequence[Scene]) -> Iterator[str]:
    """Ids that two scenes have, and sentences that stand in two lines of the scenes, word for word."""
    for scene_id, count in Counter(scene.id for scene in told).items():
        if count > 1:
            yield f"{scene_id}: {count} scenes have this id"
    first: dict[str, tuple[tuple[str, str], str]] = {}
    for scene in told:
        for beat, lines in scene.beats.items():
            for line in lines:
                where = f"{scene.id}.{beat}"
                for said in fixed(line):
                    if len(said) > _SHORT and first.setdefault(said, ((where, line), where))[0] != (where, line):
                        yield f"{where}: the same sentence as in {first[said][1]}: {said!r}"


def lines_in(path: Path) -> list[Line]:
    """The lines of a bank file, ready to be told; none of a file that has no sentences."""
    if path.parent.name == "scenes":
        return [line for scene in read_scenes(path) for line in _lines_of(scene)]
    if path.parent.name == "voices" or path.stem in _SHARED:
        return [line for line in _shared(tomllib.loads(path.read_text("utf-8"))) if "feel" not in line.where]
    return []


def _lines_of(scene: Scene) -> Iterator[Line]:
    handles = [
        {**variant, **{name: values[turn % len(values)] for name, values in scene.once.items()}}
        for turn, variant in enumerate(scene.variants)
    ]
    for beat, texts in scene.beats.items():
        for text in texts:
            yield Line(f"{scene.id}.{beat}", text, scene.language, handles, needs=scene.needs)
    for text in scene.summary:
        yield Line(f"{scene.id}.summary", text, scene.language, handles, short=True)
    for text in scene.place:
        yield Line(f"{scene.id}.place", text, scene.language, handles, short=True)


def _shared(raw: dict[str, Any]) -> list[Line]:
    """The sentences of a bank that any scene may use, told with the handles of some scene of the language."""
    return [
        Line(where, text, language, _handles(language), short=where.rpartition(".")[2] in ("conclusion", "policy"))
        for where, language, text in shared_lines(raw)
    ]


def _shared_problems(raw: dict[str, Any], name: str) -> Iterator[str]:
    people = {"other", "second"} | AT_HOME
    for where, language, text in shared_lines(raw):
        beat = next((part for part in where.split(".") if part in BEATS or part in ("before", "evening")), "")
        beat = "ambience" if name in ("settings", "weather") else beat
        for problem in line_problems(text, HANDLES, people, language, beat):
            yield f"{where}: {problem}: {text[:70]!r}"


@functools.cache
def _handles(language: str) -> Sequence[Mapping[str, str]]:
    return [scene.variants[0] for scene in scenes() if scene.language == language]


def _scene(scene: Scene) -> Iterator[str]:
    optional = {"detail"} | ({"away"} if not {"A", "B"} & set(scene.tiers) else set())
    needed = [beat for beat in BEATS if beat not in optional]
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
    if len({frozenset(variant) for variant in scene.variants}) > 1:
        yield f"{scene.id}: variants have different handles"
    for beat, lines in scene.beats.items():
        for line in lines:
            yield from (
                f"{scene.id}.{beat}: {problem}: {line[:70]!r}"
                for problem in line_problems(line, own, set(scene.cast), scene.language, beat)
            )
        if beat == "open" and any(line.count("{when}") + line.count("{When}") != 1 for line in lines):
            yield f"{scene.id}.open: each line needs {{when}} exactly once"
    for text in (*(value for variant in scene.variants for value in variant.values()), *scene.summary, *scene.triggers):
        yield from (f"{scene.id}: {text!r}: {problem}" for problem in _slots_of(text, own, set(scene.cast)))


def _thin(scene: Scene) -> Iterator[str]:
    most, least = material(scene).most, LEAST[scene.language]
    if most < least:
        yield f"{scene.id}: all it has to tell is {most:,.0f} characters, at least {least:,} needed"


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
                        for problem in line_problems(line, HANDLES, {"other", "second"}, spoken, beat):
                            yield f"{where}{beat}.{language}: {problem}: {line[:70]!r}"


def line_problems(
    line: str, known: set[str] | frozenset[str], people: set[str], language: str, beat: str = ""
) -> Iterator[str]:
    """What is wrong with one line; ``known`` are its slots besides time, small words and ``people``."""
    yield from _slots_of(line, known, people)
    yield from slot_types.place_problems(line, {})
    for fault, pattern in _faults():
        wanted = beat in fault.get("where", (beat,)) and language == fault.get("language", language)
        if wanted and (found := pattern.search(line)):
            yield f"{fault['about']} {found[0]!r}"
    if line.count("\u201c") != line.count("\u201d"):
        yield "unbalanced quotation marks"
    if '"' in line:
        yield "straight quotation mark"
    if not re.search(r"[.!?\u2026][\u201d>\]]*$", line):
        yield f"no stop at the end: {line[-30:]!r}"


@functools.cache
def _faults() -> Sequence[tuple[dict[str, Any], re.Pattern[str]]]:
    """What no line may say, with its pattern (``banks/faults.toml``)."""
    return [(fault, re.compile(fault["pattern"])) for fault in bank("faults")["fault"]]


def _slots_of(text: str, known: set[str] | frozenset[str], people: set[str]) -> Iterator[str]:
    try:
        templates: list[Template] = [template for _, template in parse_line(text)]
    except ValueError as error:
        yield str(error)
        return
    for name in dict.fromkeys(slot for template in templates for slot in slots(template)):
        head, _, form = name.partition(".")
        if form:
            if head not in people | AT_HOME | {"ground"} or form not in FORMS:
                yield f"unknown slot {{{name}}}"
        elif name not in people | known | HANDLES | TIME | AT_HOME and name not in bank("words"):
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
    made.add_argument("--render", action="store_true", help="print every line with each kind of filler, to be read")
    return run(_command, made, argv)


def _command(parsed: argparse.Namespace) -> int:
    paths = parsed.files or sorted(FOLDER.rglob("*.toml"))
    if parsed.render:
        for line in (line for path in paths for line in lines_in(path)):
            say("\n  ".join([f"{line.where}:", *wordings_of(line)]))
        return DONE
    checked = {path: check(path) for path in paths}
    problems = [problem for one in checked.values() for problem in one.problems]
    problems += repeated([scene for one in checked.values() for scene in one.scenes])
    if parsed.json:
        print_json({"files": {path.name: _document(one) for path, one in checked.items()}, "problems": problems})
        return FINDINGS if problems else DONE
    for problem in problems:
        say(problem)
    say(f"{'sentences':>43}{'plain':>8}", quiet=parsed.quiet)
    for path, one in checked.items():
        if one.proof.words:
            figures = f"{one.proof.sentences:>12}{one.proof.plain:>8}"
            say(f"{path.name:<31}{figures}", quiet=parsed.quiet)
    say("", quiet=parsed.quiet)
    for band, (least, low, high) in ranges(scene for one in checked.values() for scene in one.scenes).items():
        said = f"{least:,.0f} characters in any memory; all it can say: {low:,.0f} to {high:,.0f}"
        say(f"{band} scenes: {said}", quiet=parsed.quiet)
    say(f"{len(paths)} files, {len(problems)} problems", quiet=parsed.quiet)
    return FINDINGS if problems else DONE


def _document(one: Checked) -> dict[str, float]:
    made = one.proof
    return {"sentences": made.sentences, "plain": made.plain}


if __name__ == "__main__":
    raise SystemExit(main())
