"""What is retrieved: by age, by similarity, by fields; and where vectors come from."""

import contextlib
import http.server
import json
import threading

import numpy as np
import pytest
from evaluator_samples import evaluate, small_release, wide_tables
from release_samples import frozen_once, small_tables

from evaluators.memory import persona_db
from evaluators.memory.embedding import Cached, Tfidf, embedder
from evaluators.memory.retrieval import nearest, query, top
from evaluators.memory.settings import Setting, retrieve
from evaluators.protocols.bench import Memory, read_bench
from schemas.errors import MachineError, RequestError


@contextlib.contextmanager
def endpoint(answers):
    """An /embeddings endpoint on loopback; ``answers`` maps the count of a request to (status, body or None)."""
    seen = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            seen.append((self.headers.get("authorization"), body))
            status, data = answers(len(seen), body["input"])
            text = json.dumps(data).encode()
            self.send_response(status)
            self.send_header("content-length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", seen
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def lengths(texts):
    """Vectors that any embedder might return, out of order."""
    return {"data": [{"index": i, "embedding": [len(t), 1.0 + t.count("e")]} for i, t in enumerate(texts)][::-1]}


@pytest.fixture
def bench(tmp_path):
    return read_bench(small_release(tmp_path))


def test_an_endpoint_is_asked_once_for_each_text(tmp_path, bench, monkeypatch):
    with endpoint(lambda count, texts: (200, lengths(texts))) as (address, seen):
        monkeypatch.setenv("OPENAI_BASE_URL", address)
        monkeypatch.setenv("OPENAI_API_KEY", "key-of-the-tests")
        first = nearest(bench, embedder("openai:some-model", tmp_path / "cache.sqlite"), 2)
        asked = len(seen)
        assert asked and all(one[0] == "Bearer key-of-the-tests" for one in seen)
        texts = [text for _, body in seen for text in body["input"]]
        assert len(texts) == len(set(texts))
        again = nearest(bench, embedder("openai:some-model", tmp_path / "cache.sqlite"), 2)
        assert len(seen) == asked and first == again
    assert b"key-of-the-tests" not in (tmp_path / "cache.sqlite").read_bytes()


def test_a_busy_endpoint_is_asked_again_and_what_came_is_stored(tmp_path, monkeypatch):
    texts = [f"text {number}" for number in range(100)]

    def answers(count, given):
        return (503, {}) if count in (1, 3) else (200, lengths(given))

    with endpoint(answers) as (address, seen):
        monkeypatch.setenv("OPENAI_BASE_URL", address)
        vectors = embedder("openai:m", tmp_path / "cache.sqlite").vectors(texts)
        assert vectors.shape == (100, 2) and len(seen) == 4
        assert np.allclose(np.linalg.norm(vectors, axis=1), 1)


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ((400, {"error": "no such model"}), RequestError),
        ((200, {"data": [{"index": 0, "embedding": [1.0]}]}), MachineError),
        ((200, {"rows": []}), MachineError),
        ((200, {"data": [{"index": 0, "embedding": ["x"]}, {"index": 1, "embedding": ["y"]}]}), MachineError),
    ],
)
def test_an_endpoint_that_refuses_or_answers_nonsense_is_an_error(tmp_path, monkeypatch, answer, error):
    with endpoint(lambda count, texts: answer) as (address, _):
        monkeypatch.setenv("OPENAI_BASE_URL", address)
        with pytest.raises(error):
            embedder("openai:m", tmp_path / "cache.sqlite").vectors(["one", "two"])


def test_a_missing_package_or_address_is_reported(tmp_path, monkeypatch):
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(RequestError, match="OPENAI_BASE_URL"):
        embedder("openai:m", tmp_path / "c.sqlite")
    with pytest.raises(RequestError, match="sentence-transformers"):
        embedder("st:model", tmp_path / "c.sqlite")


def test_the_cache_tells_models_apart(tmp_path):
    path = tmp_path / "cache.sqlite"
    Cached("one", lambda texts: [[1.0, 0.0] for _ in texts], path).vectors(["a"])
    other = Cached("two", lambda texts: [[0.0, 1.0] for _ in texts], path).vectors(["a", "a"])
    assert other.tolist() == [[0, 1], [0, 1]]


def test_tfidf_finds_the_memory_that_speaks_of_the_situation(tmp_path):
    tables = small_tables()
    scenario = tables["scenarios"][0]
    for memory in tables["memories"]:
        if memory["age"] == 10:
            memory["content_full"] = query(scenario)
    bench = read_bench(frozen_once(tmp_path, "heart@0.1.0", tables))
    found = nearest(bench, embedder("tfidf", tmp_path / "c.sqlite"), 1)
    assert {own[0].memory_id[-1] for own in found.values()} == {"2"}


def test_equal_scores_go_by_id():
    assert top(np.array([0.5, 0.9, 0.5, 0.9]), ["d", "c", "b", "a"], 3) == [3, 1, 2]


@pytest.mark.parametrize("name", ["recent", "naive_rag", "persona_db"])
def test_no_setting_knows_the_future(tmp_path, name):
    bench = read_bench(frozen_once(tmp_path, "heart@0.1.0", wide_tables(2)))
    ages = {memory.id: memory.age for own in bench.memories.values() for memory in own}
    found = retrieve(bench, Setting(name), tmp_path / "cache", None)
    for question in bench.questions:
        assert found[question.id]
        assert all(ages[one.memory_id] <= question.age for one in found[question.id])


def memory(text):
    return Memory("MEM_01_0001", 9, "School age (9)", "x", "y", text)


def test_statements_are_sentences_of_the_narrative_under_a_field():
    narrative = (
        "The bell rang twice. I always make a list before I plan the work. The chalk was wet and white. "
        "I never trusted the loud friends of my sister. He left."
    )
    said = persona_db.extracted(memory(narrative))
    assert {one.field for one in said} <= set(persona_db.fields())
    assert [one.text for one in said] == [
        "I always make a list before I plan the work.",
        "I never trusted the loud friends of my sister.",
    ]
    assert said[0].field == "work" and said[1].field == "people"


def test_a_situation_draws_statements_of_its_fields(tmp_path):
    bench = read_bench(small_release(tmp_path))
    asked = query(next(iter(bench.scenarios.values())))
    field = max(persona_db.field_weights(asked), key=persona_db.field_weights(asked).__getitem__)
    other = next(name for name in persona_db.fields() if not persona_db.field_weights(asked).get(name))
    own = next(iter(bench.memories.values()))
    text = "Tends to wait."
    statements = {own[0].id: [persona_db.Statement(other, text)], own[1].id: [persona_db.Statement(field, text)]}
    found = persona_db.retrieved(bench, embedder("tfidf", tmp_path / "c"), statements, 2)
    who = own[0].id.split("_")[1]
    mine = next(found[q.id] for q in bench.questions if q.character_id.endswith(who))
    assert len({one.memory_id for one in mine}) == len(mine) == 2


def test_a_model_can_write_the_statements_and_is_not_asked_twice(tmp_path, rehearse):
    small_release(tmp_path)
    asked = []

    def compose(body):
        text = json.dumps(body["messages"])
        if "Which decision" in text:
            return json.dumps({"reasoning": "x", "choice": "A"})
        asked.append(text)
        ids = [f"MEM_{who:02d}_{n:04d}" for who in range(1, 5) for n in range(1, 4)]
        mine = [name for name in ids if f"[{name}]" in text]
        said = [{"field": "values", "text": f"Tends to keep {name}."} for name in mine]
        return json.dumps({"memories": [{"id": m, "statements": [s]} for m, s in zip(mine, said, strict=True)]})

    rehearse(compose=compose)
    words = ["--setting", "persona_db", "--model", "claude-haiku-4-5", "--manager", "claude-haiku-4-5", "--quiet"]
    assert evaluate(tmp_path, "choice", *words, "--out", tmp_path / "r.json") == 0
    once = len(asked)
    assert once == 2
    assert evaluate(tmp_path, "choice", *words, "--out", tmp_path / "r.json") == 0
    assert len(asked) == once


def test_the_vector_of_a_memory_is_the_same_looked_up_or_made_again():
    texts = ["A boat left the harbour.", "The harbour was empty.", "Nobody answered the telephone."]
    embed = Tfidf()
    rows = embed.fit(texts)
    assert (embed.vectors(texts) != rows).nnz == 0
    made = embed.vectors([*texts, "a new text about a boat"])  # one is new, so all are made again
    assert (made[:3] != rows).nnz == 0 and made[3].nnz == 1
