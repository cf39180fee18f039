"""Near-duplicate search against scikit-learn per window, on a generated corpus with planted copies.

Both sides get the texts in memory and return the pairs; imports and the making of the corpus are not
timed. The corpus has the size of HEART-BENCH (11 characters of 1,000 narratives in eight stages, 36
million characters): sentences over a Zipf vocabulary, one narrative in a hundred an edited copy with
2 to 35 in a hundred of its words changed, so that cosines lie on both sides of 0.85. Both cases
print the digest of their pairs: it has to be the same.

    python -m perf.duplicates
    python -m perf.duplicates --characters 110 --repeat 1     ten times the text, ten times the windows
    python -m perf.duplicates --memories 10000 --repeat 1     ten times the text, windows ten times as large
    python -m perf.duplicates --accents                       a quarter of the sentences quote in ‘’ and dash —
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
from collections.abc import Iterable, Iterator
from random import Random

from perf import harness
from schemas.randomness import rng_for

_THRESHOLD = 0.85
_STAGES = 8
_COPIED = 0.01
_CHANGED = (0.02, 0.35)
_LENGTHS = (2000, 4500)  # characters

_SHAPES = (
    "the {n} was {a} and the {n} {v} before I {v} it",
    "my {n} {v} the {a} {n} in the {n}",
    "I {v} {d} because the {n} of the {n} was {a}",
    "we {v} to the {n} and {v} until it {v}",
    "there was a {a} {n} on the {n} and I {v} it {d}",
    "I could {v} the {n} and the {a} {n} under it",
    "it was {d} {a} in the {n} where the {n} {v}",
    "they {v} that the {n} was too {a} for me to {v}",
    "I {v} my {n} {d} and {v} at the {n} with a {a} {n}",
    "all I {v} was the {n} and how {a} it {v}",
)
_SHARES = {"n": 0.55, "v": 0.2, "a": 0.2, "d": 0.05}
_VOCABULARY = 20_000

Pairs = set[tuple[int, int]]


def sklearn_per_window(arguments: argparse.Namespace) -> harness.Timed:
    """TfidfVectorizer and cosine_similarity on every window, one after the other."""
    import numpy as np
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.metrics.pairwise import cosine_similarity

    windows = corpus(arguments)

    def timed() -> dict[str, object]:
        found = []
        for texts in windows:
            similar = cosine_similarity(TfidfVectorizer().fit_transform(texts))
            found.append({(int(i), int(j)) for i, j in np.argwhere(np.triu(similar, 1) > _THRESHOLD)})
        return _figures(windows, found)

    return timed


def ours(workers: int) -> harness.Case:
    """``audits.duplicates`` as its command runs it, windows side by side."""

    def case(arguments: argparse.Namespace) -> harness.Timed:
        from audits.duplicates.neighbours import cosine_pairs, one_blas_thread
        from audits.duplicates.tfidf import spread

        windows = corpus(arguments)
        cosine_pairs(["the imports are not timed"] * 2, _THRESHOLD)

        def timed() -> dict[str, object]:
            with one_blas_thread():
                found = list(spread(lambda texts: cosine_pairs(texts, _THRESHOLD), windows, workers))
            return _figures(windows, [{(i, j) for i, j, _ in pairs} for pairs in found])

        return timed

    return case


def ours_across(arguments: argparse.Namespace) -> harness.Timed:
    """All texts as one window, which scikit-learn cannot hold as a dense matrix at ten times the size."""
    from audits.duplicates.neighbours import cosine_pairs

    texts = list(itertools.chain.from_iterable(corpus(arguments)))
    cosine_pairs(["the imports are not timed"] * 2, _THRESHOLD)

    def timed() -> dict[str, object]:
        return _figures([texts], [{(i, j) for i, j, _ in cosine_pairs(texts, _THRESHOLD, 2)}])

    return timed


def corpus(arguments: argparse.Namespace) -> list[list[str]]:
    """The narratives by window (character, stage)."""
    sentence = _Sentences(rng_for(7, "perf", "duplicates", "words"), arguments.accents)
    size = arguments.memories // _STAGES
    windows = []
    for character in range(arguments.characters):
        for stage in range(_STAGES):
            rng = rng_for(7, "perf", "duplicates", f"{character}/{stage}")
            windows.append(_window(rng, sentence, size + (stage < arguments.memories % _STAGES)))
    return windows


def _window(rng: Random, sentence: _Sentences, size: int) -> list[str]:
    made: list[str] = []
    for _ in range(size):
        if made and rng.random() < _COPIED:
            words = rng.choice(made).split(" ")
            for place in rng.sample(range(len(words)), max(1, int(len(words) * rng.uniform(*_CHANGED)))):
                words[place] = sentence.word("n")
            made.append(" ".join(words))
            continue
        target = min(max(rng.gauss(3300, 550), _LENGTHS[0]), _LENGTHS[1])
        parts, length = [], 0
        while length < target:
            parts.append(sentence.make(rng))
            length += len(parts[-1]) + 1
        made.append(" ".join(parts))
    return made


class _Sentences:
    """Sentences whose words follow Zipf's law within their part of speech."""

    def __init__(self, rng: Random, accents: bool) -> None:
        self._accents = accents
        words = _vocabulary(rng)
        bounds = [0, *itertools.accumulate(int(share * _VOCABULARY) for share in _SHARES.values())]
        self._drawn: dict[str, Iterator[str]] = {
            part: _draws(rng_for(7, "perf", "duplicates", part), words[start:end])
            for part, (start, end) in zip(_SHARES, itertools.pairwise(bounds), strict=True)
        }

    def word(self, part: str) -> str:
        return next(self._drawn[part])

    def make(self, rng: Random) -> str:
        pieces = rng.choice(_SHAPES).split("{")
        text = pieces[0] + "".join(self.word(piece[0]) + piece[2:] for piece in pieces[1:])
        if self._accents and rng.random() < 0.25:
            return f"‘{text.capitalize()}’ — I said."
        return text.capitalize() + "."


def _draws(rng: Random, words: list[str]) -> Iterator[str]:
    weights = list(itertools.accumulate(1 / (rank + 2.7) for rank in range(len(words))))
    while True:
        yield from rng.choices(words, cum_weights=weights, k=100_000)


def _vocabulary(rng: Random) -> list[str]:
    starts = [*"bcdfghjklmnprstvw", "br", "ch", "cl", "dr", "fl", "gr", "pl", "sh", "st", "str", "th", "tr"]
    middles = [*"aeiou", "ai", "ea", "ee", "oa", "oo", "ou"]
    ends = ["", "", *"nrlstm", "ck", "nd", "st", "ng", "ll"]
    words: dict[str, None] = {}
    while len(words) < _VOCABULARY:
        syllables = rng.choices((1, 2, 3), (2, 5, 3))[0]
        word = "".join(rng.choice(starts) + rng.choice(middles) + rng.choice(ends) for _ in range(syllables))
        if 3 <= len(word) <= 12:
            words[word] = None
    return list(words)


def _figures(windows: Iterable[list[str]], found: list[Pairs]) -> dict[str, object]:
    digest = hashlib.sha256(repr([sorted(pairs) for pairs in found]).encode()).hexdigest()[:10]
    return {
        "rows": sum(map(len, windows)),
        "MB": round(sum(len(text) for texts in windows for text in texts) / 1e6, 1),
        "pairs": sum(map(len, found)),
        "digest": digest,
    }


def _arguments(made: argparse.ArgumentParser) -> None:
    made.add_argument("--characters", type=int, default=11, metavar="N", help="characters (default: 11)")
    made.add_argument("--memories", type=int, default=1000, metavar="N", help="narratives of each (default: 1000)")
    made.add_argument("--accents", action="store_true", help="typographic quotes and dashes in the text")


COMPARISONS = (
    harness.Comparison(
        "windows",
        {"sklearn_per_window": sklearn_per_window, "ours_1_worker": ours(1), "ours_2_workers": ours(2)},
        base="sklearn_per_window",
        promises=(
            harness.Promise("ours_1_worker", "sklearn_per_window", 4),
            harness.Promise("ours_2_workers", "sklearn_per_window", 4),
        ),
    ),
    harness.Comparison("across", {"ours_across": ours_across}, base="ours_across"),
)

if __name__ == "__main__":
    raise SystemExit(harness.main("perf.duplicates", COMPARISONS, add_arguments=_arguments))
