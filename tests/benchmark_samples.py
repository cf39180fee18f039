"""A benchmark of one's own, of two tables, as a stranger would write it: its folder, and rows that keep its rules."""

import json
from pathlib import Path
from typing import Any

BENCHMARK = """
name = "pets"
title = "Pets and what they ate"

[tables.pets]
key = ["pet_id"]

[tables.meals]
key = ["pet_id", "day"]
file = "pet_id"

[[links]]
from = "meals.pet_id"
to = "pets.pet_id"
both_ways = true
"""

CARD = """
summary = "A few pets and their meals."
license = "cc0-1.0"
license_name = "CC0 1.0"
license_url = "https://creativecommons.org/publicdomain/zero/1.0/"
default_table = "meals"
canary = "8a4b6a0e-30cf-4a8e-9f0a-3c8f3a5f0d11"
"""

PETS: dict[str, Any] = {
    "description": "One pet a row.",
    "properties": {
        "pet_id": {"type": "integer", "minimum": 1, "description": "Number of the pet."},
        "name": {"type": "string", "minLength": 1, "description": "What it is called."},
        "kind": {"type": "string", "x-vocab": "pet_kinds", "description": "What it is."},
    },
}

MEALS: dict[str, Any] = {
    "description": "One meal a row.",
    "properties": {
        "pet_id": {"type": "integer", "minimum": 1, "description": "Who ate."},
        "day": {"type": "integer", "minimum": 1, "maximum": 366, "description": "Day of the year."},
        "food": {"type": ["string", "null"], "description": "What it was; null when nobody saw."},
    },
}

KINDS: dict[str, Any] = {
    "title": "Kinds of pets",
    "source": "us",
    "terms": [{"id": "cat", "label": "cat"}, {"id": "dog", "label": "dog"}],
}

ROWS: dict[str, list[dict[str, Any]]] = {
    "pets": [{"pet_id": 1, "name": "Mog", "kind": "cat"}, {"pet_id": 2, "name": "Rex", "kind": "dog"}],
    "meals": [
        {"pet_id": 1, "day": 1, "food": "fish"},
        {"pet_id": 1, "day": 2, "food": None},
        {"pet_id": 2, "day": 1, "food": "bones"},
    ],
}


def write_benchmark(home: Path, **files: Any) -> Path:
    """Write the folder; ``files`` replaces content: ``benchmark``, ``card``, ``pets``, ``meals``, ``kinds``.

    None leaves a file out.
    """
    content = {"benchmark": BENCHMARK, "card": CARD, "pets": PETS, "meals": MEALS, "kinds": KINDS, **files}
    names = {
        "benchmark": "benchmark.toml",
        "card": "card.toml",
        "pets": "records/pets.schema.json",
        "meals": "records/meals.schema.json",
        "kinds": "vocab/pet_kinds.json",
    }
    for part, name in names.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        text = content[part]
        if text is not None:
            (home / name).write_text(text if isinstance(text, str) else json.dumps(text), "utf-8")
    return home
