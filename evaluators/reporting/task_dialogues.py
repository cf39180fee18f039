"""The chapter about dialogues on tasks: figures by kind of task, findings, contexts, corrected rates, the paper beside.

    python -m evaluators report build/evaluations/personalens@1.0.0/dialogues.json --out report.html

Made from the results of ``dialogues`` alone. PersonaLens 4, Tables 3, 4, 8 to 10, 12 and 13.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from evaluators.reporting.parts import Chapter, Section, table
from schemas.errors import RequestError

Result = Mapping[str, Any]

_PAPER = Path(__file__).parents[1] / "task_dialogues" / "paper.toml"
_SAID = ("turns", "messages", "user_words", "assistant_words")
_WORDS = ("dist_1", "dist_2", "ent_4", "self_bleu_2", "self_bleu_3", "self_bleu_4")
_KINDS = ("all", "single", "multi")
_INVENTED = "task_dialogue.preference_invented"


def task_chapter(paths: Sequence[Path], results: Sequence[Result]) -> Chapter:
    """The chapter of a result of ``dialogues``. Raises RequestError for several: one measures all runs together."""
    if len(results) > 1:
        raise RequestError(
            f"{len(results)} results of `dialogues`", paths[1], expected="one a page",
            fix="Name all runs in one call of dialogues",
        )  # fmt: skip
    (result,) = results
    return Chapter(result["release"]["name"], "dialogues about tasks", head(result), sections(result))


def head(result: Result) -> str:
    """What was measured, what stands first, and what it cannot show."""
    figures = result["figures"]
    count, users = sum(one["dialogues"] for one in figures["runs"]), max(one["users"] for one in figures["runs"])
    planted = all(one["model"].startswith("offline:") for one in figures["runs"])
    caution = (
        '<p class="caution"><strong>What this cannot show.</strong> No model has been asked: assistants and users are'
        " planted, to rehearse with and to examine judges and audits.</p>"
        if planted
        else ""
    )
    return (
        f'<p class="verdict">{count:,} dialogues of {users} users.{_headline(figures)}</p>'
        f"<p>Intervals are over users: others like them. Single and multi are tasks in one and in several domains.</p>"
        f'{caution}<p class="digest">content <code>{result["release"]["content_digest"][:16]}</code></p>'
    )


def _headline(figures: Mapping[str, Any]) -> str:
    told = [
        f"<strong>{escape(one['run'])}</strong>: personalization {_value(one['kinds']['all'])}"
        for one in figures["scores"]
        if one["metric"] == "personalization"
    ]
    return f" {'; '.join(told)}." if told else ""


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
        again(figures),
    ]


def scores(figures: Mapping[str, Any]) -> Section:
    """What judges gave, by kind, and what is true where it was planted."""
    rows = []
    for one in figures["scores"]:
        truth = _value(one["planted"]["all"]) if one["planted"] else "–"
        name = f"<strong>{_label(one['metric'])}</strong> <small>{escape(one['run'])}, {escape(one['judge'])}</small>"
        rows.append([name, *_by_kind(one["kinds"]), truth])
    lead = "Means over dialogues; task completion and hallucinated personalization are shares."
    return Section("task-scores", "Scores by kind of task", _table(["Metric", *_heads(), "Planted"], rows), lead)


def corrected(figures: Mapping[str, Any]) -> Section:
    """Rates of yes-or-no judges, freed from what the examination shows."""
    rows = [
        [
            f"<strong>{_label(one['metric'])}</strong> <small>{escape(one['run'])}, {escape(one['judge'])}</small>",
            f"{one['judged']:.3f}",
            f"{one['hits']:.3f}",
            f"{one['false_alarms']:.3f}",
            _value(one),
            f"{one['examined']:,}",
        ]
        for one in figures["corrected"]
    ]
    lead = (
        "What a judge calls true is not what is true. On planted dialogues of the other runs it is known how often the"
        " judge sees a true case (hits) and calls a false one true (false alarms); the rate is freed from both (Rogan"
        " and Gladen)."
    )
    head = ["Metric", "As judged", "Hits", "False alarms", "Freed from errors", "Examined on"]
    return Section("task-corrected", "Rates freed from the judge's errors", _table(head, rows), lead)


def findings(figures: Mapping[str, Any]) -> Section:
    """The share of dialogues in which audits found something; invented preferences first."""
    rows = []
    for one in figures["runs"]:
        for code, kinds in sorted(one["findings"].items(), key=lambda item: (item[0] != _INVENTED, item[0])):
            found = {kind: made["found"] for kind, made in kinds.items()}
            rows.append([f"<code>{escape(code)}</code> <small>{escape(one['run'])}</small>", *_by_kind(found)])
    lead = (
        f"Share of dialogues with a finding, by rule and without a judge. {_INVENTED} is hallucinated personalization:"
        " the assistant attributes to the user what neither the profile nor the user says. Rules find what is said in"
        " so many words, so this is a floor."
    )
    return Section("task-findings", "Found by audits", _table(["Finding", *_heads()], rows), lead)


def contexts(figures: Mapping[str, Any]) -> Section:
    """Differences between contexts on the same situations."""
    rows = [
        [
            f"<strong>{_label(one['metric'])}</strong> <small>{escape(one['second'])} over {escape(one['first'])}, "
            f"{escape(one['judge'])}</small>",
            *_by_kind(one["kinds"]),
            f"{one['kinds']['all']['items']:,}",
        ]
        for one in figures["contexts"]
    ]
    lead = "What it changes that the assistant knows more: differences on the same user, task and situation."
    return Section("task-contexts", "Contexts, paired", _table(["Metric", *_heads(), "Pairs"], rows), lead)


def said(figures: Mapping[str, Any]) -> Section:
    """Turns, messages, words, and how dialogues ended."""
    rows = []
    for one in figures["runs"]:
        for measure in _SAID:
            made = {kind: own[measure] for kind, own in one["kinds"].items()}
            rows.append([f"{_label(measure)} <small>{escape(one['run'])}</small>", *_by_kind(made)])
        ended = ", ".join(f"{name} {count:,}" for name, count in one["ended"].items())
        ended += f", before the first message {one['silent']:,}"
        rows.append([f"ended by <small>{escape(one['run'])}</small>", ended, "", ""])
    lead = "Turns are exchanges; words are those of one message. signal: the user ended it; limit: nobody did."
    return Section("task-said", "What was said", _table(["Measure", *_heads()], rows), lead)


def words(figures: Mapping[str, Any]) -> Section:
    """Lexical diversity."""
    rows = [
        [
            f"{_label(measure)} <small>{escape(one['run'])}</small>",
            *_by_kind({k: m[measure] for k, m in one["kinds"].items()}),
        ]
        for one in figures["runs"]
        for measure in _WORDS
    ]
    lead = "Of one dialogue, then the mean; our own definitions, since the paper states none. Ent-4 in nats."
    return Section("task-words", "Lexical diversity", _table(["Measure", *_heads()], rows), lead)


def evenness(figures: Mapping[str, Any]) -> Section:
    """How evenly users and situations are spread."""
    own = figures["evenness"]
    rows = [["preference types, mean of " + str(own["types"]), _number(own["mean"])]]
    rows += [[f"{end}: {escape(own[end][0])}", _number(own[end][1])] for end in ("least", "most") if own[end]]
    rows += [[f"situations: {_label(name)}", _number(value)] for name, value in own["situations"].items()]
    lead = "Shannon entropy over its maximum: 1 where all values are as frequent, 0 where there is one."
    return Section("task-evenness", "Evenness of the release", _table(["What", "Evenness"], rows), lead)


def beside(figures: Mapping[str, Any]) -> Section:
    """The paper's figures and those of the runs, side by side."""
    paper = _paper()
    runs = [one["run"] for one in figures["runs"]]
    rows = []
    for row in paper["rows"]:
        own = dict(_named(figures, row["figure"]))
        if own:
            name = f"{escape(row['what'])} <small>{escape(row['table'])}</small>"
            told = [f"{row[kind]:g}" if kind in row else "–" for kind in ("single", "multi")]
            ours = [_pair(own.get(run)) for run in dict.fromkeys([*own, *runs]) if run in own]
            rows.append([name, " / ".join(told), "<br>".join(ours)])
    lead = (
        f"The paper: {escape(paper['models'])}. Single / multi. Other models, other users: no figure has to be equal."
    )
    return Section("task-paper", "Beside the paper", _table(["Figure", "Paper", "Here"], rows, 9), lead)


def again(_: Mapping[str, Any]) -> Section:
    """Which tables of the paper can be computed again, why the others cannot, and its misprints."""
    paper = _paper()
    rows = [[escape(one["table"]), "yes" if one["again"] else "no", escape(one["why"])] for one in paper["tables"]]
    misprints = "".join(f"<li>{escape(one['where'])}: {escape(one['what'])}</li>" for one in paper["misprints"])
    body = _table(["Of the paper", "Again", "Why"], rows, 9) + f"<h3>Misprints</h3><ul>{misprints}</ul>"
    return Section("task-again", "What can be computed again", body)


@functools.cache
def _paper() -> Mapping[str, Any]:
    return tomllib.loads(_PAPER.read_text("utf-8"))


def _named(figures: Mapping[str, Any], name: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Run (and judge) -> kinds of a figure: a metric of the judges or a measure of what was said."""
    for one in figures["scores"]:
        if one["metric"] == name:
            yield f"{one['run']}, {one['judge']}", one["kinds"]
    for one in figures["runs"]:
        if name in one["kinds"]["all"]:
            yield one["run"], {kind: made[name] for kind, made in one["kinds"].items()}


def _pair(kinds: Mapping[str, Any] | None) -> str:
    return " / ".join(_value(kinds[kind]) if kinds and kind in kinds else "–" for kind in ("single", "multi"))


def _heads() -> list[str]:
    return [kind.capitalize() for kind in _KINDS]


def _by_kind(kinds: Mapping[str, Any]) -> list[str]:
    return [_value(kinds[kind]) if kind in kinds else "–" for kind in _KINDS]


def _value(figure: Mapping[str, Any]) -> str:
    if figure["value"] is None:
        return "–"
    spread = "" if figure["low"] is None else f" <small>{figure['low']:.3f} to {figure['high']:.3f}</small>"
    return f"{figure['value']:.3f}{spread}"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _label(name: str) -> str:
    return escape(name.replace("_", " "))


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], numbers: int = 1) -> str:
    return table(head, rows, numbers) if rows else ""
