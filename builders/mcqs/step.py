"""Multiple-choice questions: a character's decision among three others for the same scenario.

HEART-BENCH 3.4 stage 3 and appendix D.3. ``distractors`` chooses the wrong options. The order of the options
comes from the question's own digest, and within a scenario the letters of the right answers go round, so
that they are balanced over the benchmark. Keys are a table of their own.

    python -m builders.mcqs
    python -m builders.mcqs --decisions-of heart-published --benchmark heart-reassembled
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from builders import personas
from builders.ids import question_id
from builders.mcqs.distractors import WRONG, Pool, apart, balanced, opposites, screened
from builders.mcqs.published import published
from builders.pipeline.command import StepCommand
from builders.pipeline.provenance import computed
from builders.pipeline.run import Done, Option, Outcome, Run
from builders.pipeline.staleness import current_outcome, inputs_digest, write_built
from builders.pipeline.streams import Streams
from builders.scenarios.situations import scenario_text
from models.backends import run as run_chains
from models.prompts import load
from models.remedies import Failure, ask, failure
from models.request import Chain, Request
from schemas.benchmarks import benchmark, benchmark_names
from schemas.errors import RequestError, unknown
from schemas.findings import Finding
from schemas.rows import read_jsonl
from schemas.tables import Row
from schemas.workspace import Workspace

PROMPT = Path(__file__).parents[1] / "prompts" / "distract.md"
RULES = ("balanced", "published")
RULE = Option("--rule", "how wrong options are chosen", default=RULES[0], choices=RULES)
DECISIONS_OF = Option("--decisions-of", "take scenarios and decisions from another benchmark", metavar="NAME")
OPTIONS = (RULE, DECISIONS_OF)
READS = ("scenarios", "decisions")
MAKES = ("mcqs", "mcq_keys")
LETTERS = "ABCD"

_ANSWER = {
    "type": "object",
    "additionalProperties": False,
    "required": ["same", "unrelated"],
    "properties": {name: {"type": "array", "items": {"type": "integer"}} for name in ("same", "unrelated")},
}


def filtered(scenario: Row, decisions: Sequence[Row], benchmark: str) -> Chain[Pool | Failure]:
    """The chain of one scenario: for each of its decisions, which of the others may stand beside it."""
    texts = {row["character_id"]: row["final_decision"] for row in sorted(decisions, key=lambda r: r["character_id"])}
    usable = {}
    for target, text in texts.items():
        others = [source for source in texts if source != target]
        if not others:
            usable[target] = frozenset[str]()
            continue
        request = _request(
            scenario, f"{benchmark}/mcqs/{scenario['id']}/{target}", text, [texts[source] for source in others]
        )
        reply = yield from ask(request)
        if reply.status != "answered":
            return failure(request, reply)
        out = {number for name in ("same", "unrelated") for number in reply.answer[name]}
        usable[target] = frozenset(source for number, source in enumerate(others, 1) if number not in out)
    return Pool(scenario["id"], tuple(texts), texts, usable)


def assemble(
    pools: Sequence[Pool], stages: Mapping[str, str], characters: Sequence[Row], rule: str, streams: Streams
) -> tuple[list[Row], list[Row], list[Finding]]:
    """Questions, keys, and a finding for each decision that has too few usable wrong options."""
    pools = apart(pools)
    chosen = balanced(pools, opposites(characters), streams) if rule == "balanced" else published(pools, characters)
    questions, keys, findings = [], [], []
    for pool in pools:
        askable = [target for target in pool.sources if (pool.scenario_id, target) in chosen]
        letters = _letters(pool.scenario_id, askable, streams)
        for target in pool.sources:
            if target not in letters:
                findings.append(_too_few(pool, target))
                continue
            wrong = chosen[pool.scenario_id, target]
            order = _order(target, wrong, letters[target], pool.scenario_id, streams)
            questions.append(_question(pool, target, order, stages[pool.scenario_id], streams.seed))
            keys.append(_key(pool, target, order, letters[target], rule, streams.seed))
    return questions, keys, findings


def _letters(scenario_id: str, targets: Sequence[str], streams: Streams) -> dict[str, str]:
    """The right letters of one scenario's questions: they go round, beginning at one of the scenario's own."""
    rng = streams.rng("mcqs", scenario_id)
    shuffled = sorted(targets)
    rng.shuffle(shuffled)
    first = rng.randrange(4)
    return {target: LETTERS[(first + place) % 4] for place, target in enumerate(shuffled)}


def _order(target: str, wrong: Sequence[str], letter: str, scenario_id: str, streams: Streams) -> list[str]:
    order = sorted(wrong)
    streams.rng("mcqs", question_id(target, scenario_id)).shuffle(order)
    order.insert(LETTERS.index(letter), target)
    return order


def _question(pool: Pool, target: str, order: Sequence[str], stage: str, seed: int) -> Row:
    return {
        "question_id": question_id(target, pool.scenario_id),
        "character_id": target,
        "scenario_id": pool.scenario_id,
        "stage": stage,
        "options": [
            {"label": letter, "content": pool.texts[source]} for letter, source in zip(LETTERS, order, strict=True)
        ],
        "published": [],
        "provenance": computed(seed),
    }


def _key(pool: Pool, target: str, order: Sequence[str], letter: str, rule: str, seed: int) -> Row:
    sources = [
        {"label": label, "character_id": source, "is_generated": None}
        for label, source in zip(LETTERS, order, strict=True)
    ]
    return {
        "question_id": question_id(target, pool.scenario_id),
        "answer": letter,
        "sources": sources,
        "rule": rule,
        "published": [],
        "provenance": computed(seed),
    }


def _too_few(pool: Pool, target: str) -> Finding:
    usable = len(pool.usable[target])
    return Finding(
        code="mcq.too_few_distractors",
        table="decisions",
        row_id=f"{target}/{pool.scenario_id}",
        field="final_decision",
        severity="warning",
        span=None,
        text=None,
        message=f"no question is asked of this decision: {WRONG} others must be able to stand beside it,"
        f" {usable} of {len(pool.sources) - 1} can",
        source="HEART-BENCH appendix D.3",
    )


def _request(scenario: Row, name: str, target: str, candidates: Sequence[str]) -> Request:
    prompt = load(PROMPT)
    rendered = prompt.render(
        scenario=scenario_text(scenario),
        target=target,
        candidates="\n".join(f"{number}. {text}" for number, text in enumerate(candidates, 1)),
    )
    return Request(
        id=name,
        role="distract",
        fixed=rendered.fixed,
        prompt=rendered.prompt,
        prompt_id=f"{prompt.id}@{prompt.version}",
        prompt_digest=prompt.digest,
        compose=functools.partial(_composed, target, candidates),
        schema=_ANSWER,
        max_tokens=512,
        temperature=0.0,
    )


def _composed(target: str, candidates: Sequence[str]) -> Row:
    same, unrelated = screened(target, candidates)
    return {"same": [i + 1 for i in same], "unrelated": [i + 1 for i in unrelated]}


def build(run: Run) -> Done:
    """Bring questions and keys up to date, from the decisions of this benchmark or of ``--decisions-of``."""
    space, source = run.space, _source(run)
    copied = [] if source is space else _copied(space, source)
    settings, rule = run.settings, RULE.of(run)
    model = None if settings.name == "offline" else settings.roles["distract"].name
    digest = inputs_digest(
        source, ("scenarios", "decisions"), rule=rule, seed=run.seed, model=model, prompt=load(PROMPT).digest
    )
    current = [current_outcome(space, table, "all", digest, run.fresh) for table in MAKES]
    outcomes = [outcome for outcome in current if outcome]
    if len(outcomes) < len(MAKES):
        pools, failures = _pools(run, source)
        if failures:
            return Done(copied, failures)
        stages = {row["id"]: row["stage"] for row in source.rows("scenarios")}
        questions, keys, findings = assemble(pools, stages, _characters(source), rule, run.streams)
        space.write_findings("mcqs", findings)
        rows = zip(MAKES, (questions, keys), strict=True)
        outcomes = [write_built(space, table, "all", digest, made) for table, made in rows]
    return Done([*copied, *outcomes], (), left_out(space))


def _pools(run: Run, source: Workspace) -> tuple[list[Pool], list[Failure]]:
    """For each scenario, which decisions may stand beside which."""
    scenarios = {row["id"]: row for row in source.rows("scenarios")}
    by_scenario: dict[str, list[Row]] = {}
    for row in source.rows("decisions"):
        by_scenario.setdefault(row["scenario_id"], []).append(row)
    name = run.streams.benchmark
    starts = [functools.partial(filtered, scenarios[s], rows, name) for s, rows in sorted(by_scenario.items())]
    results = list(run_chains(starts, run.settings, workers=1, rows=len(starts)))
    pools = [result for result in results if isinstance(result, Pool)]
    return pools, [result for result in results if isinstance(result, Failure)]


def _source(run: Run) -> Workspace:
    """The workspace the decisions are in. Raises RequestError for a benchmark that has none."""
    name = DECISIONS_OF.of(run)
    if name is None:
        return run.space
    known = [each for each in benchmark_names() if {"scenarios", "decisions"} <= benchmark(each).tables.keys()]
    if name not in known:
        raise unknown("benchmark with decisions", name, known)
    return Workspace(run.space.folder.parent, name)


def _characters(source: Workspace) -> Sequence[Row]:
    """The characters of a workspace; for the published decisions, which come without, the archetypes they are of."""
    return personas.characters_of(source) if "characters" in source.benchmark.tables else personas.load_characters()


def _copied(space: Workspace, source: Workspace) -> list[Outcome]:
    """Scenarios and decisions of another benchmark, copied into this one so that it is whole."""
    if not source.keys("decisions"):
        fix = "Run first: python -m builders.importers heart --from HEART-BENCH/benchmark"
        raise RequestError("missing table", source.folder, expected="decisions", fix=fix)
    return [
        current_outcome(space, table, "all", inputs_digest(source, (table,)), fresh=False)
        or write_built(space, table, "all", inputs_digest(source, (table,)), list(source.rows(table)))
        for table in ("scenarios", "decisions")
    ]


def left_out(space: Workspace) -> list[str]:
    """The decisions, as character/scenario, of which the last assembly could ask no question."""
    path = space.folder / "findings" / "mcqs.jsonl"
    return [row["row_id"] for row in read_jsonl(path)] if path.is_file() else []


def _lines(run: Run) -> list[str]:
    letters = Counter(row["answer"] for row in run.space.rows("mcq_keys"))
    missing = left_out(run.space)
    lines = ["", "  right letters " + ", ".join(f"{letter} {letters[letter]}" for letter in LETTERS)]
    lines += [f"  no question for {pair}: too few usable wrong options (findings/mcqs.jsonl)" for pair in missing]
    return lines


def main(argv: Sequence[str] | None = None) -> int:
    """Assemble questions; see ``--help``."""
    return StepCommand(
        "mcqs",
        "Assemble four-option questions from decisions, with balanced letters and sources.",
        "python -m builders.mcqs --rule balanced",
        build,
        OPTIONS,
        document=lambda run: {"left_out": left_out(run.space)},
        lines=_lines,
    ).main(argv)
