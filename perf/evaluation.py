"""Fit the weights of ``audits.evaluation`` to labelled sentences, or check that they are the fitted ones.

Faults and near-misses are the labelled sentences of ``perspective.adult`` (all sets but ``unseen``) and the
hits and misses of its patterns. Plain sentences, as children tell them, are those of ``plain_children.txt``
and some of the children's memories of the frozen release: without them ordinary words would weigh too much.

    python -m perf.evaluation
    python -m perf.evaluation --check
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression

from audits import evaluation
from audits.criteria import criteria
from audits.memories import CHILD
from audits.sentences import sentences
from audits.speech import Quotations
from perf.agreement import FOLDER, UNSEEN, labelled
from schemas import generated
from schemas.sources import of_release
from schemas.tables import benchmark

PLAIN = FOLDER.parent / "plain_children.txt"
RELEASE = FOLDER.parents[2] / "releases/frozen/heart/1.0.0"

_EVERY = 20
"""Of the sentences of the release one in so many is read from the start."""

_ROUNDS, _NEARLY = 2, -2.0
_LEAST_OFTEN = 2
_STRENGTH = 0.1
_LEAST = 0.02

Sentence = tuple[bool, list[str]]
"""Whether a sentence is a fault, and its words."""


def labelled_sentences() -> Iterator[Sentence]:
    """The sentences that say what is a fault and what only looks like one."""
    cases = [
        case for name, cases in labelled(FOLDER / f"{evaluation.CODE}.txt").items() if name != UNSEEN for case in cases
    ]
    for pattern in criteria()[evaluation.CODE].patterns:
        cases += [(True, text) for text in pattern.hits] + [(False, text) for text in pattern.misses]
    for fault, text in cases:
        words = [word for each in told(text) for word in each]
        if words:
            yield fault, words


def plain_sentences(texts: Iterable[str]) -> list[Sentence]:
    """The different sentences of texts that children tell well."""
    different = dict.fromkeys(tuple(words) for text in texts for words in told(text))
    return [(False, list(words)) for words in different]


def told(text: str) -> Iterator[list[str]]:
    """The words of each sentence outside quotations, where there are enough."""
    quoted = Quotations(text)
    for words in evaluation.told(quoted, sentences(text, quoted.spans)):
        if len(words) >= evaluation.FEWEST_WORDS:
            yield [word[0] for word in words]


def fitted(read: Sequence[Sentence]) -> Mapping[str, float]:
    """Weights by fragment, the bias among them."""
    counts = [Counter(evaluation.fragments(words)) for _, words in read]
    often = Counter(piece for each in counts for piece in each)
    kept = [{piece: n for piece, n in each.items() if often[piece] >= _LEAST_OFTEN} for each in counts]
    vectors = DictVectorizer()
    table = vectors.fit_transform(kept)
    # Rare fragments say more where they do occur: weighed by inverse document frequency, as texts are.
    rarity = np.log((1 + len(read)) / (1 + np.asarray((table > 0).sum(axis=0)).ravel())) + 1
    lengths = np.array([1 / math.sqrt(len(words)) for _, words in read])
    scaled = table.multiply(lengths[:, None]).multiply(rarity).tocsr()
    model = LogisticRegression(C=_STRENGTH, max_iter=10_000, tol=1e-7)
    model.fit(scaled, [fault for fault, _ in read])
    weights = dict(zip(vectors.get_feature_names_out(), model.coef_[0] * rarity, strict=True))
    return {evaluation.BIAS: float(model.intercept_[0]), **weights}


def weight(words: Sequence[str], weights: Mapping[str, float]) -> float:
    """What ``audits.evaluation.weight`` makes of a sentence, by any weights."""
    pieces = sum(weights.get(piece, 0.0) for piece in evaluation.fragments(words))
    return weights[evaluation.BIAS] + pieces / math.sqrt(len(words))


def text() -> str:
    """The data file."""
    lines = [f"{piece}\t{value:.2f}" for piece, value in sorted(best().items()) if abs(value) >= _LEAST]
    return "\n".join(lines) + "\n"


def best() -> Mapping[str, float]:
    """The fitted weights. Of the release only sentences count that would nearly be findings: it tells much alike."""
    memories = of_release(str(RELEASE), benchmark("heart")).rows("memories")
    pool = plain_sentences(row["content_full"] for row in memories if row["age"] <= CHILD)
    read = [*labelled_sentences(), *plain_sentences(PLAIN.read_text("utf-8").splitlines()), *pool[::_EVERY]]
    for _ in range(_ROUNDS):
        weights = fitted(read)
        known = {tuple(words) for _, words in read}
        read += [each for each in pool if tuple(each[1]) not in known and weight(each[1], weights) > _NEARLY]
    return fitted(read)


main = functools.partial(
    generated.command, "perf.evaluation", "Fit the weights of audits.evaluation.", evaluation.WEIGHTS, text
)

if __name__ == "__main__":
    raise SystemExit(main(None))
