"""Decisions: what each character does in each scenario, and what goes on in it before that.

HEART-BENCH 3.4 and appendix D.1, G.4.3: conditioned on the whole persona and the at most 50 memories the
scenario calls up. A decision is gold only once people have looked at it (``validators.review``); until
then its row says so.

    python -m builders.decisions --char CHAR_04
    python -m builders.decisions
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from builders import personas
from builders.pipeline.command import StepCommand
from builders.pipeline.provenance import built
from builders.pipeline.run import Done, Run
from builders.pipeline.staleness import current_outcome, digest_with_file, inputs_digest, write_built
from builders.pipeline.streams import Streams
from builders.scenarios.blueprints import BLUEPRINTS, Blueprint, load_blueprints
from builders.scenarios.situations import memory_line, scenario_text
from models.backends import run as run_chains
from models.prompts import load
from models.remedies import Failure, ask, failure
from models.request import Chain, Request
from schemas.errors import RequestError
from schemas.tables import Row
from schemas.workspace import Workspace

READS = ("characters", "scenarios", "memories", "activations")
MAKES = ("decisions",)
OPTIONS = (BLUEPRINTS,)

PROMPT = Path(__file__).parent / "prompts" / "decide.md"

_TRACE = ("summary", "emotional_tone", "core_reasoning", "value_orientation")
_LIKENESS = "structure"  # the cue mechanism of memories whose events are like the scenario's
_TEMPERATURE = 0.6  # the released annotation script's

Found = tuple[list[Row], list[Failure]]


@dataclass(frozen=True)
class Situation:
    """A scenario and the memories that come up in it, in order of rank; ``alike`` are those it is most like."""

    scenario: Row
    memories: Sequence[Row]
    alike: Sequence[Row] = ()


def of_character(
    character: Row,
    situations: Sequence[Situation],
    blueprints: Mapping[str, Blueprint],
    streams: Streams,
    backend: str,
) -> Chain[Found]:
    """The chain of one character: a decision for each scenario with its activated memories."""
    rows: list[Row] = []
    failures: list[Failure] = []
    spoken_of = functools.cache(lambda: _spoken_of(situations))  # only the offline writer asks
    for situation in situations:
        scenario = situation.scenario
        compose = functools.partial(_composed, character, situation, blueprints, streams, spoken_of)
        request = _request(character, situation, streams, compose)
        reply = yield from ask(request, check=functools.partial(_wrong, character, scenario))
        if reply.status == "answered":
            rows.append(_row(character, scenario, reply.answer, built(request, reply, streams.seed, backend)))
        else:
            failures.append(failure(request, reply))
    return rows, failures


def _row(character: Row, scenario: Row, answer: Row, provenance: Row | None) -> Row:
    return {
        "character_id": character["character_id"],
        "scenario_id": scenario["id"],
        "stage": scenario["stage"],
        "inner_consciousness": {part: answer[part] for part in _TRACE},
        "final_decision": answer["final_decision"],
        "review": {"status": "unreviewed", "annotators": 0, "digest": None},
        "published": [],
        "provenance": provenance,
    }


def _wrong(character: Row, scenario: Row, answer: Row) -> str | None:
    """What the decision audit finds in an answer, as the reason to ask again; None when nothing."""
    from audits import audit

    found = audit("decisions", [_row(character, scenario, answer, None)])
    return "; ".join(finding.message for finding in found if finding.severity == "error") or None


def _request(character: Row, situation: Situation, streams: Streams, compose: Callable[[], Row]) -> Request:
    prompt, scenario = load(PROMPT), situation.scenario
    rendered = prompt.render(
        **{field: character[field] for field in ("label", "occupation", "description", "self_value_logic")},
        big_five=", ".join(f"{trait} {value:.2f}" for trait, value in character["big_five"].items()),
        core_patterns="\n".join(f"- {pattern}" for pattern in character["core_patterns"]),
        dominant=", ".join(character["dominant_values"]),
        suppressed=", ".join(character["suppressed_values"]),
        age=scenario["age"],
        scenario=scenario_text(scenario),
        memories="\n".join(memory_line(m) for m in sorted(situation.memories, key=lambda m: (m["age"], m["id"])))
        or "nothing",
    )
    return Request(
        id=f"{streams.benchmark}/decisions/{character['character_id']}/{scenario['id']}",
        role="decide",
        fixed=rendered.fixed,
        prompt=rendered.prompt,
        prompt_id=f"{prompt.id}@{prompt.version}",
        prompt_digest=prompt.digest,
        compose=compose,
        schema={
            "type": "object",
            "additionalProperties": False,
            "required": [*_TRACE, "final_decision"],
            "properties": {part: {"type": "string", "minLength": 1} for part in (*_TRACE, "final_decision")},
        },
        max_tokens=2048,
        temperature=_TEMPERATURE,
    )


def _composed(
    character: Row,
    situation: Situation,
    blueprints: Mapping[str, Blueprint],
    streams: Streams,
    spoken_of: Callable[[], Mapping[str, Row]],
) -> Row:
    from builders.offline.choices.decisions import decide

    scenario = situation.scenario
    if scenario["id"] not in blueprints:
        fix = "Add one with --blueprints, or use --backend messages"
        raise RequestError("scenario without a blueprint", "scenarios", row=scenario["id"], fix=fix)
    memory = spoken_of().get(scenario["id"])
    return decide(character, scenario, blueprints[scenario["id"]], situation.memories, streams, memory)


def _spoken_of(situations: Sequence[Situation]) -> dict[str, Row]:
    """By scenario, the memory that the decision speaks of: rather one that is like what is happening."""
    from builders.offline.choices.quotation import leading

    return leading([(each.scenario["id"], each.alike or each.memories) for each in situations])


def build(run: Run) -> Done:
    """Bring the files of the selected characters up to date; a character with failures keeps what it had."""
    space, settings = run.space, run.settings
    characters = personas.selected_characters(space, run.selection)
    blueprints = load_blueprints(BLUEPRINTS.of(run))
    model = None if settings.name == "offline" else settings.roles["decide"].name
    prompt = load(PROMPT).digest
    shared = inputs_digest(
        space, ("characters", "scenarios"), seed=run.seed, backend=settings.name, model=model, prompt=prompt,
        blueprints=blueprints if model is None else None,
    )  # fmt: skip
    scenarios = {row["id"]: row for row in space.rows("scenarios")}
    outcomes, waiting = [], []
    for character in characters:
        who = character["character_id"]
        digest = digest_with_file(space, "activations", who, digest_with_file(space, "memories", who, shared))
        current = current_outcome(space, "decisions", who, digest, run.fresh)
        if current:
            outcomes.append(current)
        else:
            situations = _situations(space, who, scenarios)
            start = functools.partial(of_character, character, situations, blueprints, run.streams, settings.name)
            waiting.append((who, digest, start))
    failures: list[Failure] = []
    # One process: composing a decision takes less than handing it its memories.
    results = run_chains([start for *_, start in waiting], settings, workers=1, rows=len(scenarios) * len(waiting))
    for (who, digest, _), (rows, failed) in zip(waiting, results, strict=True):
        failures += failed
        if not failed:
            outcomes.append(write_built(space, "decisions", who, digest, rows))
    return Done(outcomes, failures)


def _situations(space: Workspace, who: str, scenarios: Mapping[str, Row]) -> list[Situation]:
    memories = {row["id"]: row for row in space.rows("memories", who)}
    found = []
    for row in space.rows("activations", who):
        if row["step"] == "fine":
            ranked = [(memories[item["memory_id"]], item["cue"]) for item in row["memories"]]
            alike = [memory for memory, cue in ranked if cue == _LIKENESS]
            found.append(Situation(scenarios[row["scenario_id"]], [memory for memory, _ in ranked], alike))
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Write decisions; see ``--help``."""
    return StepCommand(
        "decisions",
        "Write what each character decides in each scenario, from its activated memories.",
        "python -m builders.decisions --char CHAR_04",
        build,
        OPTIONS,
        selects=True,
        lines=_review_lines,
    ).main(argv)


def _review_lines(run: Run) -> list[str]:
    reviewed = Counter(row["review"]["status"] for row in run.space.rows("decisions"))
    return ["", "  " + ", ".join(f"{count} {status}" for status, count in sorted(reviewed.items()))]


if __name__ == "__main__":
    raise SystemExit(main())
