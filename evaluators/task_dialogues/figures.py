"""The figures of dialogues about tasks: of what was said, of its judges, of contexts compared on the same situations.

PersonaLens 3.2 and Tables 3, 4, 10, 12, 13. Every interval is over users. A rate of a yes-or-no judge that was examined
on planted dialogues stands twice: as judged, and corrected for the errors that the examination shows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import polars as pl

from evaluators.scoring.score_rows import Scores
from evaluators.task_dialogues.clustered import USER, Users, by_kind, corrected_rate
from evaluators.task_dialogues.lexical import MEASURES, lexical_diversity

_TURNS = ("turns", "messages", "user_words", "assistant_words")
_ENDS = ("signal", "limit", "failed")


@dataclass(frozen=True)
class Run:
    """One run of dialogues: its header, its tables, what audits found in it (code and dialogue), its scores."""

    name: str
    header: Mapping[str, Any]
    dialogues: pl.DataFrame
    turns: pl.DataFrame
    findings: pl.DataFrame | None
    scores: Sequence[Scores]


def run_figures(run: Run, users: Users) -> dict[str, Any]:
    """Turns, ends and words of a run, and how often audits found what; ``silent`` ended before the first message."""
    about = run.header["run"]
    frame = run.dialogues.select(pl.col("item").alias("dialogue"), USER, "kind", "ended")
    frame = frame.join(_lengths(run.turns), on="dialogue", how="left").join(
        lexical_diversity(run.turns), on="dialogue", how="left"
    )
    ended = dict(run.dialogues["ended"].value_counts().rows())
    return {
        "run": run.name,
        "model": about["model"],
        "user": about["user"],
        "context": about["context"],
        "dialogues": len(frame),
        "users": frame[USER].n_unique(),
        "ended": {name: ended.get(name, 0) for name in _ENDS},
        "silent": frame["messages"].null_count(),
        "kinds": by_kind(users, frame, (*_TURNS, *MEASURES)),
        "findings": {} if run.findings is None else _found(run.findings, frame, users),
    }


def _lengths(turns: pl.DataFrame) -> pl.DataFrame:
    """Exchanges and messages of each dialogue, and words of a message of either side."""
    words = pl.col("text").str.split(" ").list.len()
    return (
        turns.filter(pl.col("text").is_not_null())
        .group_by("dialogue")
        .agg(
            (pl.col("role") == "subject").sum().alias("turns"),
            pl.len().alias("messages"),
            words.filter(pl.col("role") == "user").mean().alias("user_words"),
            words.filter(pl.col("role") == "subject").mean().alias("assistant_words"),
        )
    )


def _found(findings: pl.DataFrame, frame: pl.DataFrame, users: Users) -> dict[str, Any]:
    """Code -> the share of dialogues with such a finding, by kind."""
    made = {}
    for (code,), own in sorted(findings.group_by("code")):
        has = pl.col("dialogue").is_in(own["dialogue"].unique().implode()).alias("found")
        made[str(code)] = by_kind(users, frame.with_columns(has), ["found"])
    return made


def score_figures(run: Run, users: Users) -> Iterator[dict[str, Any]]:
    """Each metric as each judge scored it, by kind of task and by domain.

    ``planted`` is what is true, where that is known; ``unscored`` counts what has no score though one applies."""
    for own in _judged(run):
        made = by_kind(users, own.frame, ["value", "planted"])
        outside = own.frame["state"] == "not_applicable"
        yield {
            "run": run.name,
            "metric": own.metric,
            "judge": own.judge,
            "yes_or_no": own.yes_or_no,
            "not_applicable": int(outside.sum()),
            "unscored": int((own.frame["value"].is_null() & ~outside).sum()),
            "kinds": {kind: columns["value"] for kind, columns in made.items()},
            "planted": {kind: columns["planted"] for kind, columns in made.items()} if own.known else None,
            "domains": {str(name): users.mean(rows, "value") for (name,), rows in sorted(own.frame.group_by("domain"))},
        }


def corrected(runs: Sequence[Run], users: Users) -> Iterator[dict[str, Any]]:
    """Rates of judges that were examined on planted dialogues of another of the runs, corrected for their errors."""
    judged = [(run, own) for run in runs for own in _judged(run) if own.yes_or_no]
    for run, own in judged:
        examined = [
            other.frame
            for theirs, other in judged
            if theirs is not run and other.known and (other.metric, other.judge) == (own.metric, own.judge)
        ]
        if not examined:
            continue
        known = pl.concat(examined).drop_nulls(["planted", "value"])
        hits, false = (users.drawn(known.filter(pl.col("planted") == truth), "value") for truth in (1.0, 0.0))
        rate = users.drawn(own.frame, "value")
        yield {
            "run": run.name,
            "metric": own.metric,
            "judge": own.judge,
            "judged": rate[0],
            "hits": hits[0],
            "false_alarms": false[0],
            "examined": len(known),
            **corrected_rate(rate, hits, false, len(users.names)),
        }


def contexts(runs: Sequence[Run], users: Users) -> Iterator[dict[str, Any]]:
    """Differences between contexts of one model and user agent, on the dialogues that both runs have."""
    for one, two in combinations(runs, 2):
        if any(one.header["run"][name] != two.header["run"][name] for name in ("model", "user")):
            continue
        if one.header["run"]["context"] == two.header["run"]["context"]:
            continue
        theirs = {(own.metric, own.judge): own for own in _judged(two)}
        for own in _judged(one):
            other = theirs.get((own.metric, own.judge))
            if other is None:
                continue
            both = own.frame.join(other.frame.select("item", pl.col("value").alias("other")), on="item")
            both = both.with_columns((pl.col("other") - pl.col("value")).alias("difference"))
            if both["difference"].count():
                yield {
                    "metric": own.metric,
                    "judge": own.judge,
                    "first": one.name,
                    "second": two.name,
                    "kinds": {kind: made["difference"] for kind, made in by_kind(users, both, ["difference"]).items()},
                }


@dataclass(frozen=True)
class _Judged:
    """The scores of one metric by one judge; ``known``: what is true was planted."""

    metric: str
    judge: str
    yes_or_no: bool
    known: bool
    frame: pl.DataFrame


def _judged(run: Run) -> Iterator[_Judged]:
    for scores in run.scores:
        kinds = {metric.name: metric.scale.kind for metric in scores.metrics if metric.unit == "dialogue"}
        for (metric, judge), own in sorted(scores.frame.group_by("metric", "judge")):
            if metric in kinds:
                known = own["planted_state"].count() > 0
                yield _Judged(str(metric), str(judge), kinds[str(metric)] == "boolean", known, own)
