"""How far apart characters are: the paper's own Table 4 as the golden case."""

import polars as pl
import pytest

from validators.frames import ROW
from validators.rules.separation import crossing, distances, figures

# HEART-BENCH Table 4: O, C, E, A, N.
TABLE_4 = {
    "CHAR_01": (0.85, 0.50, 0.30, 0.55, 0.95),
    "CHAR_02": (0.50, 0.55, 0.50, 0.60, 0.10),
    "CHAR_03": (0.45, 0.95, 0.40, 0.60, 0.30),
    "CHAR_04": (0.80, 0.10, 0.60, 0.65, 0.45),
    "CHAR_05": (0.65, 0.55, 0.95, 0.70, 0.35),
    "CHAR_06": (0.75, 0.70, 0.10, 0.45, 0.50),
    "CHAR_07": (0.55, 0.60, 0.55, 0.95, 0.55),
    "CHAR_08": (0.65, 0.85, 0.45, 0.10, 0.35),
    "CHAR_09": (0.95, 0.35, 0.65, 0.55, 0.40),
    "CHAR_10": (0.10, 0.75, 0.40, 0.55, 0.45),
    "CHAR_11": (0.50, 0.50, 0.50, 0.50, 0.50),
}
VECTORS = {name: dict(zip("OCEAN", scores, strict=True)) for name, scores in TABLE_4.items()}

# The 17 pairs of Table 4 that break the paper's own claim of 0.45.
BELOW = {
    ("04", "09"): 0.25, ("03", "06"): 0.30, ("05", "09"): 0.30, ("03", "07"): 0.35, ("03", "10"): 0.35,
    ("06", "08"): 0.35, ("01", "07"): 0.40, ("02", "03"): 0.40, ("02", "06"): 0.40, ("02", "10"): 0.40,
    ("02", "11"): 0.40, ("04", "11"): 0.40, ("05", "07"): 0.40, ("06", "11"): 0.40, ("07", "09"): 0.40,
    ("08", "11"): 0.40, ("10", "11"): 0.40,
}  # fmt: skip


FRAME = pl.DataFrame({ROW: list(VECTORS), "character_id": list(VECTORS), "big_five": list(VECTORS.values())})


def too_near(threshold):
    return crossing(threshold).broken({"characters": FRAME}).rows()


def test_table_4_has_55_pairs_of_which_these_17_are_below_the_claim_and_none_below_a_quarter():
    said = figures(distances(VECTORS), 0.25)
    assert said["pairs"] == 55
    assert said["nearest"] == 0.25
    assert said["below_threshold"] == []
    below = {
        tuple(name.removeprefix("CHAR_") for name in each["pair"]): each["distance"] for each in said["below_claimed"]
    }
    assert below == BELOW


def test_table_4_makes_no_finding_at_the_default_threshold():
    assert too_near(0.25) == []


@pytest.mark.parametrize(("threshold", "count"), [(0.26, 1), (0.30, 1), (0.31, 3), (0.45, 17)])
def test_a_higher_threshold_makes_a_finding_for_each_nearer_pair(threshold, count):
    assert len(too_near(threshold)) == count


def test_the_pairs_come_nearest_first():
    found = list(distances(VECTORS).values())
    assert found == sorted(found)


@pytest.mark.parametrize("vectors", [{}, {"CHAR_01": VECTORS["CHAR_01"]}])
def test_fewer_than_two_characters_have_no_pairs(vectors):
    assert figures(distances(vectors), 0.25)["pairs"] == 0
    assert figures(distances(vectors), 0.25)["nearest"] is None
