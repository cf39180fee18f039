"""Expert review of decisions, pairs and ratings: send items out, take judgements in, see where it stands.

HEART-BENCH 3.4 stage 2 and appendix D.2; ``docs/review.md`` is the manual.

    python -m validators.review export --annotators A1 A2 A3 --arbitrator B1 --limit 10
    python -m validators.review import build/heart/review/decisions/A1.csv A2-export.json
    python -m validators.review status
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from schemas.command import DONE, FINDINGS, Verb, add_benchmark, print_json, run_verb, say, whole_number
from schemas.errors import RequestError
from schemas.findings import Finding, in_order
from schemas.workspace import Workspace
from validators.rendering import described
from validators.review import desk, figures, rounds, second
from validators.review.answers import Answer
from validators.review.intake import check_kinds, cut
from validators.review.items import KINDS, Kind
from validators.review.labelstudio import read_export
from validators.review.sheets import missing_lines, read_sheet
from validators.review.tables import default_benchmark

_READERS = {".csv": read_sheet, ".json": read_export}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    verbs = {
        "export": Verb(
            "write what is to be judged, for each person",
            "python -m validators.review export --annotators A1 A2 A3 --arbitrator B1 --limit 10",
            _export_arguments,
            _export,
        ),
        "import": Verb(
            "take judgements in, and carry what they come to into the table",
            "python -m validators.review import build/heart/review/decisions/A1.csv export.json",
            _import_arguments,
            _import,
        ),
        "status": Verb(
            "say how far the review is, how far people agree, what they changed",
            "python -m validators.review status --json",
            _status_arguments,
            _status,
        ),
        "repeat": Verb(
            "begin a second, blind round: the same people judge some of the same decisions again",
            "python -m validators.review repeat --to second-round --limit 60",
            _repeat_arguments,
            _repeat,
        ),
    }
    return run_verb("validators.review", "Expert review: export, import, status, repeat.", verbs, argv)


def _shared_arguments(made: argparse.ArgumentParser) -> None:
    add_benchmark(made, default_benchmark())


def _export_arguments(made: argparse.ArgumentParser) -> None:
    _shared_arguments(made)
    made.add_argument("--kind", choices=KINDS, default=KINDS[0], help="what is judged (default: decisions)")
    made.add_argument("--annotators", nargs="+", metavar="NAME", help="code names; once, the round keeps them")
    made.add_argument("--arbitrator", metavar="NAME", help="code name of who decides where annotators differ")
    made.add_argument(
        "--limit", type=whole_number(1, 10**6), metavar="N", help="so many items, drawn by the seed (default: all)"
    )
    made.add_argument("--items", type=Path, metavar="FILE.jsonl", help="pairs or texts to rate (for those kinds)")


def _import_arguments(made: argparse.ArgumentParser) -> None:
    _shared_arguments(made)
    made.add_argument(
        "files", nargs="*", type=Path, metavar="FILE", help="sheets (.csv) and exports of Label Studio (.json)"
    )
    made.add_argument("--revise", action="store_true", help="a person's new judgement of the same text counts")


def _status_arguments(made: argparse.ArgumentParser) -> None:
    _shared_arguments(made)
    made.add_argument(
        "--second", type=Path, metavar="DIR", help="also say how far people agree with themselves in this second round"
    )


def _repeat_arguments(made: argparse.ArgumentParser) -> None:
    _shared_arguments(made)
    made.add_argument("--to", type=Path, required=True, metavar="DIR", help="workspace of the second round, a new one")
    made.add_argument(
        "--limit", type=whole_number(1, 10**6), metavar="N", help="so many decisions, drawn by the seed (default: all)"
    )


def _export(parsed: argparse.Namespace) -> int:
    space = Workspace(parsed.workspace, parsed.benchmark)
    kind: Kind = parsed.kind
    if (parsed.items is None) != (kind == "decisions"):
        expected = "none for decisions, one for pairs and ratings"
        raise RequestError("wrong --items", expected=expected, fix="See --help")
    asked = desk.Asked(kind, parsed.annotators, parsed.arbitrator, parsed.seed, parsed.limit, parsed.items)
    with space.lock():
        agreed, waiting = desk.export(space, asked)
    folder = rounds.folder(space, kind)
    if parsed.json:
        print_json({"folder": str(folder), "round": {"annotators": list(agreed.annotators)}, "waiting": waiting})
    for person, count in waiting.items():
        role = "to rule on" if person == agreed.arbitrator else "to judge"
        say(
            f"  {person:<20} {count:>5} {role}: {folder}/{person}.csv, {person}.tasks.json",
            quiet=parsed.quiet or parsed.json,
        )
    return DONE


def _import(parsed: argparse.Namespace) -> int:
    space = Workspace(parsed.workspace, parsed.benchmark)
    files = {path: _read(path) for path in parsed.files}
    answers = [answer for path in parsed.files for answer in files[path]]
    check_kinds(answers, KINDS)
    with space.lock():
        done = desk.take_answers(space, answers, parsed.revise)
    for path, lines in files.items():
        gone, total = missing_lines(lines) if path.suffix.lower() == ".csv" else (0, 0)
        if gone or not lines:
            done.findings.append(cut(str(path), gone, total))
    document = {"taken": done.counts["taken"], "known": done.counts["known"], "refused": done.counts["refused"]}
    return _report(parsed, document, done.findings, [", ".join(f"{count} {what}" for what, count in document.items())])


def _read(path: Path) -> list[Answer]:
    if path.suffix.lower() not in _READERS:
        raise RequestError("unknown kind of file", path, expected=", ".join(_READERS), fix="Name a sheet or an export")
    return _READERS[path.suffix.lower()](path)


def _status(parsed: argparse.Namespace) -> int:
    space = Workspace(parsed.workspace, parsed.benchmark)
    known = [agreed for kind in KINDS if (agreed := rounds.read_round(space, kind))]
    if not known:
        fix = "Run first: python -m validators.review export --annotators A1 A2 A3 --arbitrator B1"
        raise RequestError("no review", space.folder, expected="a round", fix=fix)
    documents, found = [], []
    for agreed in known:
        judged = rounds.judgements(space, agreed.kind)
        documents.append(figures.figures(agreed, judged, desk.untouched(space, agreed, judged)))
        found += desk.findings(space, agreed, judged)
    lines = [line for document in documents for line in _lines(document)]
    if parsed.second:
        again = second.agreement(space, Workspace(parsed.second, parsed.benchmark))
        return _report(parsed, {"rounds": documents, "again": again}, found, [*lines, *_lines({"again": again})])
    return _report(parsed, {"rounds": documents}, found, lines)


def _repeat(parsed: argparse.Namespace) -> int:
    space = Workspace(parsed.workspace, parsed.benchmark)
    with space.lock():
        begun = second.begin(space, parsed.to, parsed.seed, parsed.limit)
    if parsed.json:
        print_json({"folder": str(begun.folder), "waiting": dict(begun.waiting), "changed": begun.changed})
    for person, count in begun.waiting.items():
        say(f"  {person:<20} {count:>5} to judge again: {begun.folder}/{person}.csv", quiet=parsed.quiet or parsed.json)
    if begun.changed:
        what = f"{begun.changed:,} judged texts left out: person or situation read otherwise now"
        say(what, quiet=parsed.quiet or parsed.json)
    return DONE


def _report(
    parsed: argparse.Namespace, document: dict[str, Any], found: Sequence[Finding], lines: Sequence[str]
) -> int:
    findings = in_order(found)
    if parsed.json:
        print_json({**document, "findings": [each.as_dict() for each in findings]})
    else:
        for line in [*lines, *(described(each, each.table) for each in findings)]:
            say(line, quiet=parsed.quiet)
    return FINDINGS if any(each.severity == "error" for each in findings) else DONE


def _lines(document: dict[str, Any], indent: str = "  ") -> list[str]:
    """A document as indented lines, for people."""
    lines = []
    for name, value in document.items():
        label = f"{indent}{name.replace('_', ' ')}"
        if isinstance(value, dict):
            lines += [label, *_lines(value, indent + "  ")]
        else:
            shown = "not defined" if value is None else f"{value:.3f}" if isinstance(value, float) else value
            lines.append(f"{label:<44} {', '.join(shown) if isinstance(shown, list) else shown}")
    return lines


if __name__ == "__main__":
    raise SystemExit(main())
