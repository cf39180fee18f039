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

from evaluators.scoring.parsing import State
from evaluators.scoring.statistics import detectable_above, share

ENOUGH = 0.5
"""The share of questions that has to be scored for an accuracy to be told."""

Item = Mapping[str, Any]
Baselines = Mapping[str, Mapping[str, str] | None]


def summary(items: Sequence[Item], baselines: Baselines) -> dict[str, Any]:
    """All figures of a run of multiple-choice questions.

    A question counts by the share of orders in which it was answered right (with one order, 0 or 1). ``overall`` counts
    what was not scored as wrong, ``answered`` leaves it out; ``headline`` says whether enough was scored for an
    accuracy to mean anything. ``letters`` counts the letters chosen as they were shown, so that "always A" is seen;
    ``recall`` is the share of activated memories that were retrieved. ``chance`` is the mean of one over the number of
    options; ``detectable`` how far above chance accuracy must be to be found with 80 % power.
    """
    states = Counter(item["state"] for item in items)
    chance = math.fsum(1 / item["options"] for item in items) / len(items) if items else 0.0
    right = _hits(item["share"] for item in items)
    return {
        "questions": len(items),
        "states": {state: states[state] for state in get_args(State)},
        "headline": states["scored"] >= ENOUGH * len(items),
        "how": dict(sorted(Counter(item["how"] for item in items if item["how"]).items())),
        "overall": asdict(share(right, len(items))),
        "answered": asdict(share(right, states["scored"])),
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
        "baselines": {name: _baseline(items, answers) for name, answers in baselines.items()},
    }


def retrieved(items: Sequence[Item]) -> dict[str, int | float]:
    """How many memories questions got: fewest, mean, most; and how many got none."""
    counts = [len(item["memories"]) for item in items] or [0]
    mean = round(sum(counts) / len(counts), 3)
    return {"fewest": min(counts), "mean": mean, "most": max(counts), "none": counts.count(0)}


def recall(items: Sequence[Item]) -> float | None:
    """The mean share of activated memories that were retrieved; None where the release names none."""
    shares = [item["recalled"] / item["activated"] for item in items if item["activated"]]
    return math.fsum(shares) / len(shares) if shares else None


def letters(items: Sequence[Item]) -> dict[str, int]:
    """How often each letter was chosen, as it was shown, over all orders."""
    chosen = Counter(chr(ord("A") + _place(item, one)) for item in items for one in item["orders"] if one["choice"])
    most = max((item["options"] for item in items), default=0)
    return {letter: chosen[letter] for letter in (chr(ord("A") + place) for place in range(most))}


def _place(item: Item, one: Mapping[str, Any]) -> int:
    """The place at which the chosen option was shown."""
    return int((ord(one["choice"]) - ord("A") - one["order"]) % item["options"])


def orders(items: Sequence[Item]) -> dict[str, Any] | None:
    """What turning the options round changes; None for a single order.

    ``all`` counts questions right in all orders; ``same`` those whose option stayed the same, of those scored in all;
    ``accuracy`` is each order's; ``places`` how often each place was chosen, over all orders.
    """
    count = max((len(item["orders"]) for item in items), default=1)
    if count < 2:
        return None
    whole = [item for item in items if all(one["choice"] for one in item["orders"])]
    places = Counter(_place(item, one) for item in items for one in item["orders"] if one["choice"])
    return {
        "count": count,
        "all": asdict(share(sum(item["share"] == 1 for item in items), len(items))),
        "same": asdict(share(sum(len({o["choice"] for o in item["orders"]}) == 1 for item in whole), len(whole))),
        "accuracy": [
            asdict(share(sum(item["orders"][order]["choice"] == item["gold"] for item in items), len(items)))
            for order in range(count)
        ],
        "places": [places[place] for place in range(max(item["options"] for item in items))],
    }


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
    """Questions' worth of right answers; a whole number with one order."""
    total = math.fsum(shares)
    return int(total) if total == int(total) else total


def _baseline(items: Sequence[Item], answers: Mapping[str, str] | None) -> dict[str, Any] | None:
    if answers is None:
        return None
    return asdict(share(sum(answers[item["question_id"]] == item["gold"] for item in items), len(items)))
