"""How well the audits agree with labels: precision and recall of each code on labelled sentences.

``tests/cases/audits/<code>.txt`` holds sets of labelled cases: ``+`` where a reader finds what the code
is for (or, for ``rubin.*`` and ``urgency.missing``, the sign whose absence it reports), ``-`` where not.
Each set was made from the rules alone, without sight of the expressions; ``patterns`` and ``scenes`` are the hits and
misses that pattern files and tests once held, ``plain`` sentences of released memories. Patterns and the linear model
are fitted to all sets but ``unseen``, which nobody may fit: only its figures say what to expect on other text.
Each case is put through the audit itself, as the text of an otherwise sound row.

``tests/cases/whole_memories.jsonl`` holds whole memories by other hands, some with faults of a key: running text,
in which nearly all is sound.

    python -m perf.quality.agreement
    python -m perf.quality.agreement --set unseen --code perspective.future --wrong
    python -m perf.quality.agreement --whole
"""

from __future__ import annotations

import argparse
import copy
import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from audits import audit
from audits.checks import rubin, scenarios
from audits.subjects import Subject
from audits.text.passage import Passage
from schemas.command import DONE, parser, print_json, run, say
from schemas.errors import unknown
from schemas.findings import Finding

FOLDER = Path(__file__).resolve().parents[2] / "tests/cases/audits"
WHOLE = FOLDER.parent / "whole_memories.jsonl"
UNSEEN = "unseen"

_FIELDS = {
    "anchor.identity": ("scenarios", "context_text", {"anchor.identity"}),
    "decisions.clinical": ("decisions", "final_decision", {"vocabulary.clinical"}),
    "decisions.citation": ("decisions", "final_decision", {"citation.memory", "format.residue"}),
    "decisions.third": ("decisions", "final_decision", {"person.third"}),
}
"""Whose sentences are no memory's: table, field and the codes that raise them."""

_LEADS = {
    "rubin.sensory": "It smelled of tar. ",  # two signs are needed
    "rubin.aftermath": "He came in and put the box on the shelf, and we both sat down and counted what was in it. ",
}
"""What stands before a sentence that alone could not show a dimension."""


@dataclass(frozen=True)
class Agreement:
    """What a code found in the sentences of a set: how many rightly, how many a reader finds, and where they differ."""

    code: str
    set: str
    found: int
    right: int
    wanted: int
    cases: int
    wrong: tuple[str, ...]

    @property
    def precision(self) -> float:
        """The share of what is found that a reader finds; 1 where nothing is found."""
        return self.right / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        """The share of what a reader finds that is found; 1 where there is nothing to find."""
        return self.right / self.wanted if self.wanted else 1.0


def labelled(path: Path) -> dict[str, list[tuple[bool, str]]]:
    """The sentences of a file by set: (whether a reader finds something, sentence)."""
    sets: dict[str, list[tuple[bool, str]]] = {}
    for line in path.read_text("utf-8").splitlines():
        if line.startswith("# "):
            now = sets.setdefault(line[2:], [])
        else:
            now.append((line[0] == "+", line[2:].replace("\\n", "\n")))
    return sets


def agreement(code: str, name: str, sentences: Sequence[tuple[bool, str]]) -> Agreement:
    """How a code agrees with the labels of a set."""
    found = [(wanted, _finds(code, sentence), sentence) for wanted, sentence in sentences]
    return Agreement(
        code=code,
        set=name,
        found=sum(hit for _, hit, _ in found),
        right=sum(wanted and hit for wanted, hit, _ in found),
        wanted=sum(wanted for wanted, _, _ in found),
        cases=len(found),
        wrong=tuple(f"{'missed' if wanted else 'false'}: {text}" for wanted, hit, text in found if wanted != hit),
    )


def pooled(several: Sequence[Agreement], name: str) -> Agreement:
    """All cases of several agreements as one."""
    found, right, wanted, cases = (
        sum(getattr(each, f) for each in several) for f in ("found", "right", "wanted", "cases")
    )
    return Agreement("all codes", name, found, right, wanted, cases, ())


def _finds(code: str, sentence: str) -> bool:
    if code == "urgency.missing":
        return scenarios.presses([sentence])
    if code.startswith("rubin."):
        read = [Subject("memories", "MEM_04_0001", {"content_full": _LEADS.get(code, "") + sentence})]
        return code not in {finding.code for finding in rubin.audit(read, [Passage(read[0].text("content_full"))])}
    table, field, wanted = _FIELDS.get(code, ("memories", "content_full", {code}))
    row = {**copy.deepcopy(_sound()[table]), field: sentence}
    if table == "memories":
        row |= {"age": 9, "emotion_signature": {"primary": "worry", "secondary": "relief", "intensity": 0.2}}
    return any(finding.code in wanted for finding in audit(table, [row], only=wanted))


@functools.cache
def _sound() -> dict[str, Any]:
    found: dict[str, Any] = orjson.loads((FOLDER.parent / "sound_rows.json").read_bytes())
    return found


@dataclass(frozen=True)
class Running:
    """What a code found in the whole memories of a set: of the faults of the key, and elsewhere.

    Only errors and warnings catch a fault; ``notes``, wherever they point, are counted apart.
    """

    code: str
    set: str
    memories: int
    faults: int
    caught: int
    elsewhere: int
    notes: int
    wrong: tuple[str, ...]


def running(name: str | None = None) -> list[Running]:
    """How the codes of the key fare in running text, a set and code at a time."""
    memories = [orjson.loads(line) for line in WHOLE.read_bytes().splitlines()]
    names = list(dict.fromkeys(row["set"] for row in memories))
    codes = sorted({fault["code"] for row in memories for fault in row["faults"]})
    if name is not None and name not in names:
        raise unknown("set", name, names, WHOLE)
    chosen = names if name is None else [name]
    return [_running(code, each, [row for row in memories if row["set"] == each]) for each in chosen for code in codes]


def _running(code: str, name: str, memories: Sequence[dict[str, Any]]) -> Running:
    faults, caught = 0, 0
    elsewhere: list[Finding] = []
    notes: list[Finding] = []
    missed: list[str] = []
    for row in memories:
        text = row["content_full"]
        key = {each["words"]: text.index(each["words"]) for each in row["faults"] if each["code"] == code}
        found = audit("memories", [row], only=[code])
        notes += [each for each in found if each.severity == "note"]
        told = [each for each in found if each.severity != "note"]
        here = {words for words, at in key.items() if any(_overlaps(each, at, at + len(words)) for each in told)}
        faults, caught = faults + len(key), caught + len(here)
        missed += [f"missed: {row['id']} {words}" for words in key if words not in here]
        elsewhere += [f for f in told if not any(_overlaps(f, at, at + len(words)) for words, at in key.items())]
    wrong = missed + [f"{each.severity}: {each.row_id} {each.text}" for each in (*elsewhere, *notes)]
    return Running(code, name, len(memories), faults, caught, len(elsewhere), len(notes), tuple(wrong))


def _overlaps(finding: Finding, start: int, end: int) -> bool:
    first, last = finding.span or (0, 0)
    return first < end and last > start


def main(argv: Sequence[str] | None = None) -> int:
    """Print precision and recall of every code and set; returns the exit code."""
    made = parser(
        "perf.quality.agreement",
        "Precision and recall of the audits on labelled sentences.",
        "python -m perf.quality.agreement",
    )
    made.add_argument("--code", metavar="CODE", help="one code")
    made.add_argument("--set", metavar="NAME", help=f"one set, e.g. {UNSEEN}")
    made.add_argument("--whole", action="store_true", help="whole memories instead of sentences")
    made.add_argument("--wrong", action="store_true", help="also show the sentences on which audit and reader differ")
    return run(_command, made, argv)


def _command(arguments: argparse.Namespace) -> int:
    if arguments.whole:
        return _tell_running(arguments)
    measured = list(_measured(arguments.code, arguments.set))
    if arguments.json:
        rows = [{**vars(each), "precision": each.precision, "recall": each.recall} for each in measured]
        print_json({"rows": rows})
        return DONE
    say(f"{'precision':>9} {'recall':>7} {'cases':>6}  code and set")
    names = list(dict.fromkeys(each.set for each in measured))
    for each in [*measured, *(pooled([one for one in measured if one.set == name], name) for name in names)]:
        say(f"{each.precision:9.3f} {each.recall:7.3f} {each.cases:6,}  {each.code} {each.set}")
        for line in each.wrong if arguments.wrong else ():
            say(f"{'':>25}{line}")
    return DONE


def _tell_running(arguments: argparse.Namespace) -> int:
    measured = [each for each in running(arguments.set) if arguments.code in (None, each.code)]
    if arguments.json:
        print_json({"rows": [vars(each) for each in measured]})
        return DONE
    say(f"{'faults':>7} {'caught':>7} {'elsewhere':>10} {'notes':>6} {'memories':>9}  code and set")
    for each in measured:
        counts = f"{each.faults:7} {each.caught:7} {each.elsewhere:10} {each.notes:6} {each.memories:9}"
        say(f"{counts}  {each.code} {each.set}")
        for line in each.wrong if arguments.wrong else ():
            say(f"{'':>45}{line}")
    return DONE


def _measured(code: str | None, name: str | None) -> Iterator[Agreement]:
    files = {path.stem: path for path in sorted(FOLDER.glob("*.txt"))}
    if code is not None and code not in files:
        raise unknown("labelled code", code, files)
    by_code = {stem: labelled(path) for stem, path in files.items() if code in (None, stem)}
    if name is not None and all(name not in sets for sets in by_code.values()):
        raise unknown("set", name, dict.fromkeys(one for sets in by_code.values() for one in sets))
    for stem, sets in by_code.items():
        yield from (agreement(stem, one, cases) for one, cases in sets.items() if name in (None, one))


if __name__ == "__main__":
    raise SystemExit(main())
