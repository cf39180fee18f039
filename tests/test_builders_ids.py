"""Ids and chance: stable, reversible, and independent of anything but what is being made."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders.ids import anonymous_memory_id, character_number, fact_id, memory_id, question_id
from schemas.randomness import rng_for

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize(
    ("published", "own"),
    [
        ("MEM_CHAR_01_N_HIGH_0005", "MEM_01_0005"),
        ("MEM_CHAR_11_NEUTRAL_0001", "MEM_11_0001"),
        ("MEM_CHAR_04_0017", "MEM_04_0017"),
        ("MEM_04_017", "MEM_04_0017"),
        ("MEM_01_12345", "MEM_01_12345"),
    ],
)
def test_a_published_memory_id_loses_its_archetype(published, own):
    assert anonymous_memory_id(published) == own


@pytest.mark.parametrize(
    "text", ["", "MEM_1_0001", "MEM_CHAR_01_X_HIGH_0005", "MEM_01_0001\n", "xMEM_01_0001", "MEM_01_01"]
)
def test_what_is_no_memory_id_is_refused(text):
    with pytest.raises(ValueError, match="not a memory id"):
        anonymous_memory_id(text)


@pytest.mark.parametrize(("text", "number"), [("CHAR_04", "04"), ("CHAR_04_C_LOW", "04"), ("CHAR_11_NEUTRAL", "11")])
def test_a_character_has_a_number(text, number):
    assert character_number(text) == number


def test_ids_carry_the_number_of_their_character():
    assert memory_id("CHAR_04", 17) == "MEM_04_0017"
    assert fact_id("CHAR_04", 17) == "LED_04_017"
    assert question_id("CHAR_04", "SCN_ADOLESCENCE_1") == "Q_CHAR_04_SCN_ADOLESCENCE_1"


@given(st.integers(0, 2**63 - 1), st.text(), st.text(), st.text(), st.integers(0, 10**6))
def test_the_same_names_give_the_same_chance(seed, benchmark, table, key, index):
    first, second = (rng_for(seed, benchmark, table, key, index) for _ in range(2))
    assert [first.random() for _ in range(3)] == [second.random() for _ in range(3)]


def test_every_part_of_the_name_matters():
    names = [(7, "a", "b", "c", 0), (8, "a", "b", "c", 0), (7, "x", "b", "c", 0), (7, "a", "x", "c", 0),
             (7, "a", "b", "x", 0), (7, "a", "b", "c", 1), (7, "ab", "", "c", 0)]  # fmt: skip
    assert len({rng_for(*name).random() for name in names}) == len(names)


def test_chance_does_not_depend_on_the_process_or_its_hash_seed():
    script = "from schemas.randomness import rng_for; print(rng_for(7, 'heart', 'memories', 'CHAR_04').random())"
    said = {
        subprocess.run(
            [sys.executable, "-c", script],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1")
    }
    assert len(said) == 1
