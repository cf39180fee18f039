"""User memories v2 and v3: computed statistics and, offline or by a model, the prose beside them.

PersTurnBench 3.2: one memory for each rater and target task, from the rater's other task families, and never changed
while the target is judged. Both versions share one request; v3 adds how much evidence there is.

    python -m builders.user_memories --benchmark persturn
    python -m builders.user_memories --benchmark persturn --char R001 --backend messages --max-cost 1
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

from builders.conversations.step import profile_text, selected_raters
from builders.pipeline.command import StepCommand
from builders.pipeline.provenance import built
from builders.pipeline.run import Done, Outcome, Run
from builders.pipeline.staleness import current_outcome, digest_with_file, inputs_digest, write_built
from builders.pipeline.streams import Streams
from builders.user_memories.briefing import PROMPT, memory_request
from builders.user_memories.sources import Sources, sources_of
from builders.user_memories.statistics import evidence_of, statistics_of
from models.backends import run as run_chains
from models.prompts import load
from models.remedies import Failure, ask, failure
from models.request import Chain
from schemas.tables import Row, record_schema, term_ids
from schemas.workspace import Workspace

READS = ("raters", "conversations", "ratings")
MAKES = ("user_memories",)

_V3 = ("calibration_summary", "can_compare_3_vs_4", "can_compare_4_vs_5", "low_score_evidence_level", "evidence_notes")
_MOST_REQUIREMENTS, _MOST_OBSERVATIONS = 5, 4

Found = tuple[list[Row], list[Failure]]


def of_rater(rater: Row, sources: Sequence[Sources], streams: Streams, backend: str) -> Chain[Found]:
    """The chain of one rater: two versions of a memory for every target task."""
    rows: list[Row] = []
    failures: list[Failure] = []
    for own in sources:
        request = memory_request(own, profile_text(rater), streams)
        reply = yield from ask(request, check=_wrong)
        if reply.status == "answered":
            rows += memory_rows(own, reply.answer, built(request, reply, streams.seed, backend))
        else:
            failures.append(failure(request, reply))
    return rows, failures


def memory_rows(sources: Sources, prose: Row, provenance: Row) -> list[Row]:
    """v2 and v3 of one memory: figures are computed, whatever the prose says."""
    figures, evidence = statistics_of(sources), evidence_of(sources)
    named = {"rater_id": sources.rater_id, "target_task": sources.target_task}
    shared = {**named, **figures, **prose, **evidence, "published": [], "provenance": provenance}
    rows = [{**shared, **dict.fromkeys(_V3), "memory_version": "v2"}, {**shared, "memory_version": "v3"}]
    return [{name: row[name] for name in record_schema("user_memories")["properties"]} for row in rows]


def build(run: Run) -> Done:
    """Bring the memories of the selected raters up to date; a rater with failures keeps what it had."""
    space, backend = run.space, run.settings.name
    model = None if backend == "offline" else run.settings.roles["memory"].name
    shared = inputs_digest(space, ("raters",), seed=run.seed, backend=backend, model=model, prompt=load(PROMPT).digest)
    outcomes: list[Outcome] = []
    waiting = []
    for rater in selected_raters(space, run.selection):
        name = rater["rater_id"]
        digest = _digest(space, name, shared)
        current = current_outcome(space, "user_memories", name, digest, run.fresh)
        if current:
            outcomes.append(current)
            continue
        rows = _own_rows(space, "conversations", name), _own_rows(space, "ratings", name)
        sources = [own for task in term_ids("planning_tasks") if (own := sources_of(task, *rows))]
        waiting.append((name, digest, functools.partial(of_rater, rater, sources, run.streams, backend)))
    failures: list[Failure] = []
    count = len(term_ids("planning_tasks")) * len(waiting)
    results = run_chains([start for *_, start in waiting], run.settings, workers=run.workers, rows=count)
    for (name, digest, _), (found, failed) in zip(waiting, results, strict=True):
        failures += failed
        if not failed:
            outcomes.append(write_built(space, "user_memories", name, digest, found))
    return Done(outcomes, failures)


def _digest(space: Workspace, name: str, shared: str) -> str:
    """The digest of what a rater's memories are made from: the rater's files, or of an import the whole tables."""
    if space.benchmark.table("ratings").file:
        return digest_with_file(space, "ratings", name, digest_with_file(space, "conversations", name, shared))
    return inputs_digest(space, ("conversations", "ratings"), shared=shared)


def _own_rows(space: Workspace, table: str, name: str) -> list[Row]:
    if space.benchmark.table(table).file:
        return list(space.rows(table, name))
    return [row for row in space.rows(table) if row["rater_id"] == name]


def _wrong(answer: Row) -> str | None:
    """What the record schema would reject, as the reason to ask again; None when nothing."""
    if not 1 <= len(answer["user_specific_requirements"]) <= _MOST_REQUIREMENTS:
        return f"one to {_MOST_REQUIREMENTS} user_specific_requirements"
    if len(answer["task_specific_observations"]) > _MOST_OBSERVATIONS:
        return f"at most {_MOST_OBSERVATIONS} task_specific_observations"
    return None


def main(argv: Sequence[str] | None = None) -> int:
    """Write user memories; see ``--help``."""
    return StepCommand(
        "user_memories",
        "Write what a judge may know of each rater for each target task.",
        "python -m builders.user_memories --benchmark persturn --char R001",
        build,
        selects=True,
        parallel=True,
    ).main(argv)
