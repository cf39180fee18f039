"""The chapter about dialogues on tasks: figures by kind of task, findings, contexts, corrected rates, the paper beside.

    python -m evaluators report build/evaluations/personalens@1.0.0/dialogues.json --out report.html

Made from the results of ``dialogues`` alone. PersonaLens 4, Tables 3, 4, 8 to 10, 12 and 13.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from evaluators.reporting.meanings import explained, figure_name
from evaluators.reporting.parts import Chapter, Section, head_html, only_result, table
from evaluators.reporting.task_paper import again, beside

Result = Mapping[str, Any]

HEADLINES = ("task_completion", "personalization")
"""What the page's head says of each run."""

_SAID = ("turns", "messages", "user_words", "assistant_words")
_WORDS = ("dist_1", "dist_2", "ent_4", "self_bleu_2", "self_bleu_3", "self_bleu_4")
_KINDS = ("all", "single", "multi")
_ENDS = ("signal", "limit", "failed")
_INVENTED = "task_dialogue.preference_invented"


def task_chapter(paths: Sequence[Path], results: Sequence[Result]) -> Chapter:
    """The chapter of a result of ``dialogues``. Raises RequestError for several: one measures all runs together."""
    result = only_result(paths, results, "Name all runs in one call of dialogues")
    return Chapter(result["release"]["name"], "dialogues about tasks", head(result), sections(result))


def head(result: Result) -> str:
    """What was measured, what stands first, and what it cannot show."""
    figures = result["figures"]
    count, users = sum(one["dialogues"] for one in figures["runs"]), max(one["users"] for one in figures["runs"])
    planted = all(one["model"].startswith("offline:") for one in figures["runs"])
    caution = (
        "No model has been asked: assistants and users are planted, to rehearse with and to examine judges and audits."
    )
    lead = (
        "Intervals are at 95 % and speak of other users like these: users are drawn anew with all of their dialogues "
        "(bootstrap). Single and multi are tasks in one and in several domains."
    )
    verdict = f"{count:,} dialogues of {users} users.{_headline(figures)}"
    return head_html(result, verdict, lead, [caution] if planted else [])


def _headline(figures: Mapping[str, Any]) -> str:
    said: dict[str, list[str]] = {}
    for one in figures["scores"]:
        if one["metric"] in HEADLINES:
            value = f"{figure_name(one['metric']).lower()} {_inline(one['kinds']['all'])}"
            said.setdefault(_judged_by(one), []).append(value)
    return "".join(f"<br><strong>{who}</strong>: {', '.join(values)}." for who, values in said.items())


def sections(result: Result) -> list[Section]:
    """All sections that the result has something for, in order."""
    figures = result["figures"]
    return [
        scores(figures),
        corrected(figures),
        findings(figures),
        contexts(figures),
        said(figures),
        words(figures),
        evenness(figures),
        beside(figures),
        again(),
    ]


def scores(figures: Mapping[str, Any]) -> Section:
    """What judges gave, by kind and by domain, and what is true where it was planted."""
    body = ""
    for metric, found in _by_metric(figures["scores"]).items():
        rows = [
            [
                _judged_by(one),
                *_by_kind(one["kinds"]),
                _value(one["planted"]["all"]) if one["planted"] else "–",
                f"{one['not_applicable']:,}",
                f"{one['unscored']:,}",
            ]
            for one in found
        ]
        made = _table(["Run", *_heads(), "Planted", "Does not apply", "No score"], rows)
        body += explained(metric, made + _domains(found))
    lead = (
        "Means over dialogues. Planted is what the judge should have said, known where no model answered. A dialogue"
        " without a score stands for no number: the judge's reply could not be read, or there was none."
    )
    return Section("task-scores", "Scores by kind of task", body, lead)


def _domains(found: Sequence[Mapping[str, Any]]) -> str:
    """A metric by domain, a column a run; tasks in several domains are one group."""
    names = sorted({name for one in found for name in one["domains"]}, key=lambda name: (name == "several", name))
    if not names:
        return ""
    rows = [
        [escape(name), *(_value(one["domains"][name]) if name in one["domains"] else "–" for one in found)]
        for name in names
    ]
    made = table(["Domain", *(f"{one['run']}, by {one['judge']}" for one in found)], rows)
    return f"<details><summary>{escape(figure_name(found[0]['metric']))} by domain</summary>{made}</details>"


def corrected(figures: Mapping[str, Any]) -> Section:
    """Rates of yes-or-no judges, corrected for the errors that the examination shows."""
    rows = [
        [
            f"<strong>{escape(figure_name(one['metric']))}</strong> <small>{_judged_by(one)}</small>",
            f"{one['judged']:.3f}",
            f"{one['hits']:.3f}",
            f"{one['false_alarms']:.3f}",
            _value(one),
            f"{one['examined']:,}",
        ]
        for one in figures["corrected"]
    ]
    lead = (
        "A judge that answers yes or no has errors. On planted dialogues of the other runs it is known how often it"
        " sees a true case (hits) and calls a false one true (false alarms); the rate is corrected for both (Rogan and"
        " Gladen 1978). It changes with the judge only as far as its errors on these dialogues are others."
    )
    head = ["Rate", "As judged", "Hits", "False alarms", "Corrected", "Examined on"]
    return Section("task-corrected", "Rates corrected for the judge's errors", _table(head, rows), lead)


def findings(figures: Mapping[str, Any]) -> Section:
    """The share of dialogues in which audits found something; invented preferences first."""
    rows = []
    for one in figures["runs"]:
        for code, kinds in sorted(one["findings"].items(), key=lambda item: (item[0] != _INVENTED, item[0])):
            found = {kind: made["found"] for kind, made in kinds.items()}
            rows.append([f"<code>{escape(code)}</code> <small>{escape(one['run'])}</small>", *_by_kind(found)])
    lead = (
        f"Share of dialogues with a finding, by rule and without a judge; a code that is not here was found in none."
        f" {_INVENTED} is hallucinated personalization: the assistant attributes to the user what neither the profile"
        " nor the user says. Rules find what is said in so many words, so the true share is at least this."
    )
    return Section("task-findings", "Found by audits", _table(["Finding", *_heads()], rows), lead)


def contexts(figures: Mapping[str, Any]) -> Section:
    """Differences between contexts on the same situations."""
    rows = [
        [
            f"<strong>{escape(figure_name(one['metric']))}</strong> <small>{escape(one['second'])} minus"
            f" {escape(one['first'])}, judged by {escape(one['judge'])}</small>",
            *_by_kind(one["kinds"]),
            f"{one['kinds']['all']['items']:,}",
        ]
        for one in figures["contexts"]
    ]
    lead = (
        "What it changes that the assistant knows more: the mean difference between dialogues of the same user, task"
        " and situation. An interval that holds 0 shows no difference."
    )
    return Section("task-contexts", "Contexts, paired", _table(["Figure", *_heads(), "Pairs"], rows), lead)


def said(figures: Mapping[str, Any]) -> Section:
    """Turns, messages, words, and how dialogues ended."""
    head = ["Run", "By the user", "By the limit of turns", "Broke off", "Before anybody spoke"]
    rows = [
        [escape(one["run"]), *(f"{one['ended'][name]:,}" for name in _ENDS), f"{one['silent']:,}"]
        for one in figures["runs"]
    ]
    ends = f"<h3>How dialogues ended</h3>{_table(head, rows)}"
    lead = "A dialogue breaks off where a message did not come or could not be read; it is not judged."
    return Section("task-said", "What was said", _measures(figures, _SAID) + ends, lead)


def words(figures: Mapping[str, Any]) -> Section:
    """Lexical diversity."""
    lead = (
        "Of each dialogue, then the mean; definitions of our own, since the paper states none. Comparable between runs"
        " of this page, not with the paper."
    )
    return Section("task-words", "Lexical diversity", _measures(figures, _WORDS), lead)


def _measures(figures: Mapping[str, Any], names: Sequence[str]) -> str:
    """A block a measure of what was said, a row a run."""
    body = ""
    for measure in names:
        rows = [
            [escape(one["run"]), *_by_kind({kind: made[measure] for kind, made in one["kinds"].items()})]
            for one in figures["runs"]
        ]
        body += explained(measure, _table(["Run", *_heads()], rows))
    return body


def evenness(figures: Mapping[str, Any]) -> Section:
    """How evenly users and situations are spread."""
    own = figures["evenness"]
    rows = [["preference types, mean of " + str(own["types"]), _number(own["mean"])]]
    rows += [[f"{end} even: {escape(own[end][0])}", _number(own[end][1])] for end in ("least", "most") if own[end]]
    rows += [[f"situations: {_label(name)}", _number(value)] for name, value in own["situations"].items()]
    lead = (
        "Shannon entropy over its maximum: 1 where all values are as frequent, 0 where there is one. Of the whole"
        " release, counted and not estimated, so without an interval; it changes with the release alone."
    )
    return Section("task-evenness", "Evenness of the release", _table(["What", "Evenness"], rows), lead)


def _by_metric(found: Sequence[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """Entries by metric, the headline metrics first."""
    made: dict[str, list[Mapping[str, Any]]] = {name: [] for name in HEADLINES}
    for one in found:
        made.setdefault(one["metric"], []).append(one)
    return {metric: own for metric, own in made.items() if own}


def _judged_by(one: Mapping[str, Any]) -> str:
    return f"{escape(one['run'])}, judged by {escape(one['judge'])}"


def _heads() -> list[str]:
    return [kind.capitalize() for kind in _KINDS]


def _by_kind(kinds: Mapping[str, Any]) -> list[str]:
    return [_value(kinds[kind]) if kind in kinds else "–" for kind in _KINDS]


def _value(figure: Mapping[str, Any]) -> str:
    if figure["value"] is None:
        return "–"
    spread = "" if figure["low"] is None else f" <small>{figure['low']:.3f} to {figure['high']:.3f}</small>"
    return f"{figure['value']:.3f}{spread}"


def _inline(figure: Mapping[str, Any]) -> str:
    """A value and its interval on one line."""
    if figure["value"] is None:
        return "not defined"
    spread = "" if figure["low"] is None else f" ({figure['low']:.3f} to {figure['high']:.3f})"
    return f"{figure['value']:.3f}{spread}"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _label(name: str) -> str:
    return escape(name.replace("_", " "))


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], numbers: int = 1) -> str:
    return table(head, rows, numbers) if rows else ""
