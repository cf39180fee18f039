"""Blueprints: what a person drafts before a scenario is expanded (HEART-BENCH 3.3, stage 1).

One file a life stage under ``builders/seeds/scenarios``; users add or change blueprints in one file of their
own, which may be based on ours. The shape is ``builders/seeds/blueprint.schema.json``.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from builders.pipeline.run import Option
from schemas.errors import RequestError, unknown
from schemas.tables import resolved, term_ids, vocabulary

Blueprint = Mapping[str, Any]

BLUEPRINTS = Option("--blueprints", "own blueprints, added to ours or replacing them", read=Path, metavar="FILE")

_SEEDS = Path(__file__).parents[1] / "seeds"


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


def stage_of(stage_id: str) -> Mapping[str, Any]:
    """The scenario stage with that id."""
    return next(stage for stage in vocabulary("scenario_stages") if stage["id"] == stage_id)


def _drafts(path: Path) -> dict[str, tuple[Mapping[str, Any], Path]]:
    try:
        entries = tomllib.loads(path.read_text("utf-8")).get("blueprint", [])
    except FileNotFoundError:
        raise RequestError("missing file", path, fix="Check the path of --blueprints") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RequestError("malformed TOML", path, expected=str(error), fix="Correct that line") from None
    if not isinstance(entries, list) or not entries or not all(isinstance(entry, dict) for entry in entries):
        raise RequestError("no blueprints", path, expected="[[blueprint]] entries", fix="See builders/seeds/scenarios")
    found: dict[str, tuple[Mapping[str, Any], Path]] = {}
    for position, entry in enumerate(entries, 1):
        stage, number = entry.get("stage"), entry.get("number")
        if stage not in term_ids("scenario_stages"):
            raise unknown("stage", str(stage), term_ids("scenario_stages"), f"{path}, blueprint {position}")
        if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= 999:
            where = f"{path}, blueprint {position}"
            raise RequestError("no number", where, field="number", expected="1 to 999", fix="Give it one of its own")
        scenario_id = f"SCN_{stage.upper()}_{number}"
        if scenario_id in found:
            raise RequestError("blueprint given twice", path, row=scenario_id, fix="Give one of them another number")
        found[scenario_id] = (entry, path)
    return found


def _whole(scenario_id: str, drafts: Mapping[str, tuple[Mapping[str, Any], Path]], trail: tuple[str, ...]) -> Blueprint:
    entry, path = drafts[scenario_id]
    base = entry.get("based_on")
    if base is None:
        return entry
    if base not in drafts:
        raise unknown("blueprint", str(base), drafts, f"{path}, row {scenario_id}, field based_on")
    if base in (*trail, scenario_id):
        circle = " -> ".join((*trail, scenario_id, base))
        fix = "Write one of them out, without based_on"
        raise RequestError("circle of blueprints", path, row=scenario_id, field="based_on", expected=circle, fix=fix)
    return {**_whole(base, drafts, (*trail, scenario_id)), **{k: v for k, v in entry.items() if k != "based_on"}}


@functools.cache
def _validator() -> Any:
    import jsonschema_rs

    return jsonschema_rs.Draft202012Validator(resolved(orjson.loads((_SEEDS / "blueprint.schema.json").read_bytes())))


def _check(scenario_id: str, blueprint: Blueprint, path: Path) -> None:
    for error in _validator().iter_errors(blueprint):
        field = ".".join(map(str, error.instance_path)) or None
        fix = "See builders/seeds/scenarios for complete ones"
        raise RequestError(
            "blueprint breaks its schema", path, row=scenario_id, field=field, expected=error.message, fix=fix
        )
    stage = stage_of(blueprint["stage"])
    if not stage["from_age"] <= blueprint["age"] <= stage["to_age"]:
        limits = f"{stage['from_age']} to {stage['to_age']}, found {blueprint['age']}"
        fix = "Change the age or the stage"
        raise RequestError("age outside the stage", path, row=scenario_id, field="age", expected=limits, fix=fix)
