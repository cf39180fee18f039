"""The first screen: what was asked, the answer in a sentence, how sure that is, and what it cannot show.

Everything in it follows from the results and from the manifest. Runs of baselines are never told as if a
model had been asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from evaluators.reporting.charts import interval, percent, points
from evaluators.reporting.choice.runs import Report
from evaluators.running import OFFLINE
from evaluators.scoring.results import Result


def opening(report: Report) -> str:
    """The chapter's head."""
    release = report.bench.release
    cautions = "".join(f" {one}" for one in _cautions(report.manifest))
    return (
        f'<p class="verdict">{_verdict(report)}</p><p>{_task(report)}</p>'
        + (f'<p class="caution"><strong>What this cannot show.</strong>{cautions}</p>' if cautions else "")
        + f'<p class="digest">content <code>{release.content_digest[:16]}</code>;'
        ' <a href="#measured">what was measured</a></p>'
    )


def _verdict(report: Report) -> str:
    asked = [pair for pair in zip(report.names, report.results, strict=True) if not is_baseline(pair[1])]
    if not asked:
        return _no_model(report)
    name, result = max(asked, key=lambda pair: pair[1]["figures"]["overall"]["rate"])
    overall = result["figures"]["overall"]
    floor = next(floor for floor in report.compared["floors"] if floor["name"] == name)
    spread = floor["intervals"][-1]
    low, high = (spread["low"], spread["high"]) if spread["low"] is not None else (-1.0, 1.0)
    verdict = "above" if low > 0 else "below" if high < 0 else "not told apart from"
    lead = f"The best of {len(asked)} runs of models, <strong>{escape(name)}</strong>, chooses"
    return (
        f"{lead if len(asked) > 1 else f'<strong>{escape(name)}</strong> chooses'} the person’s own decision in "
        f"<strong>{percent(overall['rate'])}</strong> of {overall['items']:,} questions "
        f"(95 % interval {interval(overall)}). That is {verdict} the best baseline "
        f"without a model, <em>{escape(floor['baseline'])}</em>: {points(floor['difference'])} points "
        f"[{points(low)}, {points(high)}], for {spread['answers']}."
    )


def _no_model(report: Report) -> str:
    """What runs of baselines say: how high the floor is."""
    found = [(name, one) for run in report.results for name, one in run["figures"]["baselines"].items() if one]
    floors = dict(sorted(found, key=lambda pair: pair[1]["rate"]))
    best = max(floors, key=lambda name: floors[name]["rate"])
    runs = "this run is a baseline" if len(report.results) == 1 else f"these {len(report.results)} runs are baselines"
    return (
        f"No model has been asked: {runs}, the floor that a claim about a model has to clear. "
        f"The highest baseline, <em>{escape(best)}</em>, is right in "
        f"<strong>{percent(floors[best]['rate'])}</strong> of {floors[best]['items']:,} questions "
        f"(95 % interval {interval(floors[best])})."
    )


def _task(report: Report) -> str:
    figures = report.results[0]["figures"]
    options = sorted({len(question.labels) for question in report.bench.questions})
    count = f"{options[0]}" if len(options) == 1 else f"{options[0]} to {options[-1]}"
    return (
        f"A question describes a situation and the decisions that {count} different people made in it. Asked is "
        "which one is this person’s, from what the run’s memory setting lets it know of the person. Guessing is "
        f"right in {percent(figures['chance'])}; with {figures['questions']:,} questions, an accuracy of "
        f"{percent(figures['chance'] + figures['detectable'])} or more is "
        "distinguished from guessing four times in five."
    )


def _cautions(manifest: Mapping[str, Any]) -> list[str]:
    """What the release is not: reviewed by people, written by a model."""
    made = [group for group in manifest["built"]["rows"] if group["origin"] == "built"]
    composed = sum(group["rows"] for group in made if group["backend"] == "offline")
    written = sum(group["rows"] for group in made if group["backend"] not in (None, "offline"))
    found = []
    unreviewed = {table: counts.get("unreviewed", 0) for table, counts in manifest["review"].items()}
    for table, count in unreviewed.items():
        if count:
            of = sum(manifest["review"][table].values())
            found.append(
                f"{'None' if count == of else f'{count:,}'} of the {of:,} {escape(table)} behind the right answers "
                f"{'has' if count == of else 'have not'} been reviewed by people: there, a score is agreement with "
                "whoever made them."
            )
    if composed:
        part = "The texts were" if not written else "Part of the texts was"
        found.append(
            f"{part} composed by a built-in writer from phrase banks, to rehearse with: they are no evidence on how "
            "human-like a model is."
        )
    return found


def is_baseline(result: Result) -> bool:
    """No model was asked."""
    return str(result["run"]["model"]).startswith(OFFLINE)
