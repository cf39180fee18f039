"""A rubric and an item as a request to a judge: prompt and output schema; pairs are asked in both orders.

What the judge sees are the fields that the rubric names and nothing else of the item. ``{{name}}`` in a rubric's words
is replaced by the item's field of that name, for example the poles of the dimension that is judged.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from evaluators.rubrics.loading import VARIABLE, Part, Rubric
from evaluators.rubrics.verdicts import NA, Verdict, read_reply, say_value
from evaluators.scoring.score_figures import POSITION
from models.prompts import Rendered, load
from models.request import Chain, Reply, Request
from schemas.errors import RequestError

_HEADING = re.compile(r"^#", re.MULTILINE)
_PROMPT = Path(__file__).parent / "judge.md"
_RUBRICS = 64  # of a run, at most, for which what follows from the rubric alone is kept

Fields = Mapping[str, str]
Compose = Callable[[Rubric, Fields], dict[str, Any]]
Reader = Callable[[Rubric, Reply, Fields], dict[str, Verdict]]


def judge_request(rubric: Rubric, name: str, fields: Fields, compose: Callable[[], Any], sample: int = 0) -> Request:
    """The request that has an item judged; ``name`` begins its id. Raises RequestError for an item without a field."""
    rendered = judge_prompt(_PROMPT, rubric, fields, _scores(rubric), _form(rubric), applies=_applies(rubric))
    return Request(
        id=f"{name}/{rubric.id}",
        role="judge",
        fixed=rendered.fixed,
        prompt=rendered.prompt,
        prompt_id=rubric.name,
        prompt_digest=rubric.digest,
        compose=compose,
        schema=answer_schema(rubric),
        max_tokens=rubric.max_tokens,
        temperature=0.0,
        sample=sample,
    )


def judge_prompt(path: Path, rubric: Rubric, fields: Fields, scores: str, answer: str, **more: str) -> Rendered:
    """What a judge is told of an item and asked about scores (``scores_in_words``), in the words of a prompt file."""
    return load(path).render(
        instructions=_fill(rubric.instructions, fields, rubric),
        scores=_fill(scores, fields, rubric),
        answer=answer,
        seen="\n\n".join(f"# {heading}\n\n{_material(fields, field, rubric)}" for field, heading in rubric.sees),
        **more,
    )


@functools.lru_cache(maxsize=_RUBRICS)
def answer_schema(rubric: Rubric) -> dict[str, Any]:
    """The JSON Schema of a judge's answer: a value of the scale or "NA" a score, and quotations where asked for."""
    properties: dict[str, Any] = {}
    for part in rubric.parts:
        values = [*(say_value(rubric, value) for value in rubric.scale.values), *([NA] if part.not_applicable else [])]
        properties[part.name] = {"enum": values}
        if rubric.evidence:
            properties[evidence_name(part)] = {"type": "string", "description": "Words quoted from the text."}
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(properties),
        "properties": properties,
    }


def evidence_name(part: Part) -> str:
    """The key of a score's quotation."""
    return f"{part.name}_evidence"


def judged(
    rubric: Rubric, name: str, fields: Fields, compose: Compose, read: Reader = read_reply
) -> Chain[tuple[dict[str, Verdict], tuple[Reply, ...]]]:
    """A chain that has one item judged: score -> verdict, and the replies. A pair is asked in both orders.

    ``read`` makes verdicts of a reply."""
    reply = yield judge_request(rubric, name, fields, lambda: compose(rubric, fields))
    verdicts = read(rubric, reply, fields)
    if rubric.unit != "pair":
        return verdicts, (reply,)
    turned = {**fields, "first": fields["second"], "second": fields["first"]}
    other = yield judge_request(rubric, f"{name}/turned", turned, lambda: compose(rubric, turned))
    back = read(rubric, other, turned)
    return {part: both_orders(verdicts[part], back[part]) for part in verdicts}, (reply, other)


def both_orders(verdict: Verdict, turned: Verdict) -> Verdict:
    """One verdict on a pair of two; two that differ are a tie that went by position."""
    for one in (verdict, turned):
        if one.state != "scored":
            return one
    assert verdict.value is not None and turned.value is not None
    if verdict.value == 1 - turned.value:
        return verdict
    return Verdict("scored", 0.5, POSITION, verdict.evidence)


@functools.lru_cache(maxsize=_RUBRICS)
def _scores(rubric: Rubric) -> str:
    return scores_in_words(rubric.parts)


def scores_in_words(parts: Sequence[Part]) -> str:
    """What each score asks, with its levels; levels that all scores share stand once."""
    first = parts[0].levels
    shared = len(parts) > 1 and all(part.levels == first for part in parts)
    rendered = [_words(part, {} if shared else part.levels) for part in parts]
    if shared and first:
        rendered.append("Levels:\n" + _levels(first))
    return "\n\n".join(rendered)


def _words(part: Part, levels: Mapping[str, str]) -> str:
    lines = [f'"{part.name}": {part.asks}', *([_levels(levels)] if levels else [])]
    if part.not_applicable:
        lines.append(f'  "{NA}": {part.not_applicable}')
    return "\n".join(lines)


def _levels(levels: Mapping[str, str]) -> str:
    return "\n".join(f"  {level}: {text}" for level, text in levels.items())


def _applies(rubric: Rubric) -> str:
    if not rubric.evidence:
        return ""
    heading = dict(rubric.sees)[rubric.evidence]
    return f'Quote for each score, word for word from "{heading}", the words that it rests on.\n\n'


@functools.lru_cache(maxsize=_RUBRICS)
def _form(rubric: Rubric) -> str:
    shown = {"integers": "...", "boolean": "true or false", "labels": '"..."', "pairwise": '"first", "second" or "tie"'}
    keys = []
    for part in rubric.parts:
        keys.append(f'"{part.name}": {shown[rubric.scale.kind]}')
        if rubric.evidence:
            keys.append(f'"{evidence_name(part)}": "..."')
    return "{" + ", ".join(keys) + "}"


def _fill(text: str, fields: Fields, rubric: Rubric) -> str:
    return VARIABLE.sub(lambda found: _field(fields, found[1], rubric), text)


def _material(fields: Fields, name: str, rubric: Rubric) -> str:
    """A field's text, in which no line can pass for one of the prompt's headings."""
    text = _field(fields, name, rubric)
    return _HEADING.sub(" #", text) if "#" in text else text


def _field(fields: Fields, name: str, rubric: Rubric) -> str:
    if fields.get(name) is None:
        raise RequestError(
            "item without a field", rubric.path, field=name, expected=f"one of {', '.join(sorted(fields))}",
            fix="Name a field of the table that is judged",
        )  # fmt: skip
    return fields[name]
