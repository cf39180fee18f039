"""Figures of score rows as lines for people: each with its interval and whom it speaks of, judges with their test."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from evaluators.scoring.metrics import too_few

_REASONS = 8  # said on a terminal
_OVER = {"repeats": "these, asked again", "both": "both like these"}
_NAMES = {
    "acc_atom": "ACC_atom",
    "ic_atom": "IC_atom",
    "rc_atom": "RC_atom",
    "acc": "ACC",
    "rc": "RC",
    "mean": "mean score",
    "valid": "valid share",
    "trait_error": "error of traits",
    "trait_floor": "error of the middle",
    "trait_bias": "bias of traits",
    "trait_correlation": "correlation",
    "trait_profile": "within characters",
}


def score_lines(header: Mapping[str, Any]) -> Iterator[str]:
    """A result of scores, line by line."""
    figures = header["figures"]
    for one in figures["judged"]:
        states = ", ".join(f"{state.replace('_', ' ')} {count:,}" for state, count in one["states"].items() if count)
        yield f"{header['run']['model']}: {one['metric']} judged by {one['judge']}, {one['items']:,} items: {states}"
        if too_few(one["states"]):
            yield "  fewer than half of what applies was scored: no figure is shown"
            continue
        yield from (f"  {line}" for line in _figures(one))
    for one in figures["examined"]:
        yield f"examination of {one['judge']} on {one['metric']}: {agreement(one)}"
    for one in figures["agreement"]:
        yield f"{one['first']} and {one['second']} on {one['metric']}: {agreement(one)}"
    for one in figures["consensus"]:
        who = "all judges" if one["without"] is None else f"without {one['without']}"
        shown = (f"{metric_name(name)} {figure_line(figure)}" for name, figure in figures_of(one).items())
        yield f"{one['metric']}, {who}: {'; '.join(shown)}"


def reason_lines(found: Iterable[tuple[str, str | None, str]], file: Path) -> Iterator[str]:
    """Of what has no answer or score (state, reason, item): the commonest reasons, how many of each, and one item."""
    items: dict[tuple[str, str], list[str]] = {}
    for state, reason, item in found:
        items.setdefault((state, reason or "no reason"), []).append(item)
    common = sorted(items.items(), key=lambda entry: (-len(entry[1]), entry[0]))
    for (state, reason), own in common[:_REASONS]:
        yield f"  {state} {len(own):,}: {reason}; first {own[0]} in {file}"
    if len(common) > _REASONS:
        yield f"  and {len(common) - _REASONS} more reasons, in the column `reason` of {file}"


def _figures(one: Mapping[str, Any]) -> Iterator[str]:
    for name, figure in figures_of(one).items():
        yield f"{metric_name(name):<20} {figure_line(figure)}"
    declined = one["mean"]["declined_as_least"] if "mean" in one else None
    if declined is not None:
        yield f"with what was declined as the least of the scale {declined:.3f}"
    if one.get("position_dependent") is not None:
        yield f"verdicts that went by position {one['position_dependent']:.1%}"
    if "traits" in one and one["traits"]["cells"]:
        yield from _traits(one["traits"])


def _traits(traits: Mapping[str, Any]) -> Iterator[str]:
    for trait, own in traits["by"].items():
        shown = (("ranks", own["ranks"]), ("alpha", own["alpha"]))
        more = "".join(f", {name} {value:.3f}" for name, value in shown if value is not None)
        yield f"{trait}: error {own['error']['value']:.3f}, bias {own['bias']['value']:+.3f}{more}"
    yield f"agreement above the middle, whatever is said: {traits['acquiescence']:+.3f} points"
    for group in ("wordings", "orders"):
        found = traits[group]
        if found and found["same"] is not None:
            alike = "not defined" if found["correlation"] is None else f"{found['correlation']:.3f}"
            yield f"over {found['count']} {group}: correlation of traits {alike}, same answer {found['same']:.1%}"


def figures_of(one: Mapping[str, Any]) -> Mapping[str, Any]:
    """The figures of an entry of ``judged`` or ``consensus`` that have intervals, by name."""
    if "fidelity" in one:
        metrics: Mapping[str, Any] = one["fidelity"]["metrics"]
        return metrics
    if "traits" in one:
        names = ("error", "floor", "bias", "correlation", "profile") if one["traits"]["cells"] else ()
        return {f"trait_{name}": one["traits"][name] for name in names}
    return {one["metric"]: one["mean"]}


def population(over: str) -> str:
    """Whom an interval speaks of."""
    return _OVER.get(over, f"{over.removesuffix('_id').replace('_', ' ')}s like these")


def metric_name(name: str) -> str:
    """A metric's name for people."""
    return _NAMES.get(name, name.replace("_", " "))


def figure_line(figure: Mapping[str, Any]) -> str:
    """A figure with its intervals."""
    if figure["value"] is None:
        return "not defined"
    spreads = [
        f"{population(one['over'])} [{one['low']:.3f}, {one['high']:.3f}]"
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
    parts = ", ".join(f"{name} {form.format(value)}" for name, value, form in shown if value is not None)
    return f"{parts or 'nothing in common'} over {one['items']:,} items"
