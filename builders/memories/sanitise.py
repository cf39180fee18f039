"""Identifiers out of the text: ids become gender-neutral labels in every text field of a memory.

HEART-BENCH 3.2, stage 3: an id carries the archetype in the published files, and any id in a narrative
tells a model which rows belong together. Names and gendered words cannot be fixed by putting a label in
their place without breaking the sentence; those the audits find (``identity.named``,
``identity.gendered``) and ``builders.memories.repair`` has rewritten.
"""

from __future__ import annotations

import re

from schemas.tables import Row

_TEXTS = ("context", "content_summary", "content_full", "psych_conclusion", "behavior_policy")
_LISTS = ("triggers", "relevance_tags")
_ARCHETYPE = r"(?:_(?:[OCEAN]_(?:HIGH|LOW)|NEUTRAL))?"
_CHARACTER = re.compile(rf"\bCHAR_\d{{2,}}{_ARCHETYPE}\b", re.IGNORECASE)
_ROW = re.compile(r"\s*[\[(]?\b(?:MEM|LED|SCN)_[A-Z0-9_]*\d\b[\])]?")


def sanitised(row: Row, label: str) -> Row:
    """The memory with ids of characters replaced by ``label`` and ids of rows taken out, in every text field."""

    def clean(text: str) -> str:
        return _ROW.sub("", _CHARACTER.sub(label, text)).strip()

    feeling = row["emotion_signature"]
    return {
        **row,
        **{name: clean(row[name]) for name in _TEXTS},
        **{name: [clean(item) for item in row[name]] for name in _LISTS},
        "emotion_signature": {
            **feeling,
            "primary": clean(feeling["primary"]),
            "secondary": clean(feeling["secondary"]),
        },
    }
