"""The Inspect task asks the same and scores the same as our own command; skipped where inspect-ai is not installed."""

import json

import pytest
from evaluator_samples import SPEC, evaluate, result_at, wide_tables
from release_samples import frozen_once

inspect_ai = pytest.importorskip("inspect_ai", reason="inspect-ai is not installed: pip install 'anamnesis[inspect]'")


def replies(prompt: str) -> str:
    """A model with moods: JSON, prose, an article, another letter, decided by what it is asked."""
    mood = sum(map(ord, prompt)) % 5
    letter = "ABCD"[sum(map(ord, prompt)) // 5 % 4]
    return (
        json.dumps({"reasoning": "So it seems.", "choice": letter}),
        f"Answer: {letter}",
        "A person like this stays.",
        f"```json\n{json.dumps({'reasoning': 'x', 'choice': letter})}\n```",
        "Answer: A. Answer: B.",
    )[mood]


@pytest.mark.parametrize("setting", ["vanilla", "naive_rag"])
def test_the_same_answers_get_the_same_score(tmp_path, rehearse, monkeypatch, setting):
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    from evaluators.inspect_tasks import heart_choice

    monkeypatch.setenv("INSPECT_DISPLAY", "none")
    frozen_once(tmp_path, SPEC, wide_tables())

    def text_of(body):
        content = body["messages"][-1]["content"]
        return content if isinstance(content, str) else content[0]["text"]

    rehearse(compose=lambda body: replies(text_of(body)))
    out = tmp_path / "result.json"
    words = ["--setting", setting, "--model", "claude-haiku-4-5", "--quiet", "--out", out]
    assert evaluate(tmp_path, "choice", *words) in (0, 1)
    ours = {item["question_id"]: item for item in result_at(out)["items"]}

    def output(messages, tools, tool_choice, config):
        made = ModelOutput.from_content("mockllm/model", replies(messages[-1].text))
        made.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return made

    task = heart_choice(release=SPEC, setting=setting, frozen=str(tmp_path / "frozen"), workspace=str(tmp_path / "w"))
    (log,) = inspect_ai.eval(
        task, model=get_model("mockllm/model", custom_outputs=output), log_dir=str(tmp_path / "logs"), display="none"
    )
    assert log.status == "success" and len(log.samples) == len(ours)
    for sample in log.samples:
        (score,) = sample.scores.values()
        assert score.answer == ours[sample.id]["choice"]
        assert (score.value == "C") == ours[sample.id]["correct"]
    accuracy = {score.name: score.metrics for score in log.results.scores}["chosen_option"]["accuracy"].value
    assert accuracy == pytest.approx(result_at(out)["figures"]["overall"]["rate"])
