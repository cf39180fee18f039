"""Profile, situation and task in words: for the user agent, for an assistant that knows the user, and for judges.

PersonaLens 3.1: demographics without the id; preferences and past interactions of the task's domains alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from schemas.tables import Row

_SITUATION = {
    "location": "place",
    "device": "device",
    "time_of_day": "time of day",
    "day_of_week": "day",
    "environment": "surroundings",
}


@dataclass(frozen=True)
class Scene:
    """One user with one task in one situation, and the catalogue of preference types."""

    user: Row
    task: Row
    situation: Row

    @property
    def id(self) -> str:
        """User and task; unique within a release."""
        return f"{self.user['user_id']}/{self.task['task_id']}"

    @property
    def domain(self) -> str:
        """The domain of a task in one, else ``several``: PersonaLens counts tasks in several as one group."""
        return str(self.task["domains"][0]) if len(self.task["domains"]) == 1 else "several"


def demographics(user: Row) -> str:
    """Who the user is, a line a field; what was not answered is left out."""
    return "\n".join(
        f"- {name.replace('_', ' ')}: {value}" for name, value in user["demographics"].items() if value != "N/A"
    )


def affinities(scene: Scene) -> str:
    """What the user prefers in the task's domains."""
    return "\n".join(f"- {line}" for line in _affinities(scene))


def interactions(scene: Scene) -> str:
    """What happened before in the task's domains, a paragraph each."""
    wanted = scene.task["domains"]
    return "\n\n".join(
        f"{entry['domain']}: {entry['summary']}" for entry in scene.user["interactions"] if entry["domain"] in wanted
    )


def situation(scene: Scene) -> str:
    """Where, when and on what the user has the task."""
    return "\n".join(f"- {label}: {scene.situation[name]}" for name, label in _SITUATION.items())


def fields(scene: Scene) -> Mapping[str, str]:
    """The texts that judges may be shown of a dialogue."""
    return {
        "demographics": demographics(scene.user),
        "affinities": affinities(scene),
        "interactions": interactions(scene),
        "situation": situation(scene),
        "intent": str(scene.task["intent"]),
        "goal": str(scene.task["goal"]),
    }


def _affinities(scene: Scene) -> Iterator[str]:
    for entry in scene.user["affinities"]:
        if entry["domain"] in scene.task["domains"]:
            yield f"{entry['domain']}, {entry['preference']}: {', '.join(entry['values']) or 'none'}"
