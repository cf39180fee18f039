"""Answers that need no model: the floor that any claim must clear. Reported with every run.

    random    an option drawn by the seed
    longest   the option with the most characters
    options   a classifier that reads only the options (its words into a logistic regression), each
              question answered by one that learnt from questions of other scenarios
    nearest   the option most similar to anything remembered (TF-IDF)
    reader    the option put in the person's words rather than in other people's (``evaluators.protocols.reader``)

``nearest`` and ``reader`` get what the setting retrieves and nothing else, as the model does. Each can also be run as a
model, ``--model offline:NAME``. Ties go to the option that the seed puts first, never to the letter A.
Where each decision is the answer of one question and a distractor of three, ``options`` has nothing to learn:
all its scores are ties.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evaluators.protocols.bench import Bench, Question, read_bench, read_keys
from evaluators.protocols.prompting import Excerpts
from evaluators.protocols.reader import Reader
from schemas.randomness import rng_for

NAMES = ("random", "longest", "options", "nearest", "reader")
READING = ("nearest", "reader")
_FOLDS = 8

Scores = Mapping[str, Sequence[float]]
Retrieved = Mapping[str, Excerpts]


def all_answers(bench: Bench, seed: int, retrieved: Retrieved | None) -> dict[str, dict[str, str] | None]:
    """Baseline -> question -> letter; None for those that read memories where nothing is ``retrieved`` (None).

    ``nearest`` and ``reader`` read what the model of the run gets to read, no more: a floor that saw more than the
    model would not be one.
    """
    possible = {name for name in NAMES if retrieved is not None or name not in READING}
    return {name: answers(name, bench, seed, retrieved) if name in possible else None for name in NAMES}


def answers(name: str, bench: Bench, seed: int, retrieved: Retrieved | None = None) -> dict[str, str]:
    """Question -> the letter that a baseline chooses. ``retrieved``: what ``nearest`` and ``reader`` may read."""
    scores = _scores(name, bench, retrieved)
    return {question.id: _best(bench, question, name, scores[question.id], seed) for question in bench.questions}


def _scores(name: str, bench: Bench, retrieved: Retrieved | None) -> Scores:
    if name == "random":
        return {question.id: [0.0] * len(question.texts) for question in bench.questions}
    if name == "longest":
        return {question.id: [float(len(text)) for text in question.texts] for question in bench.questions}
    if name == "options":
        return _classified(bench)
    texts = None if retrieved is None else {key: [one.text for one in found] for key, found in retrieved.items()}
    if name == "nearest":
        return _similar(bench, texts)
    reader = Reader(bench, texts)
    return {question.id: reader.scores(question) for question in bench.questions}


def _best(bench: Bench, question: Question, name: str, scores: Sequence[float], seed: int) -> str:
    order = list(range(len(scores)))
    rng_for(seed, bench.release.name.benchmark, f"evaluators.ties.{name}", question.id).shuffle(order)
    return question.labels[max(order, key=lambda place: scores[place])]


def _classified(bench: Bench) -> Scores:
    """Scores from classifiers that never saw a key of the question's scenario.

    They learn from the whole release, whatever the run asks; how rare a word is, is counted once over all options."""
    import numpy as np
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    everything, keys = read_bench(bench.release).questions, read_keys(bench.release)
    scenarios = sorted({question.scenario_id for question in everything})
    folds = {scenario: place % min(_FOLDS, len(scenarios)) for place, scenario in enumerate(scenarios)}
    words = TfidfVectorizer(sublinear_tf=True, min_df=1 if len(everything) < 50 else 2)
    rows = words.fit_transform(text for question in everything for text in question.texts)
    right = np.array([label == keys[question.id] for question in everything for label in question.labels])
    owner = [question for question in everything for _ in question.labels]
    fold_of = np.array([folds[question.scenario_id] for question in owner])
    scores: dict[str, list[float]] = {question.id: [] for question in everything}
    for fold in sorted(set(folds.values())):
        learnt, asked = np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)
        model = LogisticRegression(C=3.0, class_weight="balanced", solver="liblinear", random_state=0)
        said = model.fit(rows[learnt], right[learnt]).decision_function(rows[asked]) if learnt.size else asked * 0.0
        for place, score in zip(asked, said, strict=True):
            scores[owner[place].id].append(float(score))
    return scores


def _similar(bench: Bench, texts: Mapping[str, Sequence[str]] | None) -> Scores:
    """The greatest similarity of each option to any text remembered."""
    from evaluators.memory.embedding import Tfidf

    names = sorted(bench.memories)
    embed = Tfidf()
    vectors = embed.fit([memory.text for name in names for memory in bench.memories[name]])
    starts, reached = {}, 0
    for name in names:
        starts[name], reached = reached, reached + len(bench.memories[name])
    scores: dict[str, Sequence[float]] = {}
    for question in bench.questions:
        if texts is None:
            start = starts.get(question.character_id, 0)
            rows = vectors[start : start + len(bench.eligible(question))]
        else:
            rows = embed.vectors(texts[question.id]) if texts[question.id] else vectors[:0]
        scores[question.id] = _greatest(rows, embed.vectors(question.texts))
    return scores


def _greatest(rows: Any, options: Any) -> list[float]:
    if not rows.shape[0]:
        return [0.0] * int(options.shape[0])
    return [float(value) for value in (rows @ options.T).max(axis=0).toarray().ravel()]
