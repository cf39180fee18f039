"""Which three decisions of other characters stand beside the right one.

HEART-BENCH appendix D.3: a candidate too close to the right option makes the question ambiguous, one that
does not belong to the situation gives it away. Of the rest, two documented rules choose three:

- ``balanced`` (the default). For one scenario all its questions are solved together: three rounds of
  assignment, each handing every decision out once, so that each is right once and wrong three times and
  no source says anything about the answer. The opposite pole of the same trait enters just as often as
  chance would have it, where the published questions have it in 88 %. Of many such solutions drawn by lot
  the one is taken in which the right option is most evenly the longest, second, third and shortest of the
  four, and the most, second, third and least like the other three. Closer candidates are not preferred:
  that would put the right option in the middle of what stands around it.
- ``published``. The weights of the released code, for comparison (``builders.mcqs.published``).

    python -m builders.mcqs --rule balanced
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random

import numpy as np
from numpy.typing import NDArray

from audits.duplicates.neighbours import cosine_pairs
from audits.duplicates.neighbours import cosines as upper_cosines
from builders.pipeline.streams import Streams
from schemas.tables import Row
from schemas.text.sentences import sentences

WRONG = 3  # wrong options of a question
TOO_CLOSE = 0.85  # cosine above which two decisions are taken for the same
SAME_WORDS = 0.45  # share of the runs of three words of a last sentence from which two decisions do the same
UNRELATED = 0.01  # mean cosine with the scenario's other decisions below which one does not belong

_RUN = 3
_FORBIDDEN = 1e6
_POLE = 20.0  # far more than any lot: whether the opposite pole enters is settled beforehand
_DRAWS = 96  # solutions of a scenario among which the most even one is taken
_WORD = re.compile(r"[a-z']+")

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Pool:
    """The decisions of one scenario: sources in order of id, their texts, and who may stand beside whom.

    ``usable[target]`` are the sources that passed the filters for that target; ``twins[source]`` those whose texts are
    nearly the source's, so that no question holds both, and ``same[source]`` those that do the same thing, so that
    no question holds both if it can be helped (``apart``).
    """

    scenario_id: str
    sources: tuple[str, ...]
    texts: Mapping[str, str]
    usable: Mapping[str, frozenset[str]]
    twins: Mapping[str, frozenset[str]] = field(default_factory=dict)
    same: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def beside(self, places: Iterable[int], strict: bool = True) -> set[int]:
        """The places in ``sources`` that may not stand beside any of ``places``; not ``strict``: that must not."""
        named = [self.sources[place] for place in places]
        near = set().union(*(self.twins.get(one, ()) for one in named))
        if strict:
            near = near.union(*(self.same.get(one, ()) for one in named))
        return {place for place, source in enumerate(self.sources) if source in near}


def cosines(texts: Sequence[str]) -> Matrix:
    """TF-IDF cosines of decisions among each other, shape (n, n)."""
    found = np.eye(len(texts))
    upper = np.triu_indices(len(texts), 1)
    found[upper] = upper_cosines(texts)
    return np.maximum(found, found.T)


def apart(pools: Sequence[Pool]) -> list[Pool]:
    """The pools with who must not stand beside whom: texts too close by the measure of the audit, or doing the same."""
    texts = sorted({text for pool in pools for text in pool.texts.values()})
    near = {(texts[i], texts[j]) for i, j, _ in cosine_pairs(texts, TOO_CLOSE)} if len(texts) > 1 else set()

    def among(pool: Pool, pairs: Collection[tuple[str, str]]) -> dict[str, frozenset[str]]:
        text = pool.texts
        return {
            one: frozenset(other for other in pool.sources if other != one and _are_near(pairs, text[one], text[other]))
            for one in pool.sources
        }

    def parted(pool: Pool) -> Pool:
        twins = among(pool, near)
        same = among(pool, set(_doing_the_same(sorted(set(pool.texts.values())))))
        usable = {target: pool.usable[target] - twins[target] for target in pool.sources}
        return replace(pool, usable=usable, twins=twins, same=same)

    return [parted(pool) for pool in pools]


def _doing_the_same(texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Pairs of texts whose last sentences, in which a decision is acted upon, are much the same word for word."""
    runs = {text: _runs(text[slice(*spans[-1])]) for text in texts if (spans := sentences(text))}
    for one, other in itertools.combinations(runs, 2):
        least = min(len(runs[one]), len(runs[other]))
        if least and len(runs[one] & runs[other]) >= SAME_WORDS * least:
            yield one, other


def _runs(text: str) -> set[tuple[str, ...]]:
    words = _WORD.findall(text.lower())
    return {*zip(*(words[start:] for start in range(_RUN)), strict=False)}


def _are_near(near: Collection[tuple[str, str]], one: str, other: str) -> bool:
    return one == other or (min(one, other), max(one, other)) in near


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


def balanced(pools: Sequence[Pool], opposite: Mapping[str, str], streams: Streams) -> dict[tuple[str, str], list[str]]:
    """The wrong sources of every question that has three, by (scenario, target)."""
    wanted = _opposites_wanted(pools, opposite, streams.seed)
    chosen: dict[tuple[str, str], list[str]] = {}
    used: Counter[str] = Counter()
    asked = 0
    for pool in pools:
        rng = streams.rng("distractors", pool.scenario_id)
        cost = _cost(pool, opposite, wanted)
        drawn = [_assigned(pool, cost, used, rng) for _ in range(_DRAWS)]
        texts = [pool.texts[source] for source in pool.sources]
        sizes = np.array([float(len(text)) for text in texts])
        best = min(drawn, key=functools.partial(_unevenness, sizes, cosines(texts), asked))
        for target, wrong in enumerate(best):
            if len(wrong) == WRONG:
                chosen[pool.scenario_id, pool.sources[target]] = [pool.sources[source] for source in wrong]
                used.update(pool.sources[source] for source in wrong)
                asked += 1
    return chosen


def _opposites_wanted(pools: Sequence[Pool], opposite: Mapping[str, str], seed: int) -> set[tuple[str, str]]:
    """The questions the opposite pole shall enter: as many as chance gives, spread by digest."""
    chances = []
    for pool in pools:
        for target in pool.sources:
            usable = pool.usable[target]
            if opposite.get(target) in usable and len(usable) >= WRONG:
                drawn = WRONG / (len(pool.sources) - 1)
                chances.append((_digest(seed, pool.scenario_id, target, "pole"), drawn, pool, target))
    wanted = set()
    due = 0.5
    for _, chance, pool, target in sorted(chances, key=lambda item: item[0]):
        due += chance
        if due >= 1:
            due -= 1
            wanted.add((pool.scenario_id, target))
    return wanted


def _cost(pool: Pool, opposite: Mapping[str, str], wanted: Collection[tuple[str, str]]) -> Matrix:
    """What it costs to stand a source beside a target, shape (targets, sources), before lots are drawn."""
    cost = np.full((len(pool.sources), len(pool.sources)), _FORBIDDEN)
    for t, target in enumerate(pool.sources):
        for s, source in enumerate(pool.sources):
            if source in pool.usable[target] - pool.same.get(target, frozenset()):
                due = -_POLE if (pool.scenario_id, target) in wanted else _POLE
                cost[t, s] = due if opposite.get(target) == source else 0.0
    return cost


def _assigned(pool: Pool, cost: Matrix, used: Counter[str], rng: Random) -> list[list[int]]:
    """One solution: for each target, as places in ``pool.sources``, the sources of its wrong options."""
    from scipy.optimize import linear_sum_assignment

    drawn = cost + np.array([rng.random() for _ in range(cost.size)]).reshape(cost.shape)
    chosen: list[list[int]] = [[] for _ in pool.sources]
    for _ in range(WRONG):
        for t, s in zip(*linear_sum_assignment(drawn), strict=True):
            if drawn[t, s] < _FORBIDDEN:
                chosen[t].append(int(s))
        for t, wrong in enumerate(chosen):
            drawn[t, [*wrong, *pool.beside(wrong)]] = _FORBIDDEN
    _fill(pool, chosen, used)
    return chosen


def _fill(pool: Pool, chosen: list[list[int]], used: Counter[str]) -> None:
    """Where filters left an assignment short: the least used usable sources, rather those that do other things."""
    here = Counter(source for wrong in chosen for source in wrong)
    for strict in (True, False):
        for t, wrong in enumerate(chosen):
            while len(wrong) < WRONG:
                barred = {*wrong, *pool.beside([t, *wrong], strict)}
                usable = pool.usable[pool.sources[t]]
                spare = [s for s, source in enumerate(pool.sources) if source in usable and s not in barred]
                if not spare:
                    break
                wrong.append(min(spare, key=lambda s: (here[s], used[pool.sources[s]], s)))
                here[wrong[-1]] += 1


def _unevenness(sizes: Matrix, likeness: Matrix, before: int, chosen: Sequence[Sequence[int]]) -> float:
    """How far from even the right options' ranks are, by length and by likeness to the other three.

    ``before`` questions of other scenarios have had their share; the shares of these go on from there.
    """
    four = np.array([[target, *wrong] for target, wrong in enumerate(chosen) if len(wrong) == WRONG])
    if not len(four):
        return 0.0
    ranks = np.arange(WRONG + 1)
    due = (before + len(four) + ranks) // len(ranks) - (before + ranks) // len(ranks)
    alike = likeness[four[:, :, None], four[:, None, :]].sum(axis=2)
    return float(sum(((_ranks(values) - due) ** 2).sum() for values in (sizes[four], alike)))


def _ranks(values: Matrix) -> Matrix:
    """How many rows have their first value at each rank within the row; ties share theirs."""
    below = (values < values[:, :1]).sum(axis=1, keepdims=True)
    tied = (values == values[:, :1]).sum(axis=1, keepdims=True)
    ranks = np.arange(values.shape[1])
    return np.asarray((((ranks >= below) & (ranks < below + tied)) / tied).sum(axis=0))


def _digest(seed: int, *parts: str) -> str:
    return hashlib.sha256("\x1f".join((str(seed), *parts)).encode()).hexdigest()
