"""Checks of the phrase banks: what a writer of banks can get wrong, line by line.

A line has only slots somebody fills, balanced marks and stops, no expression a memory may not use
(HEART-BENCH appendix G.2, B.4), nothing that names the protagonist's gender, no clinical word, and in
child bands no abstraction. A scene has all handles in every variant, each of its type (``slots``), and the beats its
tiers need. Every line is told in all its wordings and read by the audits (``proofs``); ``--render`` prints them, for
somebody to read. Printed a file: sentences, and those that have fewer than three wordings and no slot (plain).

    python -m builders.offline.lint
    python -m builders.offline.lint --coverage
    python -m builders.offline.lint --render builders/offline/banks/scenes/teen_health.toml
    python -m builders.offline.lint builders/offline/banks/scenes/child_health.toml
"""

from __future__ import annotations

import argparse
import functools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from builders.offline.banks import BEATS, FOLDER, LANGUAGES, VOICE_BEATS, Scene, bank, read
from builders.offline.lines import fixed
from builders.offline.proofs.coverage import coverage_problems, table
from builders.offline.proofs.line_checks import AT_HOME, HANDLES, line_problems, slot_problems
from builders.offline.proofs.material import LEAST, material, ranges
from builders.offline.proofs.proof import Line, Proof, proof, shared_lines, wordings_of
from builders.offline.scene_files import read_scenes, scenes
from builders.offline.turns import lines_of_turns, parts, read_turns
from builders.offline.voices import read_voice, stems, voice, words
from schemas.command import DONE, FINDINGS, parser, print_json, run, say

# Banks of sentences that any scene may use.
_SHARED = frozenset({"settings", "weather", "body", "home", "tempted"})
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
    read(path)
    problems: list[str] = []
    found: list[Scene] = []
    if path.parent.name == "scenes":
        found = read_scenes(path)
        problems = [problem for scene in found for problem in _scene(scene)]
    elif path.parent.name == "voices":
        problems = list(_voice(path))
    elif path.parent.name == "turns":
        problems = list(_turns(path))
    elif path.stem in _SHARED:
        problems = list(_shared_problems(read(path)[1], path.stem))
    lines = [] if problems else lines_in(path)
    if problems:  # lines that cannot be rendered are fixed first
        return Checked([f"{path.name}: {problem}" for problem in problems], proof(()))
    made = proof(lines)
    problems = [*made.problems, *(lack for scene in found for lack in _lacks(scene))]
    return Checked([f"{path.name}: {problem}" for problem in problems], made, found)


def repeated(found: Sequence[Scene]) -> Iterator[str]:
    """Ids that two scenes have, and sentences that stand in two lines of the scenes or turns, word for word."""
    for scene_id, count in Counter(scene.id for scene in found).items():
        if count > 1:
            yield f"{scene_id}: {count} scenes have this id"
    first: dict[str, tuple[str, str]] = {}
    for scene in found:
        lines = [(beat, line) for beat, lines in scene.beats.items() for line in lines]
        for beat, line in (*lines, *lines_of_turns(parts(), scene.id)):
            where = f"{scene.id}.{beat}"
            for said in fixed(line):
                if len(said) > _SHORT and first.setdefault(said, (where, line)) != (where, line):
                    yield f"{where}: the same sentence as in {first[said][0]}: {said!r}"


def lines_in(path: Path) -> list[Line]:
    """The lines of a bank file, ready to be told; none of a file that has no sentences."""
    if path.parent.name == "scenes":
        return [line for scene in read_scenes(path) for line in _lines_of(scene)]
    if path.parent.name == "turns":
        return [
            Line(f"{scene.id}.{where}", text, scene.language, _handles_of(scene), needs=scene.needs)
            for scene, where, text in _turn_lines(path)
        ]
    if path.parent.name == "voices" or path.stem in _SHARED:
        return [line for line in _shared(read(path)[1]) if "feel" not in line.where]
    return []


def _handles_of(scene: Scene) -> Sequence[Mapping[str, str]]:
    """The values of a scene's slots, one set a variant."""
    return [
        {**variant, **{name: values[turn % len(values)] for name, values in scene.once.items()}}
        for turn, variant in enumerate(scene.variants)
    ]


def _turn_lines(path: Path) -> Iterator[tuple[Scene, str, str]]:
    """The lines of a file of turns, each with its scene and where it stands."""
    known = {scene.id: scene for scene in scenes()}
    made = read_turns(path)
    for name in dict.fromkeys(name for name, _ in made):
        yield from ((known[name], where, text) for where, text in lines_of_turns(made, name))


def _turns(path: Path) -> Iterator[str]:
    for scene, where, text in _turn_lines(path):
        for problem in line_problems(text, _own(scene), set(scene.cast), scene.language):
            yield f"{scene.id}.{where}: {problem}: {text[:70]!r}"


def _own(scene: Scene) -> set[str]:
    """The slots a scene fills, besides time, small words and people."""
    return {*scene.variants[0], *scene.once, *(bank("trades")["any"] if scene.language == "adult" else ())}


def _lines_of(scene: Scene) -> Iterator[Line]:
    handles = _handles_of(scene)
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
    own = _own(scene)
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
        yield from (f"{scene.id}: {text!r}: {problem}" for problem in slot_problems(text, own, set(scene.cast)))


def _lacks(scene: Scene) -> Iterator[str]:
    """What a scene whose lines are sound may still lack: enough to tell, and its kinds."""
    most, least = material(scene).most, LEAST[scene.language]
    if most < least:
        yield f"{scene.id}: all it has to tell is {most:,.0f} characters, at least {least:,} needed"
    if not scene.kinds:
        yield f"{scene.id}: no kinds, so no voice knows what it is about"


def _voice(path: Path) -> Iterator[str]:
    raw = read_voice(path)
    first = next((stem for stem in stems() if path.name.startswith(stem)), None)
    if first is None:
        yield f"the voice of nobody: name the file after one of {', '.join(stems())}"
    elif path.stem == first:
        yield from _lacking(raw)
    elif "pattern" in raw:
        yield f"patterns belong into {first}.toml"
    for beat in sorted(VOICE_BEATS & raw.keys()):
        for language, items in raw[beat].items():
            spoken = "child" if language in ("child", "all") else "adult"
            for line in map(words, items):
                for problem in line_problems(line, HANDLES, {"other", "second"}, spoken, beat):
                    yield f"{beat}.{language}: {problem}: {line[:70]!r}"


def _lacking(raw: Mapping[str, Any]) -> Iterator[str]:
    """What the first file of a voice lacks; others need nothing but what they add."""
    if len(raw.get("pattern", ())) != 8:
        yield f"{len(raw.get('pattern', ()))} patterns instead of 8"
    yield from (f"no {name}" for name in ("feel", "conclusion", "policy", "week") if name not in raw)


def main(argv: Sequence[str] | None = None) -> int:
    """Check bank files; see ``--help``."""
    made = parser(
        "builders.offline.lint", "Check the phrase banks of the offline writer.", "python -m builders.offline.lint"
    )
    made.add_argument("files", nargs="*", type=Path, help="bank files (default: all)")
    made.add_argument("--coverage", action="store_true", help="print how many scenes have a turn for each pattern")
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
    whole = not parsed.files or parsed.coverage
    voices = {archetype: voice(archetype) for archetype in stems().values()} if whole else {}
    problems += coverage_problems(voices, scenes(), parts()) if whole else ()
    if parsed.coverage:
        _say_coverage(table(voices, scenes(), parts()), parsed.quiet or parsed.json)
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


def _say_coverage(made: Mapping[tuple[str, str], Mapping[tuple[str, str], int]], quiet: bool) -> None:
    """Print the least number of scenes with a turn for each pattern: a line a pattern, a column a domain."""
    domains = sorted({domain for counts in made.values() for _, domain in counts})
    head = f"scenes with a turn ({'/'.join(LANGUAGES)})"
    say(f"{head:<48}{''.join(f'{name:>15}' for name in domains)}", quiet=quiet)
    for (archetype, tag), counts in made.items():
        cells = ("/".join(str(counts[language, domain]) for language in LANGUAGES) for domain in domains)
        say(f"{archetype:<9}{tag:<39}{''.join(f'{cell:>15}' for cell in cells)}", quiet=quiet)
    say("", quiet=quiet)


def _document(one: Checked) -> dict[str, float]:
    made = one.proof
    return {"sentences": made.sentences, "plain": made.plain}


if __name__ == "__main__":
    raise SystemExit(main())
