"""The command that says whether questions can be answered without what they ask about.

python -m audits.shortcuts --benchmark heart-published --json
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from audits.report import one_line
from audits.shortcuts.rates import Rate
from audits.shortcuts.report import Report, audit_questions, described
from schemas import command
from schemas.findings import counts
from schemas.sources import add_source, source


def main(argv: Sequence[str] | None = None) -> int:
    """Report the shortcuts of a benchmark's questions; exit code 1 when there are findings."""
    made = command.parser(
        "audits.shortcuts",
        "Can the questions be answered without what they ask about? Letters, lengths, distractors, words, solvers.",
        "python -m audits.shortcuts --benchmark heart-published --json",
    )
    add_source(made)
    command.add_benchmark(made)
    made.add_argument("--no-solvers", action="store_true", help="leave out the solvers, which take seconds")
    return command.run(_run, made, argv)


def _run(arguments: argparse.Namespace) -> int:
    found = source(arguments)
    chosen = found.benchmark
    tables = {}
    if chosen.questions:
        asked = chosen.questions
        tables = {name: list(found.rows(name)) for name in (asked.table, asked.keys)}
        tables |= {name: found.if_any(name) for name in (asked.decisions, asked.people) if name}
    report = audit_questions(chosen, tables, not arguments.no_solvers)
    if arguments.json:
        measured = {name: getattr(report, name) for name in report.__dataclass_fields__}
        command.print_json({"benchmark": arguments.benchmark, "counts": counts(report.findings), **measured})
    if not arguments.quiet and not arguments.json:
        _show(report)
    return command.FINDINGS if report.findings else command.DONE


def _show(report: Report) -> None:
    letters, sources, persons = report.letters, report.sources, report.persons
    by_letter = ", ".join(f"{letter} {count}" for letter, count in letters.counts.items())
    skew = ", ".join(f"{name} {sources.excess(name):+.0f}" for name in sorted(sources.counts, key=sources.excess))
    lines = {
        "answers": f"{by_letter} (p {letters.p:.2g})",
        "longest right": _measured(report.lengths.longest),
        "shortest right": _measured(report.lengths.shortest),
        "distractors": f"{skew} against a fair draw (p {sources.p:.2g})",
        "opposite pole": _measured(report.poles),
        "whose alone": _measured(report.design),
        "options alone": _measured(report.text),
        "most alike": _measured(report.middle),
        "other questions": _measured(report.transductive),
        "without ids": _measured(report.clustered),
        "with their keys": _measured(report.keyed),
        "third person": f"{persons.third} of {persons.texts} texts; {persons.speechless} do not name the speaker",
    }
    command.say(f"{report.questions} questions")
    for name, line in lines.items():
        command.say(f"  {name:<15} {line}")
    command.say(f"{len(report.findings)} findings")
    for found in report.findings:
        words = f"“{one_line(found.text)}”  " if found.text else ""
        where = f"{found.row_id} {found.field or ''}"
        command.say(f"  {found.severity:<8} {found.code:<16} {where}  {words}{found.message}")


def _measured(rate: Rate | None) -> str:
    return described(rate) if rate else "not measured"
