"""The distractors of the released code, for comparison with the balanced ones.

HEART-BENCH appendix D.3 as released: similarity band, contrast of personalities, action words, sentiment; best
first, then twice the best of quality and unlikeness to those chosen.

    python -m builders.mcqs --rule published
"""

from __future__ import annotations

import functools
import itertools
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from builders.mcqs.distractors import WRONG, Pool
from schemas.tables import Row

_WORDS = Path(__file__).parents[1] / "seeds" / "action_words.json"
_WORD = re.compile(r"[a-z']+")


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
