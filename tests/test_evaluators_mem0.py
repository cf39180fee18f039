"""The real mem0ai, local: no network but loopback, nothing of the future; skipped where it is not installed."""

import importlib.util
import json
import socket

import pytest
from evaluator_samples import evaluate, result_at, small_release
from release_samples import small_tables

# Looked for and not imported: it reads its settings, telemetry among them, when it is first imported.
pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("mem0") is None, reason="mem0ai is not installed: pip install 'anamnesis[mem0]'"
)


@pytest.fixture
def offline(monkeypatch):
    """Refuses and records every connection that leaves the machine."""
    tried, connect, look_up = [], socket.socket.connect, socket.getaddrinfo

    def guarded(self, address):
        if isinstance(address, tuple) and address[0] not in ("127.0.0.1", "::1"):
            tried.append(address)
            raise OSError(f"blocked {address}")
        return connect(self, address)

    def named(host, *rest, **more):
        if host not in ("127.0.0.1", "localhost", None):
            tried.append(host)
            raise socket.gaierror(f"blocked {host}")
        return look_up(host, *rest, **more)

    monkeypatch.setattr(socket.socket, "connect", guarded)
    monkeypatch.setattr(socket, "getaddrinfo", named)
    return tried


def test_mem0_retrieves_no_future_and_calls_nobody(tmp_path, offline, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    small_release(tmp_path)
    words = ["--setting", "mem0", "--model", "offline:nearest", "--quiet", "--out"]
    assert evaluate(tmp_path, "choice", *words, tmp_path / "r.json") == 0
    ages = {memory["id"]: memory["age"] for memory in small_tables()["memories"]}
    result = result_at(tmp_path / "r.json")
    assert result["run"]["k"] == 150 and result["run"]["manager"] == "offline"
    for item in result["items"]:
        assert {ages[one["id"]] for one in item["memories"]} == {8, 10}
    assert offline == []
    assert not (tmp_path / "home" / ".mem0").exists()
    assert evaluate(tmp_path, "choice", *words, tmp_path / "again.json") == 0
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "r.json").read_bytes()


def test_mem0_has_its_facts_from_the_model_that_manages(tmp_path, offline, rehearse):
    small_release(tmp_path)
    asked = []

    def compose(body):
        asked.append(body)
        fact = {"id": "0", "text": f"The person keeps fact {len(asked)}", "attributed_to": "user"}
        return json.dumps({"memory": [fact]})

    rehearse(compose=compose)
    words = ["--setting", "mem0", "--model", "offline:nearest", "--manager", "claude-haiku-4-5", "--quiet"]
    assert evaluate(tmp_path, "choice", *words, "--out", tmp_path / "r.json") == 0
    assert len(asked) == 8
    texts = [one["text"] for item in result_at(tmp_path / "r.json")["items"] for one in item["memories"]]
    assert texts and all(text.startswith("The person keeps fact") for text in texts)
    assert offline == []
