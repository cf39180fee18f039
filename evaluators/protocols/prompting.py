"""A question as a request to a model: what it may see, in which order the options stand, what to answer.

Only a pseudonym, the occupation and de-identified memories say who decides; the scenario is told
without its ratings and archetypes. Options stand in the released order rotated by ``order``, so that
the same question can be asked four times with every option in every place. HEART-BENCH 4.1, 4.2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluators.protocols.bench import Bench, Question
from models.prompts import Prompt, Rendered, load
from models.request import Request

PROMPTS = Path(__file__).parents[1] / "prompts"
MAX_TOKENS = 1024
TEMPERATURE = 0.0
SAMPLED = 1.0
"""Temperature where a question is asked several times over: at 0 the samples would be one."""


@dataclass(frozen=True)
class Excerpt:
    """Something remembered, as it stands in a prompt; ``score`` is the retriever's, None where it has none."""

    memory_id: str
    timeline: str
    text: str
    score: float | None = None


Excerpts = Sequence[Excerpt]


def prompt_of(track: str, setting: str) -> Prompt:
    """The prompt file of a track ("choice" or "open") under a setting."""
    return load(PROMPTS / f"{track}_{'vanilla' if setting == 'vanilla' else 'memories'}.md")


def choice_schema(labels: Sequence[str]) -> dict[str, Any]:
    """The JSON Schema of an answer to a question with these labels."""
    return {
        "type": "object",
        "additionalProperties": False,
        "required": ["reasoning", "choice"],
        "properties": {
            "reasoning": {"type": "string", "description": "Why, in a few sentences."},
            "choice": {"type": "string", "enum": list(labels), "description": "Letter of one option."},
        },
    }


@dataclass(frozen=True)
class How:
    """How questions are asked: the setting's name, orders of the options, samples of each, tokens of a reply."""

    setting: str
    orders: int = 1
    samples: int = 1
    max_tokens: int = MAX_TOKENS

    @property
    def temperature(self) -> float:
        """0 for a single sample."""
        return TEMPERATURE if self.samples == 1 else SAMPLED


def choice_request(
    bench: Bench, question: Question, how: How, excerpts: Excerpts, order: int = 0, sample: int = 0
) -> Request:
    """The request that asks a question, its options rotated by ``order`` places; ``sample`` numbers the draws."""
    prompt = prompt_of("choice", how.setting)
    labels, texts = shown(question, order)
    rendered = render(prompt, bench, question, excerpts, {"options": options_text(labels, texts)})
    return Request(
        id=f"evaluate/{bench.release.name}/{how.setting}/{question.id}/{order}" + (f"/{sample}" if sample else ""),
        role="subject",
        fixed=rendered.fixed,
        prompt=rendered.prompt,
        prompt_id=f"{prompt.id}@{prompt.version}",
        prompt_digest=prompt.digest,
        compose=lambda: {"choice": labels[0]},  # for estimates: what needs no model answers elsewhere (``baselines``)
        schema=choice_schema(question.labels),
        max_tokens=how.max_tokens,
        temperature=how.temperature,
        sample=sample,
    )


def render(prompt: Prompt, bench: Bench, question: Question, excerpts: Excerpts, more: Mapping[str, str]) -> Rendered:
    """A prompt about a question with what its file asks for put in: nothing else can reach the model."""
    known: dict[str, Callable[[], str]] = {
        "situation": lambda: situation(bench.scenarios[question.scenario_id]),
        "character_id": lambda: bench.pseudonyms[question.character_id],
        "occupation": lambda: bench.occupations[question.character_id],
        "memories": lambda: memories_text(excerpts),
    }
    return prompt.render(**{name: more[name] if name in more else known[name]() for name in prompt.variables})


def shown(question: Question, order: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Labels and texts as they stand in the prompt: place ``i`` shows option ``i + order``."""
    turn = order % len(question.labels)
    return question.labels, (*question.texts[turn:], *question.texts[:turn])


def original(question: Question, letter: str, order: int) -> str:
    """The released letter of the option that stood under ``letter``."""
    place = (question.labels.index(letter) + order) % len(question.labels)
    return question.labels[place]


def options_text(labels: Sequence[str], texts: Sequence[str]) -> str:
    """The options, one a paragraph."""
    return "\n\n".join(f"{label}. {text}" for label, text in zip(labels, texts, strict=True))


def memories_text(excerpts: Excerpts) -> str:
    """What is remembered, one a paragraph; says so where there is nothing."""
    if not excerpts:
        return "(Nothing is known from before this situation.)"
    return "\n\n".join(f"[{excerpt.memory_id}] [{excerpt.timeline}] {excerpt.text}" for excerpt in excerpts)


def situation(scenario: Mapping[str, Any]) -> str:
    """A scenario as it is told to a model: title, place, background, and what forces the decision."""
    setting, trigger = scenario["setting"], scenario["trigger_event"]
    lines = [
        str(scenario["name"]),
        f"Where and when: {setting['location']}; {setting['time']}; {setting['atmosphere']}",
        "",
        scenario["context_text"],
        "",
        f"{trigger['sender']}: {trigger['message_content']}",
    ]
    if trigger["action_required"]:
        lines += ["", f"To decide now: {trigger['action_required']}"]
    return "\n".join(lines)
