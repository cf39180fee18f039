"""Runs on the same questions, side by side: which is better, and how sure is that.

    python -m evaluators compare result-a.json result-b.json

Differences are paired by question id; runs of different questions are refused. Each interval says whom it speaks of:
these characters in other scenarios, characters like these, or both. McNemar's exact test counts questions as
independent; the test beside it turns the signs of whole characters. Agreement counts the same choice, right or
wrong (HEART-BENCH appendix E). Rank correlations between settings are over the models
that both settings were run with (4.2); for fewer than three there is none.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from itertools import combinations
from pathlib import Path
from typing import Any

from evaluators.reporting.choice.lines import share_line
from evaluators.scoring.agreement import same_choice, spearman
from evaluators.scoring.figures import Item
from evaluators.scoring.results import Result, read_results
from evaluators.scoring.run_names import names_of
from evaluators.scoring.significance import holm
from evaluators.scoring.statistics import paired
from schemas.command import DONE, print_json, say
from schemas.errors import RequestError

HELP = "compare runs on the same release: differences, agreement, rank correlation"
EXAMPLE = "python -m evaluators compare build/evaluations/heart@2.0.0/*.json"


def add_arguments(made: argparse.ArgumentParser) -> None:
    """The arguments of ``compare``."""
    made.add_argument("results", nargs="+", type=Path, metavar="RESULT", help="files that `choice` wrote")


def run(parsed: argparse.Namespace) -> int:
    """The verb."""
    if len(parsed.results) < 2:
        raise RequestError("one result", expected="two or more", fix="Name the results to compare")
    results = read_results(parsed.results)
    document = comparison(results, parsed.seed)
    if parsed.json:
        print_json(document)
    else:
        _print(document, parsed.quiet)
    return DONE


def comparison(results: Sequence[Result], seed: int) -> dict[str, Any]:
    """Everything that results of the same questions say of one another."""
    called = names_of(results)
    runs = [
        {"name": name, "model": result["run"]["model"], "setting": result["run"]["setting"], **result["figures"]}
        for name, result in zip(called, results, strict=True)
    ]
    pairs = [
        {"first": called[one], "second": called[two], **_pair(results[one], results[two], seed)}
        for one, two in combinations(range(len(results)), 2)
    ]
    adjusted = holm({f"{n}": pair["p_characters"] for n, pair in enumerate(pairs) if pair["p_characters"] is not None})
    return {
        "release": results[0]["release"],
        "runs": [{key: one[key] for key in ("name", "model", "setting", "questions", "overall")} for one in runs],
        "pairs": [{**pair, "p_holm": adjusted.get(f"{n}")} for n, pair in enumerate(pairs)],
        "floors": [_floor(result, name, seed) for name, result in zip(called, results, strict=True)],
        "agreement": matrix(results),
        "settings": between_settings(results),
    }


def matrix(results: Sequence[Result]) -> list[list[dict[str, Any]]]:
    """Agreement of every run with every other, and the number of questions that both answered."""
    return [[_agree(one, two) for two in results] for one in results]


def between_settings(results: Sequence[Result]) -> list[dict[str, Any]]:
    """Spearman's rank correlation of the models' accuracies between each two settings."""
    accuracy: dict[str, dict[str, float]] = {}
    for result in results:
        accuracy.setdefault(result["run"]["setting"], {})[result["run"]["model"]] = result["figures"]["overall"]["rate"]
    made = []
    for one, two in combinations(accuracy, 2):
        both = sorted(accuracy[one].keys() & accuracy[two].keys())
        rho = spearman([accuracy[one][name] for name in both], [accuracy[two][name] for name in both])
        made.append({"first": one, "second": two, "models": len(both), "rho": rho})
    return made


def _pair(one: Result, two: Result, seed: int) -> dict[str, Any]:
    first, second = ({item["question_id"]: item for item in result["items"]} for result in (one, two))
    right = [[items[key]["share"] for key in first] for items in (first, second)]
    return _paired(right[0], right[1], list(first.values()), seed)


def _paired(first: Sequence[float], second: Sequence[float], items: Sequence[Item], seed: int) -> dict[str, Any]:
    scenarios, characters = ([item[name] for item in items] for name in ("scenario_id", "character_id"))
    return asdict(paired(first, second, scenarios, characters, seed))


def _floor(result: Result, name: str, seed: int) -> dict[str, Any]:
    """A run against the best of its baselines."""
    rates = {floor: share["rate"] for floor, share in result["figures"]["baselines"].items() if share}
    best = max(rates, key=lambda floor: (rates[floor], floor))
    items, answers = result["items"], result["baselines"][best]
    right = [float(answers[item["question_id"]] == item["gold"]) for item in items]
    return {"name": name, "baseline": best, **_paired(right, [item["share"] for item in items], items, seed)}


def _agree(one: Result, two: Result) -> dict[str, Any]:
    first = {item["question_id"]: item["choice"] for item in one["items"]}
    second = {item["question_id"]: item["choice"] for item in two["items"]}
    both = [key for key in first if key in second]
    rate, items = same_choice([first[key] for key in both], [second[key] for key in both])
    return {"rate": rate, "items": items}


def _print(document: dict[str, Any], quiet: bool) -> None:
    say(f"{document['release']['name']}, content {document['release']['content_digest'][:16]}", quiet=quiet)
    for one in document["runs"]:
        say(f"  {one['name']:<40} {share_line(one['overall'])}", quiet=quiet)
    say("differences (second minus first)", quiet=quiet)
    for pair in document["pairs"]:
        say(f"  {pair['second']} against {pair['first']}: {difference_line(pair)}", quiet=quiet)
    for floor in document["floors"]:
        say(f"  {floor['name']} against its best baseline, {floor['baseline']}: {difference_line(floor)}", quiet=quiet)
    for pair in document["settings"]:
        rho = "none, fewer than 3 models" if pair["rho"] is None else f"{pair['rho']:.3f}"
        say(f"  rank correlation {pair['first']} and {pair['second']} over {pair['models']} models: {rho}", quiet=quiet)


def difference_line(pair: dict[str, Any]) -> str:
    """A paired difference for people."""
    spreads = "; ".join(f"{one['answers']} {_bounds(one)}" for one in pair["intervals"])
    by_people = "" if pair["p_characters"] is None else f", p {pair['p_characters']:.2g} by signs of whole characters"
    if pair.get("p_holm") is not None:
        by_people += f" ({pair['p_holm']:.2g} after Holm's correction)"
    return (
        f"{100 * pair['difference']:+.1f} points over {pair['items']} questions ({spreads});"
        f" McNemar p {pair['p']:.2g}, questions as independent{by_people};"
        f" detectable from {100 * pair['detectable']:.1f} points"
    )


def _bounds(spread: dict[str, Any]) -> str:
    if spread["low"] is None:
        return "no interval from one"
    return f"[{100 * spread['low']:+.1f}, {100 * spread['high']:+.1f}]"
