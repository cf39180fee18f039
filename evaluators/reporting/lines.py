"""Figures of score rows as lines for people: each with its interval and whom it speaks of, judges with their test."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_OVER = {"repeats": "these, asked again", "both": "both like these"}
_NAMES = {
    "acc_atom": "ACC_atom",
    "ic_atom": "IC_atom",
    "rc_atom": "RC_atom",
    "acc": "ACC",
    "rc": "RC",
    "mean": "mean score",
    "valid": "valid share",
}


def score_lines(header: Mapping[str, Any]) -> Iterator[str]:
    """A result of scores, line by line."""
    figures = header["figures"]
    for one in figures["judged"]:
        states = ", ".join(f"{state.replace('_', ' ')} {count:,}" for state, count in one["states"].items() if count)
        yield f"{header['run']['model']}: {one['metric']} judged by {one['judge']}, {one['items']:,} items: {states}"
        yield from (f"  {line}" for line in _figures(one))
    for one in figures["examined"]:
        yield f"examination of {one['judge']} on {one['metric']}: {agreement(one)}"
    for one in figures["agreement"]:
        yield f"{one['first']} and {one['second']} on {one['metric']}: {agreement(one)}"
    for one in figures["consensus"]:
        who = "all judges" if one["without"] is None else f"without {one['without']}"
        yield f"{one['metric']}, {who}: " + "; ".join(line.strip() for line in _figures(one))


def _figures(one: Mapping[str, Any]) -> Iterator[str]:
    if "fidelity" in one:
        for name, figure in one["fidelity"]["metrics"].items():
            yield f"{metric_name(name):<12}{figure_told(figure)}"
    else:
        yield f"mean {figure_told(one['mean'])}"
        if one.get("position_dependent") is not None:
            yield f"verdicts that went by position {one['position_dependent']:.1%}"


def over_told(over: str) -> str:
    """Whom an interval speaks of."""
    return _OVER.get(over, f"{over.removesuffix('_id').replace('_', ' ')}s like these")


def metric_name(name: str) -> str:
    """A metric's name for people."""
    return _NAMES.get(name, name.replace("_", " "))


def figure_told(figure: Mapping[str, Any]) -> str:
    """A figure with its intervals."""
    if figure["value"] is None:
        return "not defined"
    spreads = [
        f"{over_told(one['over'])} [{one['low']:.3f}, {one['high']:.3f}]"
        for one in figure["intervals"]
        if one["low"] is not None
    ]
    return f"{figure['value']:.3f}" + (f" ({'; '.join(spreads)})" if spreads else " (no interval from one cluster)")


def agreement(one: Mapping[str, Any]) -> str:
    """An agreement or examination for people."""
    shown = (
        ("exact", one["exact"], "{:.1%}"),
        ("within one", one["within_one"], "{:.1%}"),
        ("kappa", one["kappa"], "{:.3f}"),
        ("Spearman", one["spearman"], "{:.3f}"),
        ("bias", one["bias"], "{:+.3f}"),
        ("same on applies or not", one["not_applicable"], "{:.1%}"),
    )
    told = ", ".join(f"{name} {form.format(value)}" for name, value, form in shown if value is not None)
    return f"{told or 'nothing in common'} over {one['items']:,} items"
