"""The multiple-choice track as an Inspect task: the same prompts, the same reading of replies, the same score.

    pip install 'anamnesis[inspect]'
    inspect eval evaluators/inspect_tasks.py@heart_choice --model anthropic/claude-sonnet-4-6 \
        -T release=heart@2.0.0 -T setting=naive_rag

Inspect works in this file's folder: relative paths, and those that are left out, are taken from the folder above
``evaluators``, wherever the command is given. Accuracy counts what could not be read as wrong, as
``python -m evaluators choice`` does. Grouped accuracies are by character and by stage.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from inspect_ai import Task, task  # type: ignore[import-not-found,unused-ignore]
from inspect_ai.dataset import MemoryDataset, Sample  # type: ignore[import-not-found,unused-ignore]
from inspect_ai.model import (  # type: ignore[import-not-found,unused-ignore]
    ChatMessageSystem,
    ChatMessageUser,
    GenerateConfig,
)
from inspect_ai.scorer import (  # type: ignore[import-not-found,unused-ignore]
    CORRECT,
    INCORRECT,
    Score,
    accuracy,
    grouped,
    scorer,
    stderr,
)
from inspect_ai.solver import generate  # type: ignore[import-not-found,unused-ignore]

from evaluators.memory.settings import Setting, retrieve
from evaluators.protocols.bench import Bench, Question, read_bench, read_keys
from evaluators.protocols.prompting import MAX_TOKENS, TEMPERATURE, Excerpts, How, choice_request
from evaluators.scoring.parsing import read_choice
from releases import open_release
from schemas.release_names import FROZEN

_ROOT = Path(__file__).resolve().parents[1]


@task  # type: ignore[untyped-decorator,unused-ignore]
def heart_choice(
    release: str = "heart@2.0.0",
    setting: str = "vanilla",
    k: int | None = None,
    embedder: str = "tfidf",
    frozen: str = str(FROZEN),
    workspace: str = "build",
    limit: int | None = None,
) -> Any:
    """Which option did the character choose? ``release`` by name or path, verified before use."""
    bench = read_bench(open_release(_release(release), _ROOT / frozen), limit)
    keys = read_keys(bench.release)
    retrieved = retrieve(bench, Setting(setting, k, embedder), _ROOT / workspace / "evaluations", None)
    samples = [_sample(bench, each, setting, retrieved[each.id], keys[each.id]) for each in bench.questions]
    return Task(
        dataset=MemoryDataset(samples, name=f"{bench.release.name} {setting}"),
        solver=generate(),
        scorer=chosen_option(),
        config=GenerateConfig(temperature=TEMPERATURE, max_tokens=MAX_TOKENS),
        metadata={"content_digest": bench.release.content_digest, "setting": setting},
        version=1,
    )


def _release(release: str) -> str:
    """A release's name, or the whole path of its folder."""
    return release if "@" in release else str(_ROOT / release)


def _sample(bench: Bench, question: Question, setting: str, excerpts: Excerpts, key: str) -> Any:
    request = choice_request(bench, question, How(setting), excerpts)
    return Sample(
        id=question.id,
        input=[ChatMessageSystem(content="\n\n".join(request.fixed)), ChatMessageUser(content=request.prompt)],
        target=key,
        metadata={
            "character_id": question.character_id,
            "stage": question.stage,
            "labels": list(question.labels),
            "texts": list(question.texts),
        },
    )


@scorer(  # type: ignore[untyped-decorator,unused-ignore]
    metrics=[accuracy(), stderr(), grouped(accuracy(), "character_id"), grouped(accuracy(), "stage")]
)
def chosen_option() -> Any:
    """Scores as ``evaluators.scoring.parsing`` reads."""

    async def score(state: Any, target: Any) -> Any:
        text = state.output.completion
        read = read_choice(text, state.metadata["labels"], state.metadata["texts"])
        return Score(
            value=CORRECT if read.letter == target.text else INCORRECT,
            answer=read.letter,
            explanation=text,
            metadata={"state": "scored" if read.letter else "unscored", "reason": read.reason},
        )

    return score
