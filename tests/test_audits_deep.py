"""``--deep``: a model is asked over the wire, held to the text, asked again, and never taken for silent consent."""

import json
from pathlib import Path

import orjson
import pytest

from audits.command import main

SOUND = orjson.loads((Path(__file__).parent / "cases/sound_rows.json").read_bytes())["memories"]
WORDS = " ".join(SOUND["content_full"].split()[:6])
DIMENSIONS = ("sensory", "dialogue", "monologue", "somatic", "aftermath")


@pytest.fixture
def audit(tmp_path, capsys):
    """Runs the command on one sound row, changed as told: its exit code and its document."""

    def run(only=("perspective", "rubin"), **changed):
        path = tmp_path / "mine.jsonl"
        path.write_bytes(orjson.dumps({**SOUND, **changed}))
        asked = ["--benchmark", "heart", "--table", "memories", "--rows", str(path), "--only", *only]
        model = ["--deep", "--backend", "messages", "--journal", str(tmp_path / "journal.sqlite"), "--processes", "1"]
        code = main([*asked, *model, "--json"])
        return code, json.loads(capsys.readouterr().out)

    return run


def says(defects=(), lacking=()):
    """A model that finds these defects, and these dimensions lacking."""

    def compose(body):
        if "sensory" in json.dumps(body.get("output_config", {})):
            return json.dumps({name: {"present": name not in lacking, "words": ""} for name in DIMENSIONS})
        return json.dumps({"defects": list(defects)})

    return compose


def future(words):
    return {"criterion": "future", "words": words, "reason": "it tells what came of it"}


def test_what_a_model_finds_points_at_the_words_and_names_the_model(rehearse, audit):
    rehearse(compose=says(defects=[future(WORDS)], lacking=["somatic"]))
    code, reported = audit()
    by_code = {finding["code"]: finding for finding in reported["findings"]}
    assert code == 1
    assert (by_code["perspective.future"]["span"], by_code["perspective.future"]["text"]) == ([0, len(WORDS)], WORDS)
    assert "judged by claude" in by_code["rubin.somatic"]["message"]


def test_a_model_is_asked_whose_name_it_is(rehearse, audit):
    defect = {"criterion": "named", "words": WORDS, "reason": "the narrator answers to it"}
    rehearse(compose=says(defects=[defect]))
    code, reported = audit(only=["identity"])
    assert (code, [(finding["code"], finding["severity"]) for finding in reported["findings"]]) == (
        1,
        [("identity.named", "warning")],
    )


def test_a_claim_whose_words_are_not_in_the_text_is_dropped_and_counted(rehearse, audit):
    rehearse(compose=says(defects=[future("words that nobody wrote")]))
    code, reported = audit()
    assert (code, reported["findings"]) == (0, [])
    assert "1 claims dropped: words not in the text" in reported["skipped"][-1]


def test_a_reply_that_cannot_be_read_is_asked_for_again_with_the_reason(rehearse, audit):
    heard, good = [], says()

    def compose(body):
        prompt = body["messages"][-1]["content"]
        heard.append(json.dumps(prompt))
        return "I would rather not say." if len(heard) == 1 else good(body)

    rehearse(compose=compose)
    code, reported = audit()
    assert (code, reported["findings"], reported["skipped"][1:]) == (0, [], [])
    assert len(heard) == 3


def test_a_memory_without_a_usable_reply_is_no_clean_one(rehearse, audit):
    api = rehearse(compose=lambda body: "I would rather not say.")
    code, reported = audit()
    assert (code, api.stats()["answered"]) == (3, 6)  # each question three times, then with the reason
    assert [line.split(":")[1].split()[-1] for line in reported["skipped"] if line.startswith("deep")] == [
        "perspective",
        "rubin",
    ]


def test_what_was_answered_once_is_never_asked_again(rehearse, audit):
    api = rehearse(compose=says(lacking=["somatic"]))
    first = audit()
    asked = api.stats()["answered"]
    assert audit() == first
    assert api.stats()["answered"] == asked


def test_a_memory_without_an_age_is_said_to_be_unasked(rehearse, audit):
    rehearse(compose=says())
    _, reported = audit(age=None, timeline="")
    assert any(line.endswith("perspective: no age") for line in reported["skipped"])
