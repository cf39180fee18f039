"""The setting ``mem0``: the real ``mem0ai`` package, local, without telemetry.

One store a character. Memories are added in order of age, and a question is asked when exactly the
memories up to its scenario's age have been added, so that neither retrieval nor what the package makes
of earlier memories can know the future (the published runner keeps a snapshot for each age; this is the
same in one pass). With ``--manager NAME`` the package has that model behind the Messages API extract
facts; without, narratives are stored as they are and the result says so. k is 150 (HEART-BENCH 4.1).

What was retrieved for a character is kept beside the results as soon as it is complete: an interrupted
run goes on with the next character.

    pip install 'anamnesis[mem0]'
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson

from evaluators.memory.embedding import Embedder, Hashed
from evaluators.memory.retrieval import query
from evaluators.protocols.bench import Bench, Memory, Question
from evaluators.protocols.prompting import Excerpt
from schemas.command import say
from schemas.errors import MachineError, RequestError
from schemas.rows import write_whole

_PROVIDER = "fastembed"  # the package knows a fixed list of embedders; ours takes this one's place
_LARGEST_FACTS = 4096  # tokens of one extraction


@dataclass(frozen=True)
class Mem0:
    """How the package is used: what manages memories ("offline" or a model), what embeds, where results are kept."""

    manager: str
    embedder: Embedder
    folder: Path
    k: int
    quiet: bool = False

    @property
    def identity(self) -> str:
        """What, with the release, determines what is retrieved."""
        return f"{_version()}\x1f{self.manager}\x1f{self.embedder.name}\x1f{self.k}"


def dense(embedder: Embedder) -> Embedder:
    """An embedder whose vectors the package's store can hold: TF-IDF's are sparse, so words are hashed instead."""
    return Hashed() if embedder.name == "tfidf" else embedder


def retrieved(bench: Bench, how: Mem0) -> dict[str, list[Excerpt]]:
    """Question -> what the package retrieves for it, best first. Raises RequestError where it is not installed."""
    found: dict[str, list[Excerpt]] = {}
    for name in sorted({question.character_id for question in bench.questions}):
        questions = [question for question in bench.questions if question.character_id == name]
        path = how.folder / f"{_digest(bench, how, name, questions)}.json"
        if path.is_file():
            kept = orjson.loads(path.read_bytes())
        else:
            say(f"mem0: {name}, {len(bench.memories.get(name, ())):,} memories", quiet=how.quiet)
            kept = {key: [asdict(one) for one in own] for key, own in _character(bench, how, questions).items()}
            write_whole(path, [orjson.dumps(kept)])
        found.update({key: [Excerpt(**one) for one in own] for key, own in kept.items()})
    return {question.id: found[question.id] for question in bench.questions}


def _digest(bench: Bench, how: Mem0, name: str, questions: Sequence[Question]) -> str:
    parts = [bench.release.content_digest, how.identity, name, *(question.id for question in questions)]
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:24]


def _character(bench: Bench, how: Mem0, questions: Sequence[Question]) -> dict[str, list[Excerpt]]:
    waiting = list(bench.memories.get(questions[0].character_id, ()))
    by_id = {memory.id: memory for memory in waiting}
    found = {}
    with _store(how) as store:
        for question in sorted(questions, key=lambda question: (question.age, question.id)):
            while waiting and waiting[0].age <= question.age:
                _add(store, waiting.pop(0), how)
            asked = labelled_query(bench.scenarios[question.scenario_id])
            hits = store.search(asked, filters={"user_id": "person"}, top_k=how.k, threshold=0.0)["results"]
            found[question.id] = [_excerpt(hit, by_id) for hit in hits]
    return found


def labelled_query(scenario: Mapping[str, Any]) -> str:
    """What the package is asked for, as labelled lines, the parts those of the published runner."""
    setting, trigger = scenario["setting"], scenario["trigger_event"]
    lines = {
        "Name": scenario["name"],
        "Category": scenario["category"],
        "Intensity": scenario["intensity"],
        "Setting": f"{setting['location']}, {setting['time']}, {setting['atmosphere']}",
        "Situation": query(dict(scenario)),
        "From": trigger["sender"],
    }
    return "\n".join(f"{label}: {text}" for label, text in lines.items())


def _add(store: Any, memory: Memory, how: Mem0) -> None:
    metadata = {"memory_id": memory.id}
    messages = [{"role": "user", "content": memory.text}]
    try:
        store.add(messages, user_id="person", metadata=metadata, infer=how.manager != "offline")
    except Exception as error:  # noqa: BLE001  # the package raises whatever its parts raise
        raise MachineError(
            f"mem0 could not add a memory ({type(error).__name__}: {error})",
            row=memory.id,
            fix="Finished characters are stored: run the same command again",
        ) from None


def _excerpt(hit: Mapping[str, Any], by_id: Mapping[str, Memory]) -> Excerpt:
    memory = by_id[hit["metadata"]["memory_id"]]
    return Excerpt(memory.id, memory.timeline, str(hit["memory"]), float(hit["score"]))


@contextlib.contextmanager
def _store(how: Mem0) -> Iterator[Any]:
    """A store that goes when it is closed; nothing is written in the user's home folder."""
    with tempfile.TemporaryDirectory(prefix="anamnesis-mem0-") as folder:
        store = _package(how.folder / "home").from_config(_config(how, Path(folder)))
        store.embedding_model = _adapter(how.embedder)
        try:
            yield store
        finally:
            with contextlib.suppress(AttributeError):
                store.vector_store.client.close()


def _package(home: Path) -> Any:
    # Read when the package is imported: without them it reports to its makers and writes to the home folder.
    os.environ["MEM0_TELEMETRY"] = "False"
    os.environ["MEM0_DIR"] = str(home)
    try:
        from mem0 import Memory as Package  # type: ignore[import-not-found,unused-ignore]
        from mem0.memory import telemetry  # type: ignore[import-not-found,unused-ignore]
        from mem0.utils.factory import EmbedderFactory  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        raise RequestError("mem0 is not installed", fix="Run: pip install 'anamnesis[mem0]'") from None
    if telemetry.MEM0_TELEMETRY:
        raise RequestError("mem0 was imported with its telemetry on", fix="Import evaluators before it")
    EmbedderFactory.provider_to_class[_PROVIDER] = "evaluators.memory.mem0.NoEmbedder"
    return Package


class NoEmbedder:
    """Stands in for the package's own embedder until ours is put in its place."""

    def __init__(self, config: Any = None) -> None:
        self.config = config


class _adapter(NoEmbedder):  # noqa: N801
    """Ours, as the package calls it."""

    def __init__(self, embedder: Embedder) -> None:
        super().__init__()
        self._embedder = embedder

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        """One text as a list of numbers."""
        return [float(value) for value in self._embedder.vectors([text])[0]]

    def embed_batch(self, texts: Sequence[str], memory_action: str | None = None) -> list[list[float]]:
        """Several texts."""
        return [[float(value) for value in row] for row in self._embedder.vectors(list(texts))]


def _config(how: Mem0, folder: Path) -> dict[str, Any]:
    size = len(how.embedder.vectors(["size"])[0])
    model = {"model": how.manager, "max_tokens": _LARGEST_FACTS, "enable_sampling_parameters": False}
    server = {"anthropic_base_url": os.environ["ANTHROPIC_BASE_URL"]} if "ANTHROPIC_BASE_URL" in os.environ else {}
    key = os.environ.get("ANTHROPIC_API_KEY") or "none"
    return {
        "llm": {"provider": "anthropic", "config": {**model, **server, "api_key": key}},
        "embedder": {"provider": _PROVIDER, "config": {"embedding_dims": size}},
        "vector_store": {
            "provider": "qdrant",
            "config": {
                "collection_name": "memories",
                "embedding_model_dims": size,
                "path": str(folder / "store"),
                "on_disk": False,
            },
        },
        "history_db_path": str(folder / "history.db"),
    }


def _version() -> str:
    import importlib.metadata

    try:
        return importlib.metadata.version("mem0ai")
    except importlib.metadata.PackageNotFoundError:
        raise RequestError("mem0 is not installed", fix="Run: pip install 'anamnesis[mem0]'") from None
