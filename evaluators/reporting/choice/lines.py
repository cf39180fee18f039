"""Figures of choice runs as lines for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def summary_lines(result: Mapping[str, Any]) -> Iterator[str]:
    """A run, line by line: accuracy with its intervals, states, letters, orders, samples, floors."""
    figures, run = result["figures"], result["run"]
    states, overall = figures["states"], figures["overall"]
    lead = share_line(overall) if figures["headline"] else "no accuracy, too few replies could be scored"
    yield f"{run['model']}, {run['setting']}, on {result['release']['name']}: {lead}"
    for one in figures["intervals"] if figures["headline"] else ():
        if one["low"] is not None:
            yield f"  [{one['low']:.1%}, {one['high']:.1%}] for {one['answers']}"
    if states["scored"] < figures["replies"]:
        counted = ", ".join(f"{state} {count}" for state, count in states.items() if count)
        yield f"  {counted}; of those scored {share_line(figures['answered'])}"
    yield f"  letters chosen: {', '.join(f'{letter} {count}' for letter, count in figures['letters'].items())}"
    yield from _repeated(figures)
    if figures["recall"] is not None:
        yield f"  of the memories that the situation calls up, {figures['recall']:.1%} were retrieved"
    alike = same_as_floors(result)
    for name, floor in figures["baselines"].items():
        same = f"; chosen alike {alike[name]:.1%}" if alike.get(name) is not None else ""
        yield f"  {name:<10}{f'{share_line(floor)}{same}' if floor else 'not possible: nothing is remembered'}"
    chance = figures["chance"]
    yield f"  chance {chance:.1%}; found with 80 % power from {chance + figures['detectable']:.1%}"


def same_as_floors(result: Mapping[str, Any]) -> dict[str, float | None]:
    """Baseline -> the share of the scored questions on which the run chose as it did; None without any.

    A share far above that of runs that read the question shows what a run goes by: the longest option, say."""
    scored = [item for item in result["items"] if item["choice"] is not None]
    return {
        name: sum(answers[item["question_id"]] == item["choice"] for item in scored) / len(scored)
        if scored and answers
        else None
        for name, answers in result["baselines"].items()
    }


def _repeated(figures: Mapping[str, Any]) -> Iterator[str]:
    orders, samples = figures["orders"], figures["samples"]
    if orders:
        yield f"  mean over {orders['count']} orders; right throughout {share_line(orders['all'])}"
        yield f"  the same option throughout: {share_line(orders['same'])}"
    if samples:
        reliable = "not defined" if samples["reliability"] is None else f"{samples['reliability']:.3f}"
        yield (
            f"  {samples['count']} samples: variance {samples['within']:.4f} between samples, {samples['between']:.4f}"
            f" between questions, reliability {reliable}; asked again, accuracy varies by {samples['se_samples']:.1%}"
        )


def share_line(share: Mapping[str, Any]) -> str:
    """A share: rate, Wilson's interval, counts."""
    if share["rate"] is None:
        return "none"
    return f"{share['rate']:.1%} [{share['low']:.1%}, {share['high']:.1%}] ({share['hits']:g} of {share['items']:g})"
