"""How evenly the users of a release spread over preferences, and its situations over places, hours and devices.

PersonaLens 2.4, Tables 8 and 9: evenness of a preference type over all values of all users, whatever the mask says.
``python -m audits.evenness`` has every type by itself.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from releases import Release
from schemas.evenness import evenness

SITUATION = ("device", "time_of_day", "day_of_week", "environment")


def evenness_figures(release: Release) -> dict[str, Any]:
    """Mean and extremes over preference types, and each field of situations; None where nothing was counted."""
    seen: dict[str, Counter[str]] = defaultdict(Counter)
    for user in release.rows("users"):
        for entry in user["affinities"]:
            seen[f"{entry['domain']}: {entry['preference']}"].update(entry["values"])
    values = {name: found for name, counts in seen.items() if (found := evenness(counts.values())) is not None}
    fields = release.table("situations", list(SITUATION))
    return {
        "types": len(values),
        "mean": sum(values.values()) / len(values) if values else None,
        "least": min(values.items(), key=lambda one: (one[1], one[0])) if values else None,
        "most": max(values.items(), key=lambda one: (one[1], one[0])) if values else None,
        "situations": {name: evenness(Counter(fields[name].to_pylist()).values()) for name in SITUATION},
    }
