"""Sanitising: ids leave the text of a memory, and nothing else does."""

import pytest
from conftest import one_row, rows_of
from hypothesis import given

from builders.memories.sanitise import sanitised

TEXTS = ("context", "content_summary", "content_full", "psych_conclusion", "behavior_policy")


def said(text):
    return sanitised({**one_row("memories"), "content_full": text}, "Role D")["content_full"]


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("CHAR_04 opens the door.", "Role D opens the door."),
        ("I am CHAR_04_C_LOW and tired.", "I am Role D and tired."),
        ("char_11_neutral said so.", "Role D said so."),
        ("As on that Friday (MEM_04_0017), I wait.", "As on that Friday, I wait."),
        ("My aunt LED_04_012 waves.", "My aunt waves."),
        ("See MEM_CHAR_01_N_HIGH_0005.", "See."),
        ("A charming CHARTER of 1204.", "A charming CHARTER of 1204."),
    ],
)
def test_ids_become_labels_or_go(text, clean):
    assert said(text) == clean


def test_every_text_field_is_cleaned():
    row = one_row("memories")
    marked = {
        **row,
        **dict.fromkeys(TEXTS, "CHAR_04"),
        "triggers": ["CHAR_04"] * 4,
        "relevance_tags": ["CHAR_04"] * 4,
        "emotion_signature": {**row["emotion_signature"], "primary": "CHAR_04", "secondary": "CHAR_04"},
    }
    clean = sanitised(marked, "Role D")
    sent = {name: value for name, value in clean.items() if name not in ("id", "character_id", "ledger_refs")}
    assert "CHAR_" not in str(sent) and str(sent).count("Role D") == 15


@given(rows_of("memories"))
def test_a_row_without_ids_in_its_text_keeps_all_but_outer_spaces(row):
    clean = sanitised(row, "Role D")
    assert {name: clean[name] for name in TEXTS} == {name: row[name].strip() for name in TEXTS}
    assert {name for name in row if name not in clean} == set()
