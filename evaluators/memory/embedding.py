"""Texts as vectors: the seam behind retrieval.

    tfidf                  built in: words weighed by how rare they are, no download, no network (the default)
    st:NAME_OR_PATH        a sentence-transformers model on this machine (install sentence-transformers yourself)
    openai:NAME            an OpenAI-compatible /embeddings endpoint at OPENAI_BASE_URL, key in OPENAI_API_KEY

The last two keep every vector in a cache beside the results, under the digest of the model's name and
the text, so that nothing is embedded (or paid) twice, whatever the release. Rows are of length 1, so a
product of two is their cosine. HEART-BENCH 4.1 embeds with one model in all settings.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from schemas.errors import MachineError, RequestError, unknown

Vectors = npt.NDArray[np.float32]

_BATCH = 64  # texts in one request to an endpoint
_TRIES = 4
_SECONDS = 120.0
_HASHED = 1024


class Embedder(Protocol):
    """What retrieval needs: a name that goes into results, and vectors as rows, sparse or dense."""

    name: str

    def fit(self, texts: Sequence[str]) -> Any:
        """Learn what there is to learn from a release's memories, and return their vectors."""

    def vectors(self, texts: Sequence[str]) -> Any:
        """The vectors of other texts."""


def embedder(spec: str, cache: Path) -> Embedder:
    """The embedder that ``--embedder`` names. Raises RequestError for an unknown one or a missing package."""
    kind, _, name = spec.partition(":")
    if spec == "tfidf":
        return Tfidf()
    if kind == "st" and name:
        return Cached(spec, _sentence_transformer(name), cache)
    if kind == "openai" and name:
        return Cached(spec, _endpoint(name), cache)
    raise unknown("embedder", spec, ("tfidf", "st:NAME", "openai:NAME"), "--embedder")


class Tfidf:
    """TF-IDF over words, with weights learnt from all memories of the release."""

    def __init__(self) -> None:
        self.name = "tfidf"
        self._learnt: _Learnt | None = None

    def fit(self, texts: Sequence[str]) -> Any:
        """The vectors of the memories, as a sparse matrix."""
        self._learnt = _learn(tuple(texts) or ("nothing",))
        return self._learnt.rows

    def vectors(self, texts: Sequence[str]) -> Any:
        """Sparse vectors over the words of the memories."""
        assert self._learnt is not None, "vectors before fit"
        places = [self._learnt.places.get(text) for text in texts]
        return self._learnt.vectorizer.transform(texts) if None in places else self._learnt.rows[places]


@dataclass(frozen=True)
class _Learnt:
    """What there is to know of texts: how words weigh, the texts' vectors, and which is whose."""

    vectorizer: Any
    rows: Any
    places: Mapping[str, int]


@functools.lru_cache(maxsize=1)
def _learn(texts: tuple[str, ...]) -> _Learnt:
    """Kept for the last texts: retrieval and baselines of one release learn from the same ones."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(sublinear_tf=True, dtype=np.float32, stop_words="english")
    rows = vectorizer.fit_transform(texts)
    return _Learnt(vectorizer, rows, {text: place for place, text in enumerate(texts)})


class Hashed:
    """Words hashed into 1,024 places: dense and of one size, for stores that can hold nothing else."""

    name = f"hashed{_HASHED}"
    size = _HASHED

    def fit(self, texts: Sequence[str]) -> Any:
        """There is nothing to learn."""
        return self.vectors(texts)

    def vectors(self, texts: Sequence[str]) -> Any:
        """Dense vectors."""
        from sklearn.feature_extraction.text import HashingVectorizer

        made = HashingVectorizer(n_features=_HASHED, stop_words="english", dtype=np.float32).transform(texts)
        return made.toarray()


class Cached:
    """A dense embedder whose vectors are kept in one SQLite file, by content."""

    def __init__(self, name: str, embed: Callable[[Sequence[str]], Sequence[Sequence[float]]], cache: Path) -> None:
        self.name = name
        self._embed, self._path = embed, cache

    def fit(self, texts: Sequence[str]) -> Any:
        """The vectors of the memories."""
        return self.vectors(texts)

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """Dense vectors, from the cache where it has them; what is new is kept batch by batch."""
        keys = [hashlib.sha256(f"{self.name}\x1f{text}".encode()).digest() for text in texts]
        with self._opened() as store:
            found = {key: row for key in dict.fromkeys(keys) if (row := _kept(store, key)) is not None}
            fresh = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
            waiting = list(fresh.items())
            for start in range(0, len(waiting), _BATCH):
                batch = waiting[start : start + _BATCH]
                rows = _unit(self._embed([text for _, text in batch]), len(batch), self.name)
                with store:
                    store.executemany(
                        "INSERT OR IGNORE INTO vectors VALUES (?, ?)",
                        [(key, row.tobytes()) for (key, _), row in zip(batch, rows, strict=True)],
                    )
                found.update({key: row for (key, _), row in zip(batch, rows, strict=True)})
        sizes = {row.size for row in found.values()}
        if len(sizes) > 1:
            raise RequestError(
                f"vectors of different sizes from {self.name}", self._path, fix="Remove that file and run again"
            )
        return np.stack([found[key] for key in keys]) if keys else np.zeros((0, 1), np.float32)

    @contextlib.contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with contextlib.closing(sqlite3.connect(self._path, timeout=60)) as store:
                store.execute("PRAGMA journal_mode = WAL")
                store.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, row BLOB) WITHOUT ROWID")
                yield store
        except sqlite3.DatabaseError as error:
            raise MachineError(
                f"embedding cache cannot be used ({error})", self._path, fix="Remove that file and run again"
            ) from None


def _kept(store: sqlite3.Connection, key: bytes) -> Vectors | None:
    row = store.execute("SELECT row FROM vectors WHERE key = ?", (key,)).fetchone()
    return np.frombuffer(row[0], np.float32) if row else None


def _unit(rows: Sequence[Sequence[float]], count: int, name: str) -> Vectors:
    """Rows of length 1. Raises MachineError when they are not what was asked for."""
    try:
        made = np.array(rows, np.float32)
    except (TypeError, ValueError):
        made = np.zeros(0, np.float32)
    if made.ndim != 2 or made.shape[0] != count or not np.isfinite(made).all():
        raise MachineError(f"unusable vectors from {name}", expected=f"{count} rows of numbers of one length")
    lengths = np.linalg.norm(made, axis=1, keepdims=True)
    return np.asarray(made / np.where(lengths == 0, 1, lengths), np.float32)


def _sentence_transformer(name: str) -> Callable[[Sequence[str]], Sequence[Sequence[float]]]:
    try:
        from sentence_transformers import SentenceTransformer  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        raise RequestError(
            f"no sentence-transformers for --embedder st:{name}", fix="Run: pip install sentence-transformers"
        ) from None
    try:
        model = SentenceTransformer(name)
    except (OSError, ValueError) as error:
        raise RequestError(f"unknown sentence-transformers model {name!r}", expected=str(error)) from None
    return lambda texts: model.encode(list(texts), show_progress_bar=False)  # type: ignore[no-any-return,unused-ignore]


def _endpoint(name: str) -> Callable[[Sequence[str]], Sequence[Sequence[float]]]:
    address = os.environ.get("OPENAI_BASE_URL", "").rstrip("/")
    if not address:
        raise RequestError("no OPENAI_BASE_URL", fix=f"Export the address whose /embeddings serves {name}")

    def embed(texts: Sequence[str]) -> Sequence[Sequence[float]]:
        data = _posted(f"{address}/embeddings", {"model": name, "input": list(texts)})
        try:
            return [item["embedding"] for item in sorted(data["data"], key=lambda item: item["index"])]
        except (KeyError, TypeError):
            raise MachineError("unusable reply", f"{address}/embeddings", expected="data with embeddings") from None

    return embed


def _posted(url: str, body: dict[str, Any]) -> Any:
    """The JSON that answers a POST; busy and broken servers are tried again. Raises RequestError, MachineError."""
    import httpx2
    from tenacity import RetryError, Retrying, retry_if_exception_type, stop_after_attempt, wait_random_exponential

    key = os.environ.get("OPENAI_API_KEY")
    headers = {"authorization": f"Bearer {key}"} if key else {}
    attempts = Retrying(
        stop=stop_after_attempt(_TRIES),
        wait=wait_random_exponential(multiplier=0.2, max=20),
        retry=retry_if_exception_type((httpx2.TransportError, _BusyError)),
    )
    try:
        for attempt in attempts:
            with attempt:
                reply = httpx2.post(url, json=body, headers=headers, timeout=_SECONDS)
                if reply.status_code in (408, 409, 429) or reply.status_code >= 500:
                    raise _BusyError(f"HTTP {reply.status_code}")
                if reply.status_code != 200:
                    raise RequestError(
                        f"refused with HTTP {reply.status_code}", url, expected=" ".join(reply.text.split())[:200]
                    )
                return reply.json()
    except RetryError as error:
        raise MachineError(
            f"no embeddings ({error.last_attempt.exception()})",
            url,
            fix="Finished embeddings are stored: run the same command again",
        ) from None
    except ValueError as error:
        raise MachineError("no JSON", url, expected=str(error)) from None
    raise AssertionError("unreachable")


class _BusyError(Exception):
    """The server is busy or broken for the moment."""
