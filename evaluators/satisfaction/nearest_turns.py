"""Predictions from the most similar source turns of the same rater: TF-IDF neighbours, k = 1 and k = 3.

PersTurnBench appendix D says "default vectorizer settings unless otherwise stated"; the released code's are character
n-grams of 2 to 4 within words, sublinear term frequency, no minimum, over the user message twice and the reply. The
vocabulary is that of the block's source turns. Equal similarities are ordered by sample id (the published order among
them is undefined). A rater without source turns gets no prediction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
    if not source or not target:
        return {k: {} for k in NEIGHBOURS}
    ordered = sorted(source, key=lambda turn: turn.sample_id)
    ranks = np.argsort(-_similarities(ordered, target), axis=1, kind="stable")
    scores = [turn.score or 0 for turn in ordered]
    return {
        k: {
            turn.sample_id: rounded_mean([scores[place] for place in row[:k]])
            for turn, row in zip(target, ranks, strict=True)
        }
        for k in NEIGHBOURS
    }


def _similarities(
    source: Sequence[TextTurn], target: Sequence[TextTurn]
) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4), sublinear_tf=True, min_df=1)
    known = vectorizer.fit_transform([turn.text for turn in source])
    asked = vectorizer.transform([turn.text for turn in target])
    # Rows are of length 1, so the product is the cosine; rounded so that equal texts are equal on every machine.
    return np.asarray((asked @ known.T).toarray().round(12))
