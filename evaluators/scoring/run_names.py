"""A name for each run of a list: its model, its setting, and what else tells those of one name apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_DETAILS = (
    "setting", "k", "embedder", "manager", "orders", "samples", "wordings", "memory", "flip", "context", "ending",
    "user", "limit", "seed", "judges",
)  # fmt: skip


def names_of(results: Sequence[Mapping[str, Any]]) -> list[str]:
    """A name for each result, different from all others: only details in which runs of one name differ are in it.

    A detail that a run does not have (nothing about its people was changed) is not in its name."""
    runs = [result["run"] for result in results]
    made = [f"{run['model']}, {run['setting']}" if "setting" in run else str(run["model"]) for run in runs]
    for detail in _DETAILS:
        groups: dict[str, set[str]] = {}
        for run, name in zip(runs, made, strict=True):
            groups.setdefault(name, set()).add(str(run.get(detail)))
        made = [
            f"{name}, {_detail(run, detail)}" if run.get(detail) is not None and len(groups[name]) > 1 else name
            for name, run in zip(made, runs, strict=True)
        ]
    return [
        name if name not in made[:place] else f"{name} ({made[:place].count(name) + 1})"
        for place, name in enumerate(made)
    ]


def _detail(run: Mapping[str, Any], detail: str) -> str:
    return f"judged by {', '.join(run[detail])}" if detail == "judges" else f"{detail} {run[detail]}"
