"""Small words against the published texts, prose against the ledger, the family at home."""

import pytest

from perf.quality.text_words import PUBLISHED, factor, family_at_home, invented, rates
from perf.quality.text_words import main as print_rates


def memory(number, text, age=35, context="At home, Monday evening", refs=()):
    return {
        "id": f"MEM_01_{number:04}",
        "character_id": "CHAR_01",
        "age": age,
        "context": context,
        "content_full": text,
        "content_summary": "",
        "ledger_refs": list(refs),
    }


def fact(number, kind, name, from_age=30):
    return {
        "fact_id": f"LED_01_{number:03}", "character_id": "CHAR_01", "kind": kind, "role": kind, "name": name,
        "from_age": from_age, "to_age": 50, "ends_by": None, "detail": "", "linked_to": [],
    }  # fmt: skip


LEDGER = [fact(1, "child", "Agung"), fact(2, "partner", "Reese", 25), fact(3, "friend", "Keren", 20)]


def test_rates_are_in_a_thousand_words():
    assert rates(["So the cat, but not the dog."] * 3)["the"] == pytest.approx(1000 * 2 / 7)


@pytest.mark.parametrize(("rate", "times"), [(54.35, 1), (50, 1), (22.4, 2), (108.7, 2)])
def test_factor_is_one_between_the_published_rates_and_counts_beyond_them(rate, times):
    assert factor("the", rate) == pytest.approx(times)


def test_animal_that_the_ledger_does_not_have_is_counted():
    rows = [memory(1, "Our dog barked at me."), memory(2, "I fed the birds.")]
    assert invented(rows, LEDGER) == 1
    assert invented(rows, [*LEDGER, {**fact(4, "pet", "Mopsy"), "role": "dog"}]) == 0


def test_share_is_of_the_memories_of_home_after_the_first_birth():
    rows = [
        memory(1, "", refs=["LED_01_001"]),
        memory(2, "", refs=["LED_01_003"]),
        memory(3, "", age=28),
        memory(4, "", context="In a café, Monday"),
    ]
    assert family_at_home(rows, LEDGER) == 0.5
    assert family_at_home(rows, LEDGER[1:]) is None


def test_published_rates_are_printed_from_a_folder(tmp_path, capsys):
    text = "The long sentence of a scenario that is told so that somebody reads it, but not aloud."
    for name in ("scenarios.json", "ground_truth.json"):
        (tmp_path / name).write_text(f'{{"a": ["{text}", "label"]}}', "utf-8")
    assert print_rates([str(tmp_path)]) == 0
    said = capsys.readouterr().err
    assert all(f"[{name}]" in said for name in PUBLISHED) and "so = 58.82" in said
