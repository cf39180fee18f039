"""Predictions from the most similar source turns of the same rater: TF-IDF neighbours, k = 1 and k = 3.

PersTurnBench appendix D says "default vectorizer settings unless otherwise stated"; the released code's are character
n-grams of 2 to 4 within words, sublinear term frequency, no minimum, over the user message twice and the reply. The
vocabulary is that of the block's source turns. Equal similarities are ordered by sample id (the published order among
them is undefined). A rater without source turns gets no prediction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evaluators.satisfaction.history_baselines import rounded_mean

NEIGHBOURS = (1, 3)


@dataclass(frozen=True)
class TextTurn:
    """A turn as text: the last user message and the assistant's reply; ``score`` is None for a target turn."""

    sample_id: str
    user: str
    reply: str
    score: int | None = None

    @property
    def text(self) -> str:
        """What is compared."""
        return f"{self.user}\n{self.user}\n{self.reply}"


def nearest_predictions(source: Sequence[TextTurn], target: Sequence[TextTurn]) -> dict[int, dict[str, int]]:
    """For each k, the rounded mean score of the k nearest source turns of one block, by sample id.

    Raises ValueError for a source turn without a score and a target turn with one: target gold is not for baselines.
    """
    if any(turn.score is None for turn in source) or any(turn.score is not None for turn in target):
        raise ValueError("scores of source turns, and none of target turns")
    counts = _Counts([*source, *target])
    return counts.nearest([*source], [*target])


def nearest_by_task(turns: Mapping[str, Sequence[TextTurn]]) -> dict[int, dict[str, int]]:
    """The same for every task of one rater: each task's turns by the scores of the others. ``turns`` is by task."""
    counts = _Counts([turn for own in turns.values() for turn in own])
    found: dict[int, dict[str, int]] = {k: {} for k in NEIGHBOURS}
    for task, target in turns.items():
        source = [turn for other, own in turns.items() if other != task for turn in own]
        for k, predicted in counts.nearest(source, [replace(turn, score=None) for turn in target]).items():
            found[k] |= predicted
    return found


class _Counts:
    """n-grams of the turns of one rater, counted once, since every turn is a source of the other tasks."""

    def __init__(self, turns: Sequence[TextTurn]) -> None:
        from sklearn.feature_extraction.text import CountVectorizer

        self.place = {turn.sample_id: place for place, turn in enumerate(turns)}
        vectorizer = CountVectorizer(analyzer="char_wb", ngram_range=(2, 4), min_df=1, dtype=np.float64)
        texts = [turn.text for turn in turns] or ["no turn"]
        self.counts = vectorizer.fit_transform(texts)

    def nearest(self, source: Sequence[TextTurn], target: Sequence[TextTurn]) -> dict[int, dict[str, int]]:
        """The rounded mean score of the k nearest source turns, by k and sample id."""
        if not source or not target:
            return {k: {} for k in NEIGHBOURS}
        ordered = sorted(source, key=lambda turn: turn.sample_id)
        ranks = np.argsort(-self._similarities(ordered, target), axis=1, kind="stable")
        scores = [turn.score or 0 for turn in ordered]
        return {
            k: {
                turn.sample_id: rounded_mean([scores[place] for place in row[:k]])
                for turn, row in zip(target, ranks, strict=True)
            }
            for k in NEIGHBOURS
        }

    def _similarities(
        self, source: Sequence[TextTurn], target: Sequence[TextTurn]
    ) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
        """Cosines of TF-IDF over the n-grams that occur in the source turns, as one vectorizer of those would have."""
        from sklearn.feature_extraction.text import TfidfTransformer

        known, asked = (self.counts[[self.place[turn.sample_id] for turn in turns]] for turns in (source, target))
        there = np.flatnonzero(known.getnnz(axis=0))
        weights = TfidfTransformer(sublinear_tf=True)
        known = weights.fit_transform(known[:, there])
        # Rows are of length 1, so the product is the cosine; rounded so that equal texts are equal on every machine.
        return np.asarray((weights.transform(asked[:, there]) @ known.T).toarray().round(12))
