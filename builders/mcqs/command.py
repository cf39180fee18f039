"""Multiple-choice questions: a character's decision among three others for the same scenario.

HEART-BENCH 3.4 stage 3 and appendix D.3. ``distractors`` chooses the wrong options. The order of the options
comes from the question's own digest, and within a scenario the letters of the right answers go round, so
that they are balanced over the benchmark. Keys are a table of their own.

    python -m builders.mcqs
    python -m builders.mcqs --decisions-of heart-published --benchmark heart-reassembled
"""

from __future__ import annotations

import argparse
import functools
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from builders import personas
from builders.ids import question_id
from builders.mcqs.distractors import WRONG, Pool, apart, balanced, opposites, published, screened
from builders.pipeline.provenance import computed
from builders.pipeline.staleness import Outcome, as_record, keep, made_from, standing, told
from builders.scenarios.situations import scenario_text
from models.backends import BackendSettings, add_backend_arguments, backend_settings
from models.backends import run as run_chains
from models.prompts import load
from models.remedies import Failure, ask, failure, write_failures
from models.request import Chain, Request
from schemas.command import DONE, FINDINGS, MACHINE_FAILED, parser, print_json, run, say
from schemas.errors import RequestError
from schemas.findings import Finding
from schemas.randomness import rng_for
from schemas.rows import read_jsonl
from schemas.tables import Row
from schemas.workspace import Workspace

PROMPT = Path(__file__).parents[1] / "prompts" / "distract.md"
RULES = ("balanced", "published")
LETTERS = "ABCD"

_ANSWER = {
    "type": "object",
    "additionalProperties": False,
    "required": ["same", "unrelated"],
    "properties": {name: {"type": "array", "items": {"type": "integer"}} for name in ("same", "unrelated")},
}


def filtered(scenario: Row, decisions: Sequence[Row]) -> Chain[Pool | Failure]:
    """The chain of one scenario: for each of its decisions, which of the others may stand beside it."""
    texts = {row["character_id"]: row["final_decision"] for row in sorted(decisions, key=lambda r: r["character_id"])}
    usable = {}
    for target, text in texts.items():
        others = [source for source in texts if source != target]
        if not others:
            usable[target] = frozenset[str]()
            continue
        request = _request(scenario, target, text, [texts[source] for source in others])
        reply = yield from ask(request)
        if reply.status != "answered":
            return failure(request, reply)
        out = {number for name in ("same", "unrelated") for number in reply.answer[name]}
        usable[target] = frozenset(source for number, source in enumerate(others, 1) if number not in out)
    return Pool(scenario["id"], tuple(texts), texts, usable)


def assemble(
    pools: Sequence[Pool], stages: Mapping[str, str], characters: Sequence[Row], rule: str, seed: int
) -> tuple[list[Row], list[Row], list[Finding]]:
    """Questions, keys, and a finding for each decision that has too few usable wrong options."""
    pools = apart(pools)
    chosen = balanced(pools, opposites(characters), seed) if rule == "balanced" else published(pools, characters)
    questions, keys, findings = [], [], []
    for pool in pools:
        askable = [target for target in pool.sources if (pool.scenario_id, target) in chosen]
        letters = _letters(pool.scenario_id, askable, seed)
        for target in pool.sources:
            if target not in letters:
                findings.append(_too_few(pool, target))
                continue
            wrong = chosen[pool.scenario_id, target]
            order = _order(target, wrong, letters[target], pool.scenario_id, seed)
            questions.append(_question(pool, target, order, stages[pool.scenario_id], seed))
            keys.append(_key(pool, target, order, letters[target], rule, seed))
    return questions, keys, findings


def _letters(scenario_id: str, targets: Sequence[str], seed: int) -> dict[str, str]:
    """The right letters of one scenario's questions: they go round, beginning at one of the scenario's own."""
    rng = rng_for(seed, "heart", "mcqs", scenario_id)
    shuffled = sorted(targets)
    rng.shuffle(shuffled)
    first = rng.randrange(4)
    return {target: LETTERS[(first + place) % 4] for place, target in enumerate(shuffled)}


def _order(target: str, wrong: Sequence[str], letter: str, scenario_id: str, seed: int) -> list[str]:
    order = sorted(wrong)
    rng_for(seed, "heart", "mcqs", question_id(target, scenario_id)).shuffle(order)
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


def _request(scenario: Row, who: str, target: str, candidates: Sequence[str]) -> Request:
    prompt = load(PROMPT)
    rendered = prompt.render(
        scenario=scenario_text(scenario),
        target=target,
        candidates="\n".join(f"{number}. {text}" for number, text in enumerate(candidates, 1)),
    )
    return Request(
        id=f"heart/mcqs/{scenario['id']}/{who}",
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


def settle(
    space: Workspace, source: Workspace, rule: str, seed: int, settings: BackendSettings, fresh: bool
) -> tuple[list[Outcome], list[Failure]]:
    """Bring questions and keys up to date from the decisions of ``source`` (often the same workspace)."""
    model = None if settings.name == "offline" else settings.roles["distract"].name
    digest = made_from(
        source, ("scenarios", "decisions"), rule=rule, seed=seed, model=model, prompt=load(PROMPT).digest
    )
    stand = [standing(space, table, "all", digest, fresh) for table in ("mcqs", "mcq_keys")]
    if all(stand):
        return [outcome for outcome in stand if outcome], []
    scenarios = {row["id"]: row for row in source.rows("scenarios")}
    by_scenario: dict[str, list[Row]] = {}
    for row in source.rows("decisions"):
        by_scenario.setdefault(row["scenario_id"], []).append(row)
    starts = [functools.partial(filtered, scenarios[s], rows) for s, rows in sorted(by_scenario.items())]
    results = list(run_chains(starts, settings, workers=1, rows=len(starts)))
    failures = [result for result in results if isinstance(result, Failure)]
    if failures:
        return [], failures
    pools = [result for result in results if isinstance(result, Pool)]
    stages = {scenario_id: row["stage"] for scenario_id, row in scenarios.items()}
    questions, keys, findings = assemble(pools, stages, _characters(source), rule, seed)
    space.write_findings("mcqs", findings)
    return [keep(space, "mcqs", "all", digest, questions), keep(space, "mcq_keys", "all", digest, keys)], []


def _characters(source: Workspace) -> Sequence[Row]:
    """The characters of a workspace; for the published decisions, which come without, the archetypes they are of."""
    return personas.characters_of(source) if "characters" in source.benchmark.tables else personas.load_characters()


def main(argv: Sequence[str] | None = None) -> int:
    """Assemble questions; see ``--help``."""
    made = parser(
        "builders.mcqs",
        "Assemble four-option questions from decisions, with balanced letters and sources.",
        "python -m builders.mcqs --rule balanced",
    )
    made.add_argument("--benchmark", default="heart", choices=["heart", "heart-reassembled"], help="(default: heart)")
    made.add_argument("--decisions-of", choices=["heart-published"], help="take scenarios and decisions from there")
    made.add_argument(
        "--rule", choices=RULES, default=RULES[0], help="how wrong options are chosen (default: balanced)"
    )
    made.add_argument("--fresh", action="store_true", help="build anew, also what a person has changed")
    add_backend_arguments(made)
    return run(_command, made, argv)


def _command(parsed: argparse.Namespace) -> int:
    space = Workspace(parsed.workspace, parsed.benchmark)
    source = Workspace(parsed.workspace, parsed.decisions_of) if parsed.decisions_of else space
    settings = backend_settings(parsed, parsed.benchmark)
    with space.lock():
        taken = _taken(space, source)
        outcomes, failures = settle(space, source, parsed.rule, parsed.seed, settings, parsed.fresh)
        write_failures(space.folder / "failed-mcqs.jsonl", failures)
    missing = left_out(space)
    if parsed.json:
        print_json({"outcomes": as_record([*taken, *outcomes]), "left_out": missing, "failed": len(failures)})
    else:
        for line in [*told([*taken, *outcomes]), *_lines(space, missing)]:
            say(line, quiet=parsed.quiet)
    return MACHINE_FAILED if failures else FINDINGS if missing else DONE


def _taken(space: Workspace, source: Workspace) -> list[Outcome]:
    """Scenarios and decisions of another benchmark, copied into this one so that it is whole."""
    if source is space:
        return []
    if not source.keys("decisions"):
        mend = "Run first: python -m builders.importers heart --from HEART-BENCH/benchmark"
        raise RequestError("missing table", source.folder, expected="decisions", mend=mend)
    return [
        standing(space, table, "all", made_from(source, (table,)), fresh=False)
        or keep(space, table, "all", made_from(source, (table,)), list(source.rows(table)))
        for table in ("scenarios", "decisions")
    ]


def left_out(space: Workspace) -> list[str]:
    """The decisions, as character/scenario, of which the last assembly could ask no question."""
    path = space.folder / "findings" / "mcqs.jsonl"
    return [row["row_id"] for row in read_jsonl(path)] if path.is_file() else []


def _lines(space: Workspace, left_out: Sequence[str]) -> list[str]:
    letters = Counter(row["answer"] for row in space.rows("mcq_keys"))
    lines = ["", "  right letters " + ", ".join(f"{letter} {letters[letter]}" for letter in LETTERS)]
    lines += [f"  no question for {pair}: too few usable wrong options (findings/mcqs.jsonl)" for pair in left_out]
    return lines


if __name__ == "__main__":
    raise SystemExit(main())
