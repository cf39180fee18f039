"""Solvers that answer multiple-choice questions without what the questions are about.

Whatever they score above chance is a shortcut. ``by_text`` reads the options and nothing else: word
and letter n-grams into a logistic regression of right against wrong. ``by_source`` does not even read
them: it knows whose decision each option is, and whether that character's opposite is offered too;
what it scores is what the choice of distractors gives away to a reader who recognises characters.
``by_likeness`` learns nothing at all: it takes the option that is most like the others, where
distractors that were chosen for being close to the right one leave it in their middle.

The first two learn from the questions of other scenarios (grouped cross-validation), pick one option a
question, and do the same on every run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from audits.duplicates.tfidf import weights
from audits.shortcuts.questions import Opposites, Question

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

_FOLDS = 8

Scorer = Callable[[Sequence[Question], Sequence[Question]], Sequence[npt.NDArray[np.float64]]]


def by_text(questions: Sequence[Question]) -> list[float] | None:
    """1 for each question answered rightly from its options alone, else 0; None with too little to learn from."""
    texts = sorted({text for question in questions for text in question.texts})
    vectors, place = _vectors(texts), {text: number for number, text in enumerate(texts)}
    if not vectors.shape[1]:
        return None

    def score(learned: Sequence[Question], asked: Sequence[Question]) -> list[npt.NDArray[np.float64]]:
        from scipy.sparse import vstack

        # A text is the answer of one question and a distractor of others: two weighted rows, not many equal ones.
        right, wrong = np.zeros(len(texts)), np.zeros(len(texts))
        for question in learned:
            for number, text in enumerate(question.texts):
                (right if number == question.answer else wrong)[place[text]] += 1
        times = np.concatenate([right, wrong])
        seen = times > 0
        labels = np.repeat([True, False], len(texts))
        learnt = _fit(vstack([vectors, vectors]).tocsr()[seen], labels[seen], times[seen])
        return [vectors[[place[text] for text in question.texts]] @ learnt for question in asked]

    return _cross_validated(questions, score)


def by_source(questions: Sequence[Question], opposites: Opposites) -> list[float] | None:
    """The same from whose the options are; ``opposites`` names those of each character that has any."""
    names = sorted({source for question in questions for source in question.sources})

    def features(question: Question) -> npt.NDArray[np.float64]:
        """A row an option: whose it is, and whether an opposite of that character is among the others."""
        made = np.zeros((len(question.sources), len(names) + 1))
        for row, source in zip(made, question.sources, strict=True):
            row[names.index(source)] = 1
            row[-1] = not opposites.get(source, frozenset()).isdisjoint(question.sources)
        return made

    def score(learned: Sequence[Question], asked: Sequence[Question]) -> list[npt.NDArray[np.float64]]:
        right = [place == question.answer for question in learned for place in range(len(question.texts))]
        learnt = _fit(np.concatenate([features(question) for question in learned]), np.array(right))
        return [features(question) @ learnt for question in asked]

    return _cross_validated(questions, score)


def by_likeness(questions: Sequence[Question]) -> list[float] | None:
    """The same for taking the option with the greatest sum of TF-IDF cosines with the others; ties share."""
    texts = sorted({text for question in questions for text in question.texts})
    vectors, place = weights(texts).tocsr(), {text: number for number, text in enumerate(texts)}
    if not vectors.shape[1]:
        return None
    hits = []
    for question in questions:
        rows = vectors[[place[text] for text in question.texts]]
        alike = np.round((rows @ rows.T).toarray().sum(axis=1), 9)
        best = np.flatnonzero(alike == alike.max())
        hits.append(float(question.answer in best) / len(best))
    return hits


def _cross_validated(questions: Sequence[Question], score: Scorer) -> list[float] | None:
    from sklearn.model_selection import GroupKFold

    groups = [question.scenario for question in questions]
    folds = min(_FOLDS, len(set(groups)))
    if folds < 2:
        return None
    hits = [0.0] * len(questions)
    for learned, asked in GroupKFold(folds).split(groups, groups=groups):
        scores = score([questions[place] for place in learned], [questions[place] for place in asked])
        for place, values in zip(asked, scores, strict=True):
            best = np.flatnonzero(values == values.max())
            hits[place] = float(questions[place].answer in best) / len(best)
    return hits


def _vectors(texts: Sequence[str]) -> csr_matrix:
    """Weights of word and letter n-grams that stand in two texts at least, weighed on all texts, without labels."""
    from scipy.sparse import hstack
    from sklearn.feature_extraction.text import TfidfVectorizer

    words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, token_pattern=r"\w+|[^\w\s]")
    letters = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5), sublinear_tf=True)
    # One text more, so that texts without a word make an empty matrix and not an error.
    both = hstack([kind.fit_transform([*texts, "a word"])[:-1] for kind in (words, letters)]).tocsc()
    return both[:, np.diff(both.indptr) > 1].tocsr()


def _fit(
    features: Any, right: npt.NDArray[np.bool_], times: npt.NDArray[np.float64] | None = None
) -> npt.NDArray[np.float64]:
    """Coefficients of a logistic regression of right against wrong."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(max_iter=1000).fit(features, right, sample_weight=times)
    return np.asarray(model.coef_[0])
