"""What the items of a run come to: accuracies with intervals, by group, by order, beside the baselines.

Pure: items in, numbers out. The same function makes the figures when a result is written and checks
them when it is read, so a figure always follows from the answers beside it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, get_args

import numpy as np

from evaluators.scoring.parsing import State
from evaluators.scoring.statistics import Share, detectable_above, intervals, share

ENOUGH = 0.5
"""The share of questions that has to be scored for an accuracy to be reported."""

Item = Mapping[str, Any]
Baselines = Mapping[str, Mapping[str, str] | None]


def summary(items: Sequence[Item], baselines: Baselines, seed: int) -> dict[str, Any]:
    """All figures of a run of multiple-choice questions.

    A question counts by the share of its replies (orders, samples) that are right: with one reply, 0 or 1. ``states``
    and ``letters`` count replies, letters as they were shown, so that "always A" is seen. ``overall`` counts what was
    not scored as wrong, ``answered`` leaves it out; ``headline`` says whether enough was scored for an accuracy to mean
    anything; ``intervals`` are of ``overall``, each with whom it speaks of. ``recall`` is the share of activated
    memories that were retrieved. ``chance`` is the mean of one over the number of options; ``detectable`` how far above
    chance accuracy must be to be found with 80 % power.
    """
    replies = [one for item in items for one in item["replies"]]
    states = Counter(one["state"] for one in replies)
    chance = math.fsum(1 / item["options"] for item in items) / len(items) if items else 0.0
    right = _hits(item["share"] for item in items)
    scored = _hits(_scored(item) for item in items)
    return {
        "questions": len(items),
        "replies": len(replies),
        "states": {state: states[state] for state in get_args(State)},
        "headline": states["scored"] >= ENOUGH * len(replies),
        "how": dict(sorted(Counter(item["how"] for item in items if item["how"]).items())),
        "overall": asdict(share(right, len(items))),
        "intervals": _intervals(items, seed),
        "answered": asdict(share(right, scored)),
        "chance": chance,
        "detectable": detectable_above(chance, len(items)) if items else None,
        "by_character": _by(items, lambda item: item["character_id"]),
        "by_stage": _by(items, lambda item: item["stage"]),
        "by_trait": _by_extreme(items, "trait"),
        "by_pole": _by_extreme(items, "pole"),
        "by_diamonds": _by(items, lambda item: item["diamonds"]),
        "retrieved": retrieved(items),
        "recall": recall(items),
        "letters": letters(items),
        "orders": orders(items),
        "samples": samples(items),
        "baselines": {name: _baseline(items, answers) for name, answers in baselines.items()},
    }


def _scored(item: Item) -> float:
    """The share of a question's replies that were scored."""
    return float(sum(one["state"] == "scored" for one in item["replies"]) / len(item["replies"]))


def _intervals(items: Sequence[Item], seed: int) -> list[dict[str, Any]]:
    """The accuracy's 95 % intervals over scenarios, over characters, and over both."""
    if not items:
        return []
    shares = np.array([item["share"] for item in items], np.float64)
    scenarios, characters = ([item[name] for item in items] for name in ("scenario_id", "character_id"))
    return [asdict(one) for one in intervals(shares, scenarios, characters, seed)]


def retrieved(items: Sequence[Item]) -> dict[str, int | float]:
    """How many memories questions got: fewest, mean, most; and how many got none."""
    counts = [len(item["memories"]) for item in items] or [0]
    mean = round(sum(counts) / len(counts), 3)
    return {"fewest": min(counts), "mean": mean, "most": max(counts), "none": counts.count(0)}


def recall(items: Sequence[Item]) -> float | None:
    """The mean share of activated memories that were retrieved; None where none are named, or nothing is retrieved."""
    if not any(item["memories"] for item in items):
        return None
    shares = [item["recalled"] / item["activated"] for item in items if item["activated"]]
    return math.fsum(shares) / len(shares) if shares else None


def letters(items: Sequence[Item]) -> dict[str, int]:
    """How often each letter was chosen, as it was shown, over all replies."""
    chosen = Counter(chr(ord("A") + _place(item, one)) for item in items for one in item["replies"] if one["choice"])
    most = max((item["options"] for item in items), default=0)
    return {letter: chosen[letter] for letter in (chr(ord("A") + place) for place in range(most))}


def _place(item: Item, one: Mapping[str, Any]) -> int:
    """The place at which the chosen option was shown."""
    return int((ord(one["choice"]) - ord("A") - one["order"]) % item["options"])


def orders(items: Sequence[Item]) -> dict[str, Any] | None:
    """What turning the options round changes; None for a single order.

    ``all`` counts questions whose every reply is right; ``same`` those whose option stayed the same, of those scored
    throughout; ``accuracy`` is each order's.
    """
    count = 1 + max((one["order"] for item in items for one in item["replies"]), default=0)
    if count < 2:
        return None
    whole = [item for item in items if all(one["choice"] for one in item["replies"])]
    return {
        "count": count,
        "all": asdict(share(sum(item["share"] == 1 for item in items), len(items))),
        "same": asdict(share(sum(len(_choices(item["replies"])) == 1 for item in whole), len(whole))),
        "accuracy": [asdict(_accuracy_of(items, "order", order)) for order in range(count)],
    }


def samples(items: Sequence[Item]) -> dict[str, Any] | None:
    """How far samples of the same question differ, against how far questions do; None for a single sample.

    ``within`` is the variance of a reply's rightness between samples of one question in one order, ``between`` that of
    questions' true rates (both by analysis of variance); ``reliability`` is the share of ``between`` in their sum, None
    for 0/0. ``se_samples`` is how far the accuracy would vary if the same questions were asked again. ``same`` counts
    questions and orders with one choice in all samples; ``accuracy`` is each sample's.
    """
    count = 1 + max((one["sample"] for item in items for one in item["replies"]), default=0)
    if count < 2:
        return None
    cells = [cell for item in items for cell in _cells(item)]
    right = np.array([[one["choice"] == gold for one in cell] for gold, cell in cells], np.float64)
    within = float(right.var(axis=1, ddof=1).mean())
    means = right.mean(axis=1)
    between = max(0.0, float(means.var(ddof=1)) - within / count) if len(means) > 1 else 0.0
    whole = [cell for _, cell in cells if all(one["choice"] for one in cell)]
    return {
        "count": count,
        "within": within,
        "between": between,
        "reliability": between / (between + within) if between + within else None,
        "se_samples": math.sqrt(within / right.size),
        "same": asdict(share(sum(len(_choices(cell)) == 1 for cell in whole), len(whole))),
        "accuracy": [asdict(_accuracy_of(items, "sample", sample)) for sample in range(count)],
    }


def _cells(item: Item) -> list[tuple[str, list[Mapping[str, Any]]]]:
    """The samples of a question in each order, with the key."""
    found: dict[int, list[Mapping[str, Any]]] = {}
    for one in item["replies"]:
        found.setdefault(one["order"], []).append(one)
    return [(item["gold"], cell) for cell in found.values()]


def _choices(replies: Sequence[Mapping[str, Any]]) -> set[str | None]:
    return {one["choice"] for one in replies}


def _accuracy_of(items: Sequence[Item], field: str, value: int) -> Share:
    """The accuracy of the replies of one order or sample."""
    shares = []
    for item in items:
        own = [one["choice"] == item["gold"] for one in item["replies"] if one[field] == value]
        shares.append(sum(own) / len(own))
    return share(_hits(shares), len(items))


def _by(items: Sequence[Item], group: Callable[[Item], str | None]) -> dict[str, Any] | None:
    """Figures of each group, in order of name; None where the release does not tell the groups."""
    if any(group(item) is None for item in items):
        return None
    names = sorted({str(group(item)) for item in items})
    made = {}
    for name in names:
        own = [item for item in items if group(item) == name]
        made[name] = asdict(share(_hits(item["share"] for item in own), len(own)))
    return made


def _by_extreme(items: Sequence[Item], field: str) -> dict[str, Any] | None:
    """By trait or pole of the character, "none" for those without an extreme; None where nobody has one."""
    if not any(item[field] for item in items):
        return None
    return _by(items, lambda item: item[field] or "none")


def _hits(shares: Iterable[float]) -> float | int:
    """Questions' worth of right answers; a whole number with one reply each."""
    total = math.fsum(shares)
    return int(total) if total == int(total) else total


def _baseline(items: Sequence[Item], answers: Mapping[str, str] | None) -> dict[str, Any] | None:
    if answers is None:
        return None
    return asdict(share(sum(answers[item["question_id"]] == item["gold"] for item in items), len(items)))
