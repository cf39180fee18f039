"""Scenarios: 64 situations that force a decision, expanded from blueprints.

HEART-BENCH 3.3 and appendix C: eight life stages by eight DIAMONDS slots. A blueprint is what a person
drafts (``builders/seeds/scenarios/*.toml``); expanding it gives the record of appendix G.3, offline from the
blueprint's own words, or by a model from its draft. Coverage is reported as in Tables 10 and 11.

    python -m builders.scenarios
    python -m builders.scenarios --blueprints mine.toml
"""

from __future__ import annotations

import argparse
import functools
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from builders.pipeline.provenance import built
from builders.pipeline.staleness import Outcome, as_record, keep, made_from, standing, told
from builders.scenarios.blueprints import Blueprint, load_blueprints, stage_of
from models.backends import BackendSettings, add_backend_arguments, backend_settings
from models.backends import run as run_chains
from models.prompts import load
from models.remedies import Failure, ask, failure, write_failures
from models.request import Chain, Request
from schemas.command import DONE, MACHINE_FAILED, parser, print_json, run, say
from schemas.tables import Row, record_schema, term_ids, vocabulary
from schemas.workspace import Workspace

PROMPT = Path(__file__).parents[1] / "prompts" / "scenario.md"

# Set by the blueprint, whatever a model says: naming must not drift (appendix G.3).
_FORCED = ("id", "stage", "age_range", "age", "name", "category", "intensity", "diamonds_dimension", "requires")


def expand(scenario_id: str, blueprint: Blueprint) -> Row:
    """The full record of appendix G.3, composed from a blueprint; no provenance yet."""
    stage = stage_of(blueprint["stage"])
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


def diamonds_coverage(scenarios: Sequence[Row]) -> dict[str, dict[str, int]]:
    """Scenarios per rating 1-7 of every DIAMONDS dimension (Table 10)."""
    return {
        dimension: {str(rating): sum(s["diamonds"][dimension] == rating for s in scenarios) for rating in range(1, 8)}
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


def main(argv: Sequence[str] | None = None) -> int:
    """Expand the blueprints; see ``--help``."""
    made = parser(
        "builders.scenarios",
        "Expand scenario blueprints into full scenarios and report what they cover.",
        "python -m builders.scenarios --blueprints mine.toml",
    )
    made.add_argument("--benchmark", default="heart", choices=["heart"], help="(default: heart)")
    made.add_argument("--blueprints", type=Path, metavar="FILE", help="own blueprints, added to ours or replacing them")
    made.add_argument("--fresh", action="store_true", help="expand anew, also what a person has changed")
    add_backend_arguments(made)
    return run(_command, made, argv)


def settle(
    space: Workspace, extra: Path | None, seed: int, settings: BackendSettings, fresh: bool
) -> tuple[Outcome, list[Failure]]:
    """Bring the table up to date; what a model failed to expand is returned and left out."""
    blueprints = load_blueprints(extra)
    model = None if settings.name == "offline" else settings.roles["scenario"].name
    digest = made_from(
        space, (), blueprints=blueprints, seed=seed, backend=settings.name, model=model, prompt=load(PROMPT).digest
    )
    stands = standing(space, "scenarios", "all", digest, fresh)
    if stands:
        return stands, []
    starts = [functools.partial(_expansion, *item, seed, settings.name) for item in blueprints.items()]
    # One process: composing a record takes less than starting another.
    results = list(run_chains(starts, settings, workers=1, rows=len(starts)))
    rows = [result for result in results if not isinstance(result, Failure)]
    return keep(space, "scenarios", "all", digest, rows), [r for r in results if isinstance(r, Failure)]


def _expansion(scenario_id: str, blueprint: Blueprint, seed: int, backend: str) -> Chain[Row | Failure]:
    request = _request(scenario_id, blueprint)
    reply = yield from ask(request)
    if reply.status != "answered":
        return failure(request, reply)
    composed = expand(scenario_id, blueprint)
    forced = {field: composed[field] for field in _FORCED}
    provenance = built(request, reply, seed, backend)
    return {**composed, **reply.answer, **forced, "published": [], "provenance": provenance}


def _request(scenario_id: str, blueprint: Blueprint) -> Request:
    prompt = load(PROMPT)
    stage = stage_of(blueprint["stage"])
    trigger = blueprint["trigger"]
    draft = [*blueprint["background"], f"{trigger['sender']}: {trigger['message']}", trigger["action"]]
    rendered = prompt.render(
        stage=stage["label"],
        ages=f"ages {stage['from_age']} to {stage['to_age']}",
        dimension=blueprint["dimension"],
        draft="\n".join(draft),
        **{field: blueprint[field] for field in ("age", "intensity", "name", "category")},
    )
    return Request(
        id=f"heart/scenarios/{scenario_id}",
        role="scenario",
        fixed=rendered.fixed,
        prompt=rendered.prompt,
        prompt_id=f"{prompt.id}@{prompt.version}",
        prompt_digest=prompt.digest,
        compose=functools.partial(_composed, scenario_id, blueprint),
        schema=_answer_schema(),
        max_tokens=4096,
        temperature=0.0,
    )


def _composed(scenario_id: str, blueprint: Blueprint) -> Row:
    row = expand(scenario_id, blueprint)
    return {field: row[field] for field in _answer_schema()["properties"]}


@functools.cache
def _answer_schema() -> Mapping[str, Any]:
    """What a model is asked for: the record without what the blueprint fixes."""
    whole = record_schema("scenarios")
    fields = [f for f in whole["properties"] if f not in (*_FORCED, "published", "provenance")]
    properties = {}
    for field in fields:
        node = dict(whole["properties"][field])
        node["type"] = node["type"] if isinstance(node["type"], str) else next(t for t in node["type"] if t != "null")
        properties[field] = node
    return {"type": "object", "additionalProperties": False, "required": fields, "properties": properties}


def _command(parsed: argparse.Namespace) -> int:
    space = Workspace(parsed.workspace, parsed.benchmark)
    settings = backend_settings(parsed, parsed.benchmark)
    with space.lock():
        outcome, failures = settle(space, parsed.blueprints, parsed.seed, settings, parsed.fresh)
        write_failures(space.folder / "failed-scenarios.jsonl", failures)
    rows = list(space.rows("scenarios"))
    if parsed.json:
        coverage = {"diamonds": diamonds_coverage(rows), "value_conflicts": value_conflict_coverage(rows)}
        print_json({"outcomes": as_record([outcome]), "coverage": coverage, "failed": len(failures)})
    else:
        for line in [*told([outcome]), "", *_coverage_lines(rows)]:
            say(line, quiet=parsed.quiet)
    return MACHINE_FAILED if failures else DONE


def _coverage_lines(rows: Sequence[Row]) -> list[str]:
    lines = ["  scenarios per DIAMONDS rating (Table 10)   " + "".join(f"{rating:>4}" for rating in range(1, 8))]
    for dimension, ratings in diamonds_coverage(rows).items():
        lines.append(f"    {dimension:<41}" + "".join(f"{count:>4}" for count in ratings.values()))
    lines += ["", "  value conflicts, by family (Table 11)"]
    lines += [f"    {f'{a} vs {b}':<41}{count:>4}" for a, b, count in value_conflict_coverage(rows)[:10]]
    return lines


if __name__ == "__main__":
    raise SystemExit(main())
