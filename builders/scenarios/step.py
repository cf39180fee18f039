"""Scenarios: 64 situations that force a decision, expanded from blueprints.

HEART-BENCH 3.3 and appendix C: eight life stages by eight DIAMONDS slots. A blueprint is what a person
drafts (``builders/seeds/scenarios/*.toml``); expanding it gives the record of appendix G.3, offline from the
blueprint's own words, or by a model from its draft. Coverage is reported as in Tables 10 and 11.

    python -m builders.scenarios
    python -m builders.scenarios --blueprints mine.toml
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from builders.pipeline.command import StepCommand
from builders.pipeline.provenance import built
from builders.pipeline.run import Done, Run
from builders.pipeline.staleness import current_outcome, inputs_digest, write_built
from builders.pipeline.streams import Streams
from builders.scenarios.blueprints import BLUEPRINTS, Blueprint, load_blueprints, stage_of
from models.backends import run as run_chains
from models.prompts import load
from models.remedies import Failure, ask, failure
from models.request import Chain, Request
from schemas.tables import Row, record_schema, term_ids, vocabulary

MAKES = ("scenarios",)
OPTIONS = (BLUEPRINTS,)

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


def build(run: Run) -> Done:
    """Bring the table up to date; what a model failed to expand is returned and left out."""
    blueprints = load_blueprints(BLUEPRINTS.of(run))
    space, settings = run.space, run.settings
    model = None if settings.name == "offline" else settings.roles["scenario"].name
    digest = inputs_digest(
        space, (), blueprints=blueprints, seed=run.seed, backend=settings.name, model=model, prompt=load(PROMPT).digest
    )
    current = current_outcome(space, "scenarios", "all", digest, run.fresh)
    if current:
        return Done([current])
    starts = [functools.partial(_expansion, *item, run.streams, settings.name) for item in blueprints.items()]
    # One process: composing a record takes less than starting another.
    results = list(run_chains(starts, settings, workers=1, rows=len(starts)))
    rows = [result for result in results if not isinstance(result, Failure)]
    failures = [result for result in results if isinstance(result, Failure)]
    return Done([write_built(space, "scenarios", "all", digest, rows)], failures)


def _expansion(scenario_id: str, blueprint: Blueprint, streams: Streams, backend: str) -> Chain[Row | Failure]:
    request = _request(scenario_id, blueprint, streams.benchmark)
    reply = yield from ask(request)
    if reply.status != "answered":
        return failure(request, reply)
    composed = expand(scenario_id, blueprint)
    forced = {field: composed[field] for field in _FORCED}
    provenance = built(request, reply, streams.seed, backend)
    return {**composed, **reply.answer, **forced, "published": [], "provenance": provenance}


def _request(scenario_id: str, blueprint: Blueprint, benchmark: str) -> Request:
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
        id=f"{benchmark}/scenarios/{scenario_id}",
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


def _coverage(run: Run) -> Mapping[str, Any]:
    rows = list(run.space.rows("scenarios"))
    return {"coverage": {"diamonds": diamonds_coverage(rows), "value_conflicts": value_conflict_coverage(rows)}}


def _coverage_lines(run: Run) -> list[str]:
    rows = list(run.space.rows("scenarios"))
    lines = ["", "  scenarios per DIAMONDS rating (Table 10)   " + "".join(f"{rating:>4}" for rating in range(1, 8))]
    for dimension, ratings in diamonds_coverage(rows).items():
        lines.append(f"    {dimension:<41}" + "".join(f"{count:>4}" for count in ratings.values()))
    lines += ["", "  value conflicts, by family (Table 11)"]
    lines += [f"    {f'{a} vs {b}':<41}{count:>4}" for a, b, count in value_conflict_coverage(rows)[:10]]
    return lines


def main(argv: Sequence[str] | None = None) -> int:
    """Expand the blueprints; see ``--help``."""
    return StepCommand(
        "scenarios",
        "Expand scenario blueprints into full scenarios and report what they cover.",
        "python -m builders.scenarios --blueprints mine.toml",
        build,
        OPTIONS,
        document=_coverage,
        lines=_coverage_lines,
    ).main(argv)
