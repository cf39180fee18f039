"""Ids: how they are made, taken apart, and stripped of the archetype that published ones carry.

HEART-BENCH Table 6 (``MEM_XX_NNN``) and the released files (``MEM_CHAR_01_N_HIGH_0005``).
"""

from __future__ import annotations

import re

_TAGGED_MEMORY = re.compile(r"MEM_(?:CHAR_)?(\d{2,})_(?:[OCEAN]_(?:HIGH|LOW)_|NEUTRAL_)?(\d{3,})")
_TAGGED_CHARACTER = re.compile(r"CHAR_(\d{2,})(?:_(?:[OCEAN]_(?:HIGH|LOW)|NEUTRAL))?")


def character_number(character_id: str) -> str:
    """``CHAR_04`` -> ``04``; a trailing archetype is dropped. Raises ValueError."""
    found = _TAGGED_CHARACTER.fullmatch(character_id)
    if found is None:
        raise ValueError(f"not a character id: {character_id!r}")
    return found[1]


def memory_id(character_id: str, number: int) -> str:
    """``CHAR_04``, 17 -> ``MEM_04_0017``."""
    return f"MEM_{character_number(character_id)}_{number:04d}"


def fact_id(character_id: str, number: int) -> str:
    """``CHAR_04``, 17 -> ``LED_04_017``."""
    return f"LED_{character_number(character_id)}_{number:03d}"


def question_id(character_id: str, scenario_id: str) -> str:
    """``CHAR_04``, ``SCN_ADOLESCENCE_1`` -> ``Q_CHAR_04_SCN_ADOLESCENCE_1``."""
    return f"Q_{character_id}_{scenario_id}"


def anonymous_memory_id(published: str) -> str:
    """``MEM_CHAR_01_N_HIGH_0005`` -> ``MEM_01_0005``. Raises ValueError for what is no memory id."""
    found = _TAGGED_MEMORY.fullmatch(published)
    if found is None:
        raise ValueError(f"not a memory id: {published!r}")
    return f"MEM_{found[1]}_{int(found[2]):04d}"
