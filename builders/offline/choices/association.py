"""Which memories a situation calls up, without a model: a retrieval scorer over the six cue mechanisms.

HEART-BENCH appendix G.4.1. Each mechanism compares one side of a memory with one side of the situation:

- structure    the whole narrative with the background            (TF-IDF cosine)
- emotion      feeling and strength with the situation's tone and pressure
- self_schema  what the memory settled with what is at stake      (TF-IDF cosine)
- script       the rule it left behind with what can be done      (TF-IDF cosine)
- identity     the tags of its threads, weighted by its strength
- somatic      its triggers and its place with setting and senses (TF-IDF cosine)

Scores are standardised over the character's memories, so that no mechanism wins by its scale.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schemas.tables import Row, term_ids

Matrix = NDArray[np.float64]

_EMOTIONS = Path(__file__).parents[2] / "seeds" / "emotions.toml"
_PRESSURE = {"Low": 0.2, "Medium": 0.4, "High": 0.6, "Very High": 0.8, "Extreme": 1.0}

# How much the narrative's likeness counts against variety when memories are ranked.
_VARIETY = 0.35
# Cosine of narratives above which two memories carry the same thing: the second comes after all others.
_SAME = 0.9
_LAST = 1e6


class Associations:
    """The memories of one character, ready to be called up.

    ``scores(scenario)`` has the shape (memories, mechanisms), columns in the order of the vocabulary
    ``cue_mechanisms``.
    """

    def __init__(self, memories: Sequence[Row]) -> None:
        self.memories = list(memories)
        self.position = {row["id"]: index for index, row in enumerate(self.memories)}
        self._narrative = _Side([f"{m['content_summary']} {m['content_full']}" for m in self.memories])
        self._belief = _Side([m["psych_conclusion"] for m in self.memories])
        self._rule = _Side([m["behavior_policy"] for m in self.memories])
        self._tags = _Side([" ".join(m["relevance_tags"]) for m in self.memories])
        self._senses = _Side([f"{m['context']} {' '.join(m['triggers'])}" for m in self.memories])
        self._strength = np.array([m["emotion_signature"]["intensity"] for m in self.memories])
        self._valence = np.array([_valence(m["emotion_signature"]) for m in self.memories])

    def scores(self, scenario: Row) -> Matrix:
        """Standardised strength of every mechanism for every memory."""
        setting, trigger = scenario["setting"], scenario["trigger_event"]
        whole = f"{scenario['context_text']} {trigger['message_content']}"
        stake = _stake(scenario)
        act = f"{trigger['action_required'] or ''} {scenario['description_for_agent']}"
        place = f"{setting['location']} {setting['time']} {setting['atmosphere']} {scenario['context_text']}"
        sides = {
            "structure": self._narrative.likeness(whole),
            "emotion": self._resonance(scenario),
            "self_schema": self._belief.likeness(f"{stake} {scenario['description_for_agent']}"),
            "script": self._rule.likeness(f"{act} {stake}"),
            "identity": (self._tags.likeness(f"{scenario['category']} {stake}") + 0.1) * self._strength,
            "somatic": self._senses.likeness(place),
        }
        return np.column_stack([_standardised(sides[mechanism]) for mechanism in term_ids("cue_mechanisms")])

    def likeness(self, positions: Sequence[int]) -> Matrix:
        """Cosines between the narratives of some memories, shape (n, n)."""
        rows = self._narrative.matrix[list(positions)]
        return np.asarray((rows @ rows.T).todense())

    def _resonance(self, scenario: Row) -> Matrix:
        tone, pressure = _tone(scenario), _PRESSURE[scenario["intensity"]]
        same_sign = 1 - np.abs(self._valence - tone) / 2
        return np.asarray(same_sign * (1 - np.abs(self._strength - pressure)) * (0.5 + self._strength))


def screen(scores: Matrix, positions: Sequence[int], budget: int) -> list[tuple[int, str]]:
    """The memories of a batch that come up, at most ``budget``, with the mechanism that is strongest."""
    mechanisms, places = term_ids("cue_mechanisms"), np.array(positions)
    chosen = np.sort(places[np.lexsort((places, -_strengths(scores[places])))[:budget]])
    return [(int(p), mechanisms[cue]) for p, cue in zip(chosen, scores[chosen].argmax(axis=1), strict=True)]


def rank(known: Associations, scores: Matrix, positions: Sequence[int], target: int) -> list[tuple[int, str]]:
    """The ``target`` memories that enter the mind, most influential first, with their type codes.

    Strength against variety: of memories that carry the same thing the earliest or strongest stays,
    and other times of life are preferred (appendix G.4.2).
    """
    positions = sorted(positions)
    strength = _strengths(scores[positions])
    likeness = known.likeness(positions)
    stages = np.array([known.memories[p]["stage"] for p in positions])
    crowded = np.zeros(len(positions))
    nearest = np.zeros(len(positions))
    left = np.ones(len(positions), dtype=bool)
    chosen: list[tuple[int, str]] = []
    for _ in range(min(target, len(positions))):
        worth = np.where(left, strength - _VARIETY * 10 * nearest - 0.03 * crowded, -np.inf)
        worth -= np.where(nearest > _SAME, _LAST, 0.0)
        best = int(np.argmax(worth))  # the first of equals is the earliest
        left[best] = False
        crowded += stages == stages[best]
        nearest = np.maximum(nearest, likeness[best])
        chosen.append((positions[best], _type(scores[positions[best]])))
    return chosen


def _strengths(rows: Matrix) -> Matrix:
    """One number a row for six mechanisms: the strongest counts most, the others support it."""
    ordered = np.sort(rows, axis=1)[:, ::-1]
    return np.asarray(ordered[:, 0] + 0.5 * ordered[:, 1] + 0.2 * ordered[:, 2:].sum(axis=1))


_TYPES = {"structure": "AM", "emotion": "ER", "self_schema": "CB", "script": "BS", "identity": "NI", "somatic": "DL"}


def _type(row: Matrix) -> str:
    return _TYPES[term_ids("cue_mechanisms")[int(np.argmax(row))]]


class _Side:
    """One side of all memories as a TF-IDF matrix."""

    def __init__(self, texts: Sequence[str]) -> None:
        from sklearn.feature_extraction.text import TfidfVectorizer

        self._vectorizer = TfidfVectorizer(stop_words="english", sublinear_tf=True)
        try:
            self.matrix: Any = self._vectorizer.fit_transform(texts)
        except ValueError:  # nothing but stop words: nothing is like anything
            self.matrix = self._vectorizer = None

    def likeness(self, text: str) -> Matrix:
        if self._vectorizer is None:
            return np.zeros(1)
        return np.asarray((self.matrix @ self._vectorizer.transform([text]).T).todense()).ravel()


def _standardised(values: Matrix) -> Matrix:
    spread = float(values.std())
    return (values - values.mean()) / spread if spread > 1e-12 else np.zeros_like(values)


def _stake(scenario: Row) -> str:
    assessed = scenario["assessed_dimensions"] or {"trait_pressures": [], "value_conflicts": []}
    return " ".join(item["dilemma"] for item in (*assessed["trait_pressures"], *assessed["value_conflicts"]))


def _tone(scenario: Row) -> float:
    """Valence of a situation in [-1, 1] by its DIAMONDS ratings; -0.5 where it has none (most press)."""
    ratings = scenario["diamonds"]
    return -0.5 if ratings is None else float(ratings["positivity"] - ratings["negativity"]) / 6


@functools.cache
def _emotions() -> Mapping[str, float]:
    return dict(tomllib.loads(_EMOTIONS.read_text("utf-8"))["valence"])


def _valence(signature: Row) -> float:
    """Valence of a feeling in [-1, 1]; words that are not in the list count as neither."""
    known = _emotions()
    return 0.7 * known.get(signature["primary"].lower(), 0.0) + 0.3 * known.get(signature["secondary"].lower(), 0.0)
