"""Can questions be answered without what they ask about? Everything measured, and the findings it comes to.

Letters, lengths, whose decisions serve as distractors, twins among options, words that give the key
away, and three solvers that know nothing of the character: one reads only the options, one takes the
option most like the others, one knows only whose they are (``audits.shortcuts.solvers``). Readers who learn from
a person's other questions are the hostile ones (``audits.shortcuts.transduction``).
HEART-BENCH 3.4 and appendix D.3; the command is ``python -m audits.shortcuts``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from audits.duplicates.neighbours import one_blas_thread
from audits.shortcuts import leaks, measures, solvers, transduction
from audits.shortcuts.measures import Lengths, Letters, Persons, Sources, answered
from audits.shortcuts.phrases import own_phrases
from audits.shortcuts.questions import Opposites, Poles, Question, opposites, poles, questions
from audits.shortcuts.rates import Rate
from schemas.benchmarks import FILE, Benchmark
from schemas.errors import RequestError
from schemas.findings import Finding, in_order
from schemas.tables import Row

_DOUBT = 0.01  # p-values below are findings
_LIMIT = 0.1  # how far above chance a reader of a person's other questions may be
_EVERY = "*"  # row id of a finding on the table as a whole

# What the figures of a release say of a rate.
_FIGURE = ("rate", "low", "high", "chance")


@dataclass(frozen=True)
class Report:
    """What was measured, and the findings it comes to.

    ``poles``: questions of characters with an opposite, and how often the opposite is among the
    distractors. ``design``, ``text`` and ``middle``: what the solver that knows only whose the options
    are, the one that only reads them, and the one that takes the option most like the others score.
    ``transductive``, ``clustered`` and ``keyed``: the best of the ``readers`` that learn from a person's other
    questions, by their options; the same where it is not said whom a question is about; and with their keys known.
    ``readers`` has the rate of each, by these three names. None where a measure is not defined or was not asked for.
    """

    questions: int
    letters: Letters
    lengths: Lengths
    sources: Sources
    poles: Rate | None
    design: Rate | None
    text: Rate | None
    middle: Rate | None
    transductive: Rate | None
    clustered: Rate | None
    keyed: Rate | None
    readers: Mapping[str, Mapping[str, Rate]]
    persons: Persons
    findings: tuple[Finding, ...]

    def figures(self) -> list[dict[str, Any]]:
        """The rates that were measured, as a manifest and a card show them."""
        named = {
            "the longest option is right": self.lengths.longest,
            "the shortest option is right": self.lengths.shortest,
            "the opposite pole is among the distractors": self.poles,
            "right knowing only whose the options are": self.design,
            "right reading only the options": self.text,
            "right reading the person's other questions": self.transductive,
            "the same, not knowing whose they are": self.clustered,
            "the same, with the keys of those": self.keyed,
        }
        return [
            {"name": name, "items": rate.items, **{part: round(getattr(rate, part), 4) for part in _FIGURE}}
            for name, rate in named.items()
            if rate is not None
        ]


def audit_questions(benchmark: Benchmark, tables: Mapping[str, Iterable[Row]], solve: bool = True) -> Report:
    """The shortcuts of a benchmark's questions, as ``[questions]`` of its file says which tables these are.

    ``tables`` are rows by table; without those of ``decisions`` and ``people`` less is measured. Raises
    RequestError for a benchmark without ``[questions]`` and as ``measure`` does.
    """
    asked = benchmark.questions
    if asked is None:
        where = benchmark.home / FILE if benchmark.home else f"schemas/benchmarks/{benchmark.name}.toml"
        expected = f"add [questions] with table and keys to {where}"
        raise RequestError(f"benchmark {benchmark.name} has no questions", expected=expected)
    if asked.people in tables or asked.poles is None:
        known = poles(tables.get(asked.people or "", ()))
    else:
        known = poles(benchmark.vocabulary(asked.poles), key="id")
    decisions = tables.get(asked.decisions or "", ())
    report = measure(tables.get(asked.table, ()), tables.get(asked.keys, ()), decisions, known, solve)
    return replace(report, findings=tuple(replace(each, table=asked.table) for each in report.findings))


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
        raise RequestError("no questions", "mcqs", fix="Build or import the tables mcqs and mcq_keys first")
    against = opposites(known_poles or {})
    letters, lengths = measures.letters(asked), measures.lengths(asked)
    sources, pole = measures.sources(asked), measures.poles(asked, against)
    with one_blas_thread():
        tried = _tried(asked, against) if solve else (None, None, None)
        readers = _readers(asked) if solve else {}
    design, text, middle = (None if hits is None else answered(asked, hits) for hits in tried)
    transductive, clustered, keyed = (_best(readers.get(name, {})) for name in ("transductive", "clustered", "keyed"))
    found = [*leaks.leaks(asked), *leaks.twins(asked), *own_phrases(asked)]
    found += _of_all_questions(letters, lengths, sources)
    found += _above("shortcut.pole", pole, "the opposite pole of the character is among the distractors")
    found += _above("shortcut.design", design, "a solver that knows only whose the options are is right")
    found += _above("shortcut.text", text, "a solver that only reads the options is right")
    found += _above("shortcut.middle", middle, "the option most like the others is right")
    for code, best, knowing in (
        ("shortcut.transductive", transductive, "other questions of the same person"),
        ("shortcut.clustered", clustered, "questions that share phrases"),
        ("shortcut.keyed", keyed, "other questions of the same person and their keys"),
    ):
        found += _over(code, best, knowing)
    return Report(
        len(asked), letters, lengths, sources, pole, design, text, middle, transductive, clustered, keyed, readers,
        measures.persons(asked), tuple(in_order(found)),
    )  # fmt: skip


def _readers(asked: Sequence[Question]) -> dict[str, dict[str, Rate]]:
    """The rates of all readers who learn from other questions, by what they know."""
    known = {name: answered(asked, hits) for name, hits in transduction.by_character(asked).items()}
    unknown = {name: answered(asked, hits) for name, hits in transduction.by_cluster(asked).items()}
    return {
        "transductive": {name: rate for name, rate in known.items() if not name.startswith(transduction.KEYED)},
        "clustered": unknown,
        "keyed": {name: rate for name, rate in known.items() if name.startswith(transduction.KEYED)},
    }


def _best(readers: Mapping[str, Rate]) -> Rate | None:
    return max(readers.values(), key=lambda rate: rate.rate, default=None)


def _over(code: str, best: Rate | None, knowing: str) -> Iterator[Finding]:
    if best is not None and best.rate > best.chance + _LIMIT:
        limit = f"at most {best.chance + _LIMIT:.0%} are allowed"
        yield leaks.finding(code, _EVERY, f"a reader of {knowing} is right in {described(best)}; {limit}")


def _tried(asked: Sequence[Question], against: Opposites) -> tuple[list[float] | None, ...]:
    return solvers.by_source(asked, against), solvers.by_text(asked), solvers.by_likeness(asked)


def _of_all_questions(letters: Letters, lengths: Lengths, sources: Sources) -> Iterator[Finding]:
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
        yield leaks.finding(code, _EVERY, f"{what} in {described(measured)}")


def described(measured: Rate) -> str:
    """A rate in words: hits of items, the rate with its interval, and the rate by chance."""
    return (
        f"{measured.hits:g} of {measured.items}: {measured.rate:.1%} [{measured.low:.1%}, {measured.high:.1%}], "
        f"by chance {measured.chance:.1%}"
    )
