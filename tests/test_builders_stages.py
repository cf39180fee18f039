"""The life stage of an age, as memories are planned in them."""

import pytest

from builders.memories.stages import memory_stage


@pytest.mark.parametrize(
    ("age", "stage"), [(6, "school_age"), (12, "school_age"), (13, "adolescence"), (50, "entering_midlife")]
)
def test_an_age_has_one_memory_stage(age, stage):
    assert memory_stage(age)["id"] == stage


@pytest.mark.parametrize("age", [5, 51, -1])
def test_an_age_outside_6_to_50_has_no_memory_stage(age):
    with pytest.raises(ValueError, match="expected 6 to 50"):
        memory_stage(age)
