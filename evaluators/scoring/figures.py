"""What the items of a run come to: accuracies with intervals, by group, by order, beside the baselines.

Pure: items in, numbers out. The same function makes the figures when a result is written and checks
them when it is read, so a figure always follows from the answers beside it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from evaluators.scoring.statistics import detectable_above, share

Item = Mapping[str, Any]
Baselines = Mapping[str, Mapping[str, str] | None]


def summary(items: Sequence[Item], baselines: Baselines) -> dict[str, Any]:
    """All figures of a run of multiple-choice questions.

    ``overall`` counts what was not scored as wrong, ``answered`` leaves it out; ``chance`` is the mean of one
    over the number of options; ``detectable`` how far above chance accuracy must be to be found with 80 % power.
    """
    states = Counter(item["state"] for item in items)
    chance = math.fsum(1 / item["options"] for item in items) / len(items) if items else 0.0
    right = sum(item["correct"] for item in items)
    return {
        "questions": len(items),
        "states": {state: states[state] for state in ("scored", "unscored", "failed")},
        "how": dict(sorted(Counter(item["how"] for item in items if item["how"]).items())),
        "overall": asdict(share(right, len(items))),
        "answered": asdict(share(right, states["scored"])),
        "chance": chance,
        "detectable": detectable_above(chance, len(items)) if items else None,
        "by_character": _by(items, lambda item: item["character_id"]),
        "by_stage": _by(items, lambda item: item["stage"]),
        "by_diamonds": _by(items, lambda item: item["diamonds"]),
        "retrieved": retrieved(items),
        "orders": orders(items),
        "baselines": {name: _baseline(items, answers) for name, answers in baselines.items()},
    }


def retrieved(items: Sequence[Item]) -> dict[str, int | float]:
    """How many memories questions got: fewest, mean, most; and how many got none."""
    counts = [len(item["memories"]) for item in items] or [0]
    mean = round(sum(counts) / len(counts), 3)
    return {"fewest": min(counts), "mean": mean, "most": max(counts), "none": counts.count(0)}


def orders(items: Sequence[Item]) -> dict[str, Any] | None:
    """What turning the options round changes; None for a single order.

    ``same`` counts questions whose option stayed the same in all orders, of those scored in all;
    ``accuracy`` is each order's; ``places`` how often each place was chosen, over all orders.
    """
    count = max((len(item["orders"]) for item in items), default=1)
    if count < 2:
        return None
    whole = [item for item in items if all(one["choice"] for one in item["orders"])]
    places = Counter(
        (ord(one["choice"]) - ord("A") - one["order"]) % item["options"]
        for item in items
        for one in item["orders"]
        if one["choice"]
    )
    return {
        "count": count,
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
        made[name] = asdict(share(sum(item["correct"] for item in own), len(own)))
    return made


def _baseline(items: Sequence[Item], answers: Mapping[str, str] | None) -> dict[str, Any] | None:
    if answers is None:
        return None
    return asdict(share(sum(answers[item["question_id"]] == item["gold"] for item in items), len(items)))
