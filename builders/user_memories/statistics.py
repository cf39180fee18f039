"""The computed part of a memory: exact figures of all source turns.

The published memories take these figures from the model's answer, and its prompt shows only the conversations that
fit; calibration then reads them. Here they are counted, whatever writes the prose (PersTurnBench 3.2; limits of v3
from the released code).
"""

from __future__ import annotations

from builders.user_memories.sources import Sources
from schemas.tables import Row

SCORES = (1, 2, 3, 4, 5)

_STYLES = ((4.4, "lenient"), (4.0, "medium"), (3.6, "strict-ish"))
_EVIDENCE = ((0, "none"), (3, "sparse"), (8, "moderate"))


def statistics_of(sources: Sources) -> Row:
    """The figures that every memory has."""
    counts = sources.scores
    turns = sum(counts.values())
    return {
        "source_tasks": sources.tasks,
        "n_history_sessions": len(sources.conversations),
        "n_history_turns": turns,
        "avg_satisfaction_score": round(sum(score * count for score, count in counts.items()) / turns, 4),
        "score_distribution": {f"score_{score}": counts[score] for score in SCORES},
    }


def evidence_of(sources: Sources) -> Row:
    """The figures that v3 adds."""
    counts = sources.scores
    mean = sum(score * count for score, count in counts.items()) / sum(counts.values())
    low = sum(counts[score] for score in (1, 2, 3))
    return {
        "calibration_summary": next((name for least, name in _STYLES if mean >= least), "strict"),
        "can_compare_3_vs_4": counts[3] > 0 and counts[4] > 0,
        "can_compare_4_vs_5": counts[4] > 0 and counts[5] > 0,
        "low_score_evidence_level": next((name for most, name in _EVIDENCE if low <= most), "rich"),
    }
