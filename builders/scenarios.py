"""Scenarios: 64 situations that force a decision, expanded from blueprints.

HEART-BENCH 3.3 and appendix C: eight life stages by eight DIAMONDS slots. A blueprint is what a
person drafts (``builders/seeds/scenarios/*.toml``); expanding it gives the record of appendix G.3.
Users add their own blueprints in one file, which may be based on ours.

    python -m builders.scenarios
    python -m builders.scenarios --blueprints mine.toml
"""

from __future__ import annotations

import argparse
import functools
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from schemas.errors import RequestError, unknown
from schemas.tables import Row, resolved, term_ids, vocabulary

Blueprint = Mapping[str, Any]

_SEEDS = Path(__file__).parent / "seeds"


def load_blueprints(extra: Path | None = None) -> dict[str, Blueprint]:
    """The shipped blueprints and, over them, a user's file; by scenario id, in order of stage and number.

    Raises RequestError naming file, blueprint and field for a blueprint that breaks its schema, lies
    outside its stage's ages, is given twice, or is based on an unknown one or on itself.
    """
    drafts: dict[str, tuple[Mapping[str, Any], Path]] = {}
    for path in sorted((_SEEDS / "scenarios").glob("*.toml")):
        drafts |= _drafts(path)
    if extra is not None:
        drafts |= _drafts(extra)
    whole = {scenario_id: _whole(scenario_id, drafts, ()) for scenario_id in drafts}
    for scenario_id, blueprint in whole.items():
        _check(scenario_id, blueprint, drafts[scenario_id][1])
    stages = term_ids("scenario_stages")
    return dict(sorted(whole.items(), key=lambda item: (stages.index(item[1]["stage"]), item[1]["number"])))


def expand(scenario_id: str, blueprint: Blueprint) -> Row:
    """The full record of appendix G.3, composed from a blueprint; no provenance yet."""
    stage = _stage(blueprint["stage"])
    pressures, conflicts = blueprint["pressures"], blueprint["conflicts"]
    return {
        "id": scenario_id,
        "stage": blueprint["stage"],
        "age_range": f"ages {stage['from_age']}-{stage['to_age']}",
        "age": blueprint["age"],
        "name": blueprint["name"],
        "category": blueprint["category"],
        "intensity": blueprint["intensity"],
        "description_for_agent": blueprint["summary"],
        "setting": {part: blueprint["setting"][part] for part in ("location", "time", "atmosphere")},
        "context_text": " ".join(blueprint["background"]),
        "trigger_event": {
            "sender": blueprint["trigger"]["sender"],
            "message_content": blueprint["trigger"]["message"],
            "action_required": blueprint["trigger"]["action"],
        },
        "diamonds_dimension": blueprint["dimension"],
        "diamonds": {term: blueprint["diamonds"][term] for term in term_ids("diamonds")},
        "assessed_dimensions": {
            "trait_pressures": [{"trait": p["trait"], "dilemma": p["dilemma"]} for p in pressures],
            "value_conflicts": [{k: c[k] for k in ("value_a", "value_b", "dilemma")} for c in conflicts],
        },
        "annotation_reference": {
            "trait_archetypes": [{"type": f"{p['pole']}_{p['trait']}", "reaction": p["reaction"]} for p in pressures],
            "value_archetypes": [{"dominant": c["value_a"], "reaction": c["reaction"]} for c in conflicts],
        },
        "requires": sorted(blueprint.get("requires", ())),
        "published": [],
    }


def diamonds_coverage(scenarios: Sequence[Row]) -> dict[str, dict[int, int]]:
    """Scenarios per rating 1-7 of every DIAMONDS dimension (Table 10)."""
    return {
        dimension: {rating: sum(s["diamonds"][dimension] == rating for s in scenarios) for rating in range(1, 8)}
        for dimension in term_ids("diamonds")
    }


def value_conflict_coverage(scenarios: Sequence[Row]) -> list[tuple[str, str, int]]:
    """Conflicts between value families with their counts, most frequent first (Table 11)."""
    family = {term["id"]: term["family"] for term in vocabulary("schwartz_values")}
    pairs = Counter(
        tuple(sorted((family[conflict["value_a"]], family[conflict["value_b"]])))
        for scenario in scenarios
        for conflict in scenario["assessed_dimensions"]["value_conflicts"]
    )
    return [(a, b, count) for (a, b), count in sorted(pairs.items(), key=lambda item: (-item[1], item[0]))]


def _drafts(path: Path) -> dict[str, tuple[Mapping[str, Any], Path]]:
    try:
        entries = tomllib.loads(path.read_text("utf-8")).get("blueprint", [])
    except FileNotFoundError:
        raise RequestError("missing file", path, mend="Check the path of --blueprints") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RequestError("malformed TOML", path, expected=str(error), mend="Mend that line") from None
    if not isinstance(entries, list) or not entries:
        raise RequestError("no blueprints", path, expected="[[blueprint]] entries", mend="See builders/seeds/scenarios")
    found: dict[str, tuple[Mapping[str, Any], Path]] = {}
    for position, entry in enumerate(entries, 1):
        stage, number = entry.get("stage"), entry.get("number")
        if stage not in term_ids("scenario_stages"):
            raise unknown("stage", str(stage), term_ids("scenario_stages"), f"{path}, blueprint {position}")
        scenario_id = f"SCN_{stage.upper()}_{number}"
        if scenario_id in found:
            raise RequestError("blueprint given twice", path, row=scenario_id, mend="Give one of them another number")
        found[scenario_id] = (entry, path)
    return found


def _whole(
    scenario_id: str, drafts: Mapping[str, tuple[Mapping[str, Any], Path]], trail: tuple[str, ...]
) -> Blueprint:
    entry, path = drafts[scenario_id]
    base = entry.get("based_on")
    if base is None:
        return entry
    if base not in drafts:
        raise unknown("blueprint", base, drafts, f"{path}, row {scenario_id}, field based_on")
    if base in (*trail, scenario_id):
        circle = " -> ".join((*trail, scenario_id, base))
        raise RequestError("circle of blueprints", path, row=scenario_id, field="based_on", expected=circle)
    return {**_whole(base, drafts, (*trail, scenario_id)), **{k: v for k, v in entry.items() if k != "based_on"}}


@functools.cache
def _validator() -> Any:
    import jsonschema_rs

    return jsonschema_rs.Draft202012Validator(resolved(orjson.loads((_SEEDS / "blueprint.schema.json").read_bytes())))


def _check(scenario_id: str, blueprint: Blueprint, path: Path) -> None:
    for error in _validator().iter_errors(blueprint):
        field = ".".join(map(str, error.instance_path)) or None
        raise RequestError("blueprint breaks its schema", path, row=scenario_id, field=field, expected=error.message)
    stage = _stage(blueprint["stage"])
    if not stage["from_age"] <= blueprint["age"] <= stage["to_age"]:
        limits = f"{stage['from_age']} to {stage['to_age']}, found {blueprint['age']}"
        raise RequestError("age outside the stage", path, row=scenario_id, field="age", expected=limits)


def _stage(stage_id: str) -> Mapping[str, Any]:
    return next(stage for stage in vocabulary("scenario_stages") if stage["id"] == stage_id)
