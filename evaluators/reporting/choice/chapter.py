"""The chapter of multiple-choice runs: every section that results of ``choice`` have something for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from evaluators.memory.settings import SETTINGS
from evaluators.protocols.bench import read_bench
from evaluators.reporting.choice import about, plots, questions, tables
from evaluators.reporting.choice.opening import opening
from evaluators.reporting.choice.runs import Report
from evaluators.reporting.parts import Chapter
from evaluators.reporting.ranking import ranking
from evaluators.scoring.comparing import comparison
from evaluators.scoring.ranking import choices_ranked
from evaluators.scoring.results import Result, demand_release, demand_same_questions
from evaluators.scoring.run_names import names_of
from releases import open_release


def choice_chapter(found: Sequence[tuple[Path, Result]], release: str | None, frozen: Path, seed: int) -> Chapter:
    """The chapter of runs on one content. Texts come from the release itself, found by ``release`` or by its name.

    Raises RequestError for a release that is not the one of the results, and for runs of different questions.
    """
    demand_same_questions(found)
    results = [result for _, result in found]
    opened = open_release(release or results[0]["release"]["name"], frozen)
    demand_release(opened, results[0])
    ordered = sorted(
        results, key=lambda one: (SETTINGS.index(one["run"]["setting"]), -one["figures"]["overall"]["rate"])
    )
    called = names_of(ordered)
    ranks = choices_ranked(dict(zip(called, ordered, strict=True)), seed)
    report = Report(read_bench(opened), ordered, called, comparison(ordered, seed), ranks)
    sections = [
        tables.results(report),
        ranking(report.ranks, "Whole characters are resampled: characters like these, these scenarios."),
        plots.by_model(report),
        plots.by_character(report),
        plots.by_stage(report),
        plots.by_diamonds(report),
        plots.agreement(report),
        tables.comparisons(report),
        tables.orders(report),
        tables.samples(report),
        tables.replies(report),
        questions.browser(report),
        about.characters(report),
        about.audits(report),
        about.measured(report),
    ]
    return Chapter(str(opened.name), "multiple choice", opening(report), sections, ranks)
