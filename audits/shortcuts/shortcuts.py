"""Shortcuts: can the questions be answered without what they ask about?

Letters, lengths, whose decisions serve as distractors, twins among options, words that give the key
away, and three solvers that know nothing of the character: one reads only the options, one takes the
option most like the others, one knows only whose they are (``audits.shortcuts.solvers``). Rates stand beside their
level by chance and a 95 % interval that allows for questions sharing a scenario (``audits.shortcuts.rates``).
HEART-BENCH 3.4 and appendix D.3.

    python -m audits.shortcuts --benchmark heart-published --json
"""

from __future__ import annotations

import argparse
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from audits.duplicates.neighbours import one_blas_thread
from audits.evenness import evenness
from audits.report import one_line
from audits.shortcuts import leaks, solvers
from audits.shortcuts.questions import (
    Opposites,
    Poles,
    Question,
    opposites,
    poles,
    published_poles,
    questions,
    texts_of,
)
from audits.shortcuts.rates import Rate, rate
from schemas import command
from schemas.errors import RequestError
from schemas.findings import Finding, counts, in_order
from schemas.sources import add_source, source
from schemas.tables import Row

_DOUBT = 0.01  # p-values below are findings
_EVERY = "*"  # row id of a finding on the table as a whole


_SINGULAR = 1e-9
"""Counts add up to a constant: one eigenvalue of their covariance, below this share, is rounding."""


@dataclass(frozen=True)
class Letters:
    """How often each letter is the answer, and the p-value of all being equally likely."""

    counts: dict[str, int]
    chi2: float
    p: float


@dataclass(frozen=True)
class Lengths:
    """How often the longest and the shortest option is right; mean characters of right and wrong options."""

    longest: Rate
    shortest: Rate
    mean_right: float
    mean_wrong: float


@dataclass(frozen=True)
class Sources:
    """How often each character is a distractor, and how often it would be if all candidates were equally likely."""

    counts: dict[str, int]
    expected: dict[str, float]
    evenness: float | None
    chi2: float
    p: float

    def excess(self, name: str) -> float:
        """How much more often a character is a distractor than in a fair draw."""
        return self.counts[name] - self.expected[name]


@dataclass(frozen=True)
class Persons:
    """Distinct option texts: how many open with He, She or They, how many have no word for their speaker."""

    texts: int
    third: int
    speechless: int


@dataclass(frozen=True)
class Report:
    """What was measured, and the findings it comes to.

    ``poles``: questions of characters with an opposite, and how often the opposite is among the
    distractors. ``design``, ``text`` and ``middle``: what the solver that knows only whose the options
    are, the one that only reads them, and the one that takes the option most like the others score.
    None where a measure is not defined or was not asked for.
    """

    questions: int
    letters: Letters
    lengths: Lengths
    sources: Sources
    poles: Rate | None
    design: Rate | None
    text: Rate | None
    middle: Rate | None
    persons: Persons
    findings: tuple[Finding, ...]


def measure(
    mcqs: Iterable[Row],
    keys: Iterable[Row],
    decisions: Iterable[Row] = (),
    known_poles: Poles | None = None,
    solve: bool = True,
) -> Report:
    """Everything about the rows of ``mcqs`` and ``mcq_keys``; the same rows give the same report.

    ``decisions`` tell which distractors there were to choose from; ``known_poles``
    (``audits.shortcuts.questions.poles``) who is whose opposite. ``solve=False`` leaves the solvers out, which take
    seconds. Raises RequestError for no questions, and for questions and keys that do not fit.
    """
    asked = questions(mcqs, keys, decisions)
    if not asked:
        raise RequestError("no questions", "mcqs", mend="Build or import the tables mcqs and mcq_keys first")
    against = opposites(known_poles or {})
    letters, lengths, sources, pole = _letters(asked), _lengths(asked), _sources(asked), _poles(asked, against)
    with one_blas_thread():
        tried = _tried(asked, against) if solve else (None, None, None)
    design, text, middle = (None if hits is None else _answered(asked, hits) for hits in tried)
    found = [*leaks.leaks(asked), *leaks.twins(asked)]
    found += _whole(letters, lengths, sources)
    found += _above("shortcut.pole", pole, "the opposite pole of the character is among the distractors")
    found += _above("shortcut.design", design, "a solver that knows only whose the options are is right")
    found += _above("shortcut.text", text, "a solver that only reads the options is right")
    found += _above("shortcut.middle", middle, "the option most like the others is right")
    findings = tuple(in_order(found))
    return Report(len(asked), letters, lengths, sources, pole, design, text, middle, _persons(asked), findings)


def _tried(asked: Sequence[Question], against: Opposites) -> tuple[list[float] | None, ...]:
    return solvers.by_source(asked, against), solvers.by_text(asked), solvers.by_likeness(asked)


def _letters(asked: Sequence[Question]) -> Letters:
    from scipy.stats import chi2

    labels = sorted({label for question in asked for label in question.labels})
    seen = Counter(question.labels[question.answer] for question in asked)
    expected = {label: sum(1 / len(q.labels) for q in asked if label in q.labels) for label in labels}
    statistic = math.fsum((seen[label] - expected[label]) ** 2 / expected[label] for label in labels)
    return Letters({label: seen[label] for label in labels}, statistic, float(chi2.sf(statistic, len(labels) - 1)))


def _lengths(asked: Sequence[Question]) -> Lengths:
    def cue(sign: int) -> Rate:
        hits = []
        for question in asked:
            sizes = [sign * len(text) for text in question.texts]
            best = [place for place, size in enumerate(sizes) if size == max(sizes)]
            hits.append((question.answer in best) / len(best))
        return _answered(asked, hits)

    right = [len(question.texts[question.answer]) for question in asked]
    both = [len(text) for question in asked for text in question.texts]
    wrong = (sum(both) - sum(right)) / max(len(both) - len(right), 1)
    return Lengths(cue(1), cue(-1), sum(right) / len(right), wrong)


def _sources(asked: Sequence[Question]) -> Sources:
    """Counts of distractors against a draw without replacement from each question's candidates."""
    import numpy as np
    from scipy.stats import chi2

    names = sorted({name for question in asked for name in question.offered})
    seen = Counter(name for question in asked for name in question.distractors)
    expected, covariance = np.zeros(len(names)), np.zeros((len(names), len(names)))
    for question in asked:
        places, drawn = [names.index(name) for name in sorted(question.offered)], len(question.distractors)
        share = drawn / len(places)
        expected[places] += share
        if len(places) > drawn:
            spread = share * (1 - share) * len(places) / (len(places) - 1)
            covariance[np.ix_(places, places)] += spread * (np.eye(len(places)) - 1 / len(places))
    excess = np.array([seen[name] for name in names]) - expected
    statistic = float(excess @ np.linalg.pinv(covariance, rcond=_SINGULAR, hermitian=True) @ excess)
    free = int(np.linalg.matrix_rank(covariance, tol=_SINGULAR * covariance.max(), hermitian=True))
    return Sources(
        {name: seen[name] for name in names},
        {name: round(float(value), 3) for name, value in zip(names, expected, strict=True)},
        evenness(seen),
        statistic,
        float(chi2.sf(statistic, free)) if free else 1.0,
    )


def _poles(asked: Sequence[Question], against: Opposites) -> Rate | None:
    polar = [question for question in asked if against.get(question.character)]
    if not polar:
        return None
    hits, chances = [], []
    for question in polar:
        present, drawn = against[question.character] & question.offered, len(question.distractors)
        hits.append(float(not present.isdisjoint(question.distractors)))
        chances.append(
            1 - math.comb(len(question.offered) - len(present), drawn) / math.comb(len(question.offered), drawn)
        )
    return rate(hits, chances, [question.scenario for question in polar])


def _persons(asked: Sequence[Question]) -> Persons:
    person, texts = leaks.codes()["shortcut.person"], list(texts_of(asked))
    assert person.expression is not None and person.required is not None
    return Persons(
        len(texts),
        sum(person.expression.search(text) is not None for text in texts),
        sum(person.required.search(text) is None for text in texts),
    )


def _answered(asked: Sequence[Question], hits: Sequence[float]) -> Rate:
    """How often a way to answer is right, beside a blind guess."""
    return rate(hits, [1 / len(question.texts) for question in asked], [question.scenario for question in asked])


def _whole(letters: Letters, lengths: Lengths, sources: Sources) -> Iterator[Finding]:
    if letters.p < _DOUBT:
        shown = ", ".join(f"{letter} {count}" for letter, count in letters.counts.items())
        yield leaks.finding(
            "shortcut.letter", _EVERY, f"answers are {shown} (chi2 {letters.chi2:.2f}, p {letters.p:.2g})"
        )
    yield from _above("shortcut.length", lengths.longest, "the longest option is right")
    yield from _above("shortcut.length", lengths.shortest, "the shortest option is right")
    if sources.p < _DOUBT:
        excess = sorted(sources.counts, key=sources.excess)
        shown = "; ".join(
            f"{name} {sources.counts[name]} times instead of {sources.expected[name]:.0f}"
            for name in (excess[-1], excess[0])
        )
        yield leaks.finding("shortcut.source", _EVERY, f"{shown} (chi2 {sources.chi2:.1f}, p {sources.p:.2g})")


def _above(code: str, measured: Rate | None, what: str) -> Iterator[Finding]:
    if measured is not None and measured.above < _DOUBT:
        yield leaks.finding(code, _EVERY, f"{what} in {_told(measured)}")


def _told(measured: Rate) -> str:
    return (
        f"{measured.hits:g} of {measured.items}: {measured.rate:.1%} [{measured.low:.1%}, {measured.high:.1%}], "
        f"by chance {measured.chance:.1%}"
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Report the shortcuts of a benchmark's questions; exit code 1 when there are findings."""
    made = command.parser(
        "audits.shortcuts",
        "Can the questions be answered without what they ask about? Letters, lengths, distractors, words, solvers.",
        "python -m audits.shortcuts --benchmark heart-published --json",
    )
    add_source(made)
    made.add_argument("--benchmark", required=True, metavar="NAME", help="benchmark with tables mcqs and mcq_keys")
    made.add_argument("--no-solvers", action="store_true", help="leave out the three solvers")
    return command.run(_run, made, argv)


def _run(arguments: argparse.Namespace) -> int:
    found = source(arguments)
    for table in ("mcqs", "mcq_keys"):
        found.benchmark.table(table)
    # Profiles of the published characters were not released: that benchmark has no such table.
    known = poles(found.if_any("characters")) if "characters" in found.benchmark.tables else published_poles()
    questions, keys = list(found.rows("mcqs")), list(found.rows("mcq_keys"))
    report = measure(questions, keys, found.if_any("decisions"), known, not arguments.no_solvers)
    if arguments.json:
        command.print_json({"benchmark": arguments.benchmark, "counts": counts(report.findings), **_document(report)})
    if not arguments.quiet and not arguments.json:
        _show(report)
    return command.FINDINGS if report.findings else command.DONE


def _document(report: Report) -> dict[str, Any]:
    return {name: getattr(report, name) for name in report.__dataclass_fields__}


def _show(report: Report) -> None:
    sources, persons = report.sources, report.persons
    lines = {
        "answers": ", ".join(f"{letter} {count}" for letter, count in report.letters.counts.items())
        + f" (p {report.letters.p:.2g})",
        "longest right": _told(report.lengths.longest),
        "shortest right": _told(report.lengths.shortest),
        "distractors": ", ".join(
            f"{name} {sources.excess(name):+.0f}" for name in sorted(sources.counts, key=sources.excess)
        )
        + f" against a fair draw (p {sources.p:.2g})",
        "opposite pole": _told(report.poles) if report.poles else "not measured",
        "whose alone": _told(report.design) if report.design else "not measured",
        "options alone": _told(report.text) if report.text else "not measured",
        "most alike": _told(report.middle) if report.middle else "not measured",
        "third person": f"{persons.third} of {persons.texts} texts; {persons.speechless} do not name the speaker",
    }
    command.say(f"{report.questions} questions")
    for name, line in lines.items():
        command.say(f"  {name:<15} {line}")
    command.say(f"{len(report.findings)} findings")
    for found in report.findings:
        words = f"“{one_line(found.text)}”  " if found.text else ""
        command.say(
            f"  {found.severity:<8} {found.code:<16} {found.row_id} {found.field or ''}  {words}{found.message}"
        )


if __name__ == "__main__":
    raise SystemExit(main())
