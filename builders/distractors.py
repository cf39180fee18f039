"""Which three decisions of other characters stand beside the right one.

HEART-BENCH appendix D.3: a candidate too close to the right option makes the question ambiguous, one that
does not belong to the situation gives it away. Of the rest, two documented rules choose three:

- ``balanced`` (the default). For one scenario all its questions are solved together: three rounds of
  assignment, each handing every decision out once, so that each is right once and wrong three times and
  no source says anything about the answer. Closer candidates are preferred. The opposite pole of the same
  trait enters just as often as chance would have it, where the published questions have it in 88 %.
- ``published``. The weights of the released code: similarity band, contrast of personalities, action words,
  sentiment; best first, then twice the best of quality and unlikeness to those chosen. For comparison.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from schemas.tables import Row

WRONG = 3  # wrong options of a question
TOO_CLOSE = 0.85  # cosine above which two decisions are taken for the same
UNRELATED = 0.01  # mean cosine with the scenario's other decisions below which one does not belong

_FORBIDDEN = 1e6
_WORDS = Path(__file__).parent / "seeds" / "action_words.json"
_WORD = re.compile(r"[a-z']+")

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Pool:
    """The decisions of one scenario: sources in order of id, their texts, and who may stand beside whom.

    ``usable[target]`` are the sources that passed the filters for that target.
    """

    scenario_id: str
    sources: tuple[str, ...]
    texts: Mapping[str, str]
    usable: Mapping[str, frozenset[str]]


def cosines(texts: Sequence[str]) -> Matrix:
    """TF-IDF cosines of decisions among each other, shape (n, n)."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    matrix = TfidfVectorizer().fit_transform(texts)
    return np.asarray((matrix @ matrix.T).todense())


def screened(target: str, candidates: Sequence[str]) -> tuple[list[int], list[int]]:
    """Offline filters: positions of candidates that are the same as the target, and that are unrelated."""
    likeness = cosines([target, *candidates])
    same = [i for i in range(len(candidates)) if likeness[0, i + 1] > TOO_CLOSE]
    others = (likeness.sum(axis=1) - 1) / max(len(candidates), 1)
    return same, [i for i in range(len(candidates)) if others[i + 1] < UNRELATED]


def opposites(characters: Sequence[Row]) -> dict[str, str]:
    """For every polar character the one at the other pole of its trait."""
    poles = {(row["trait"], row["pole"]): row["character_id"] for row in characters if row["trait"]}
    other = {"high": "low", "low": "high"}
    return {
        who: poles[trait, other[pole]] for (trait, pole), who in poles.items() if pole and (trait, other[pole]) in poles
    }


def balanced(pools: Sequence[Pool], opposite: Mapping[str, str], seed: int) -> dict[tuple[str, str], list[str]]:
    """The wrong sources of every question that has three, by (scenario, target)."""
    wanted = _opposites_wanted(pools, opposite, seed)
    chosen: dict[tuple[str, str], list[str]] = {}
    used: Counter[str] = Counter()
    for pool in pools:
        for target, sources in _assigned(pool, opposite, wanted, used, seed).items():
            if len(sources) == WRONG:
                chosen[pool.scenario_id, target] = sources
                used.update(sources)
    return chosen


def _opposites_wanted(pools: Sequence[Pool], opposite: Mapping[str, str], seed: int) -> set[tuple[str, str]]:
    """The questions the opposite pole shall enter: as many as chance gives, spread by digest."""
    chances = []
    for pool in pools:
        for target in pool.sources:
            usable = pool.usable[target]
            if opposite.get(target) in usable and len(usable) >= WRONG:
                chances.append((_digest(seed, pool.scenario_id, target, "pole"), WRONG / len(usable), pool, target))
    wanted = set()
    due = 0.5
    for _, chance, pool, target in sorted(chances, key=lambda item: item[0]):
        due += chance
        if due >= 1:
            due -= 1
            wanted.add((pool.scenario_id, target))
    return wanted


def _assigned(
    pool: Pool, opposite: Mapping[str, str], wanted: Collection[tuple[str, str]], used: Counter[str], seed: int
) -> dict[str, list[str]]:
    from scipy.optimize import linear_sum_assignment

    likeness = cosines([pool.texts[source] for source in pool.sources])
    cost = np.full(likeness.shape, _FORBIDDEN)
    for t, target in enumerate(pool.sources):
        for s, source in enumerate(pool.sources):
            if source in pool.usable[target]:
                noise = int(_digest(seed, pool.scenario_id, target, source)[:8], 16) / 2**32
                cost[t, s] = noise - likeness[t, s] + _of_pole(pool, target, source, opposite, wanted)
    chosen: dict[str, list[str]] = {target: [] for target in pool.sources}
    for _ in range(WRONG):
        for t, s in zip(*linear_sum_assignment(cost), strict=True):
            if cost[t, s] < _FORBIDDEN:
                chosen[pool.sources[t]].append(pool.sources[s])
                cost[t, s] = _FORBIDDEN
    _fill(pool, chosen, used)
    return chosen


def _of_pole(
    pool: Pool, target: str, source: str, opposite: Mapping[str, str], wanted: Collection[tuple[str, str]]
) -> float:
    if opposite.get(target) != source:
        return 0.0
    return -20.0 if (pool.scenario_id, target) in wanted else 20.0


def _fill(pool: Pool, chosen: dict[str, list[str]], used: Counter[str]) -> None:
    """Where filters left an assignment short: the least used of the usable sources."""
    here = Counter(source for sources in chosen.values() for source in sources)
    for target, sources in chosen.items():
        spare = sorted(pool.usable[target] - set(sources), key=lambda s: (here[s], used[s], s))
        for source in spare[: WRONG - len(sources)]:
            sources.append(source)
            here[source] += 1


def published(pools: Sequence[Pool], characters: Sequence[Row]) -> dict[tuple[str, str], list[str]]:
    """The same by the released code's weights."""
    known = {row["character_id"]: row for row in characters}
    chosen = {}
    for pool in pools:
        for target in pool.sources:
            candidates = sorted(pool.usable[target])
            if len(candidates) < WRONG:
                continue
            quality = {s: _published_quality(pool, target, s, known) for s in candidates}
            picked = [max(candidates, key=lambda s: (quality[s], s))]
            while len(picked) < WRONG:
                left = [s for s in candidates if s not in picked]
                picked.append(max(left, key=lambda s: (_with_variety(pool, s, picked, quality), s)))
            chosen[pool.scenario_id, target] = picked
    return chosen


def _with_variety(pool: Pool, source: str, picked: Sequence[str], quality: Mapping[str, float]) -> float:
    unlike = min(1 - _published_similarity(pool.texts[source], pool.texts[other]) for other in picked)
    return 0.6 * quality[source] + 0.4 * unlike


def _published_quality(pool: Pool, target: str, source: str, known: Mapping[str, Row]) -> float:
    a, b = pool.texts[target], pool.texts[source]
    similarity = _published_similarity(a, b)
    band = 1.0 if 0.25 <= similarity <= 0.6 else 0.6 if similarity < 0.25 else 0.8 if similarity < 0.75 else 0.2
    contrast = _contrast(known[target], known[source])
    return 0.35 * band + 0.25 * contrast + 0.25 * _divergence(a, b) + 0.15 * min(abs(_mood(a) - _mood(b)) / 3, 1.0)


def _contrast(a: Row, b: Row) -> float:
    if a["trait"] != b["trait"]:
        return 1.0
    return 2.0 if a["pole"] != b["pole"] else 0.3


def _published_similarity(a: str, b: str) -> float:
    """Mean of Jaccard and cosine over words and pairs of words."""
    left, right = _grams(a), _grams(b)
    union = left.keys() | right.keys()
    if not union:
        return 1.0
    jaccard = len(left.keys() & right.keys()) / len(union)
    dot = sum(count * right[gram] for gram, count in left.items())
    norm = (sum(c * c for c in left.values()) * sum(c * c for c in right.values())) ** 0.5
    return (jaccard + (dot / norm if norm else 0.0)) / 2


def _grams(text: str) -> Counter[str]:
    words = _WORD.findall(text.lower())
    return Counter([*words, *(f"{a} {b}" for a, b in itertools.pairwise(words))])


def _divergence(a: str, b: str) -> float:
    families = _action_words()["families"]
    left, right = ({f for f, words in families.items() if set(words) & set(_WORD.findall(t.lower()))} for t in (a, b))
    if not left or not right:
        return 0.7
    return 1 - len(left & right) / len(left | right)


def _mood(text: str) -> int:
    words = Counter(_WORD.findall(text.lower()))
    lists = _action_words()
    return sum(words[word] for word in lists["positive"]) - sum(words[word] for word in lists["negative"])


@functools.cache
def _action_words() -> Mapping[str, Any]:
    return orjson.loads(_WORDS.read_bytes())  # type: ignore[no-any-return]


def _digest(seed: int, *parts: str) -> str:
    return hashlib.sha256("\x1f".join((str(seed), *parts)).encode()).hexdigest()
