"""The prose of a memory without a model: what can be counted in the source turns, said in sentences.

It compares neighbouring scores as the paper asks (PersTurnBench 3.2, H.1): reasons of low scores, and what replies
with 5 have more of than replies with 4, measured in their text. Phrases: ``seeds/user_memories.toml``.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from builders.user_memories.sources import Sources, SourceTurn
from builders.user_memories.statistics import evidence_of, statistics_of
from schemas.tables import Row

_SEEDS = Path(__file__).parents[1] / "seeds" / "user_memories.toml"

_MOST_REQUIREMENTS = 3
_OPTION = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+(.*)$", re.MULTILINE)
_STEP = re.compile(r"\b(?:then|in order|to do this|begin|start|first)\b", re.IGNORECASE)
_MET = re.compile(r"\b(?:so|since|kept|below|without|fits|no)\b", re.IGNORECASE)


def prose_of(sources: Sources) -> Row:
    """The prose fields of a memory, ``evidence_notes`` included."""
    turns = list(sources.turns())
    low = [turn for turn in turns if turn.score <= 3]
    missed = _missed(low)
    figures, evidence = statistics_of(sources), evidence_of(sources)
    phrases, mean = _phrases(), f"{figures['avg_satisfaction_score']:.2f}"
    style = phrases["style"][evidence["calibration_summary"]].format(turns=len(turns), mean=mean)
    return {
        "scoring_style": style,
        "four_vs_five_distinction": _four_five(turns),
        "three_vs_four_distinction": _three_four(len(low), missed),
        "user_specific_requirements": _requirements(missed),
        "preferred_response_format": _format(turns),
        "task_specific_observations": [
            {"task_name": task, "observation": _observation([turn for turn in turns if turn.task == task])}
            for task in sources.tasks
            if any(turn.task == task for turn in turns)
        ],
        "evidence_notes": phrases["notes"][evidence["low_score_evidence_level"]].format(low=len(low)),
    }


def _four_five(turns: Sequence[SourceTurn]) -> str:
    fours, fives = ([_features(t.reply) for t in turns if t.score == score] for score in (4, 5))
    if not fours or not fives:
        return str(_phrases()["four_five"]["unmeasured"])
    apart = {name: _mean(fives, name) - _mean(fours, name) for name in fives[0]}
    most = max(sorted(apart), key=apart.__getitem__)
    reason = _phrases()["reason"][most]
    return str(_phrases()["four_five"]["measured"].format(reason=reason, difference=f"{apart[most]:.2f}"))


def _three_four(low: int, missed: Sequence[tuple[str, int]]) -> str:
    phrases = _phrases()["three_four"]
    if not missed:
        return str(phrases["unmeasured"])
    names = _phrases()["reason"]
    also = phrases["also"].format(other=names[missed[1][0]]) if len(missed) > 1 else ""
    return str(phrases["measured"].format(low=low, share=missed[0][1], reason=names[missed[0][0]], also=also))


def _requirements(missed: Sequence[tuple[str, int]]) -> list[str]:
    phrases, names = _phrases()["requirements"], _phrases()["reason"]
    own = missed[:_MOST_REQUIREMENTS] if missed and missed[0][0] != "other" else []
    return [phrases["missed"].format(reason=names[r], count=count) for r, count in own] or [phrases["none"]]


def _format(turns: Sequence[SourceTurn]) -> str:
    top = max(turn.score for turn in turns)
    best = [turn.reply for turn in turns if turn.score == top]
    options = [_OPTION.findall(reply) for reply in best]
    if not any(options):
        words = round(sum(len(reply.split()) for reply in best) / len(best))
        return str(_phrases()["format"]["text"].format(words=words))
    count = round(sum(map(len, options)) / len(options))
    facts = _mean([_features(reply) for reply in best], "detail")
    return str(_phrases()["format"]["options"].format(options=max(count, 1), facts=round(facts)))


def _observation(turns: Sequence[SourceTurn]) -> str:
    low = [turn for turn in turns if turn.score <= 3]
    if not low:
        return str(_phrases()["observation"]["fine"].format(turns=len(turns)))
    reason = _missed(low)[0][0]
    text = _phrases()["observation"]["low"]
    return str(text.format(count=len(low), turns=len(turns), reason=_phrases()["reason"][reason]))


def _missed(low: Sequence[SourceTurn]) -> list[tuple[str, int]]:
    """Reasons of low scores with their numbers, most frequent first; "other" only where nothing else was named."""
    counts = Counter(turn.reason for turn in low)
    named = sorted(
        ((reason, n) for reason, n in counts.items() if reason != "other"), key=lambda item: (-item[1], item[0])
    )
    return named or list(counts.items())


def _features(reply: str) -> dict[str, float]:
    """What can be counted in a reply, by reason."""
    options = _OPTION.findall(reply)
    facts = [option.count(";") + (":" in option) for option in options]
    return {
        "diversity": float(len(options)),
        "detail": sum(facts) / len(facts) if facts else 0.0,
        "usability": float(len(_STEP.findall(reply))),
        "requirement": float(len(_MET.findall(reply))),
    }


def _mean(features: Sequence[Mapping[str, float]], name: str) -> float:
    return sum(each[name] for each in features) / len(features)


@functools.cache
def _phrases() -> Mapping[str, Any]:
    return tomllib.loads(_SEEDS.read_text("utf-8"))
