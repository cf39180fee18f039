"""`run` and `judge` in several processes: the same bytes as in one, and nothing is asked by two of them."""

import pickle

import pytest

from evaluators.__main__ import main
from models.journal import read_only

MODEL = "claude-haiku-4-5"
TALKS = ["run", "--release", "personalens@1.0.0", "--model", MODEL, "--user", MODEL, "--limit", "6", "--max-turns", "2"]


def test_dialogues_and_judgements_have_the_same_bytes_in_any_number_of_processes(rehearse, tmp_path):
    api = rehearse()

    def files(name, processes):
        folder = tmp_path / name / "evaluations/personalens@1.0.0"
        common = ["--workspace", folder.parents[1], "--journal", tmp_path / "one.sqlite", "--concurrency", 4]
        common += ["--processes", processes, "--quiet"]
        assert main([*TALKS, *map(str, common)]) == 0
        (said,) = folder.glob("said.*.json")
        assert main(["judge", str(said), "--judge", MODEL, *map(str, common)]) in (0, 1)
        return {path.name: path.read_bytes() for path in folder.iterdir()}

    two = files("two", 2)
    asked = api.stats()["answered"]
    assert files("one", 1) == two and len(two) == 5
    assert api.stats()["answered"] == asked and api.stats()["answered_twice"] == 0
    with read_only(tmp_path / "one.sqlite") as read:
        assert [tuple(row) for row in read("SELECT count(*), sum(doubts), max(sent) FROM requests")] == [(asked, 0, 1)]


HEART = ["--release", "heart@2.0.0", "--setting", "vanilla", "--limit", "2"]


@pytest.mark.parametrize(
    "words",
    [
        ["run", "--release", "likebench@1.0.0", "--user", MODEL, "--memory", "dup", "--limit", "2"],
        ["run", "--release", "persturn@1.0.1", "--limit", "2"],
        ["run", "--protocol", "questionnaire", *HEART],
        ["run", "--protocol", "open", *HEART],
    ],
)
def test_the_chains_of_every_protocol_can_be_sent_to_another_process(words, tmp_path, monkeypatch):
    sent = []

    def send(starts, *_, **__):
        sent.extend(pickle.loads(pickle.dumps(list(starts))))
        raise KeyboardInterrupt

    monkeypatch.setattr("evaluators.running.run", send)
    assert main([*words, "--model", MODEL, "--workspace", str(tmp_path), "--quiet"]) == 130
    assert next(sent[0]()) is not None
