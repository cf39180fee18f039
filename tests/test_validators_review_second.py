"""A second, blind round: the same people and texts, in another order, with nothing said; and how far they agree."""

import shutil
from pathlib import Path

import pytest
from review_samples import AS_IS, PEOPLE, Play

from schemas.workspace import Workspace

WORSE = {**AS_IS, "verdict": "unacceptable", "rationale": "Not like this."}


@pytest.fixture
def play(tmp_path, small_heart, capsys):
    return Play(tmp_path / "first", small_heart, capsys)


def reviewed(play):
    """A whole first round: one decision reworded by the arbitrator, one dropped, two as they are."""
    texts = {who: row["final_decision"] for who, row in play.decisions().items()}
    play.export()
    odd = {texts["CHAR_02"]: WORSE, texts["CHAR_03"]: {"suitable": "no", "reason": "age"}}
    play.judge(odd)
    play.again()
    play.call("import", play.fill("B1", {"ruling": "rewrite", "edit": "I wait. I go at six."}))
    return texts


def repeat(play, to, *words):
    code, document, err = play.call("repeat", "--to", to, *words)
    second = Play.__new__(Play)
    second.root, second.capsys, second.space = to, play.capsys, Workspace(to, "heart")
    second.folder = second.space.folder / "review/decisions"
    return code, document, err, second


def test_texts_come_back_as_they_read_first_also_edited_and_dropped_ones(play, tmp_path):
    texts = reviewed(play)
    assert set(play.decisions()) < set(texts)  # one was dropped
    before = play.bytes()
    code, document, _, second = repeat(play, tmp_path / "again")
    assert (code, document["waiting"], document["changed"]) == (0, dict.fromkeys(PEOPLE[:3], 4), 0)
    assert {row["text"] for row in second.sheet("A1")} == set(texts.values())
    assert play.bytes() == before
    assert not any(row[name] for row in second.sheet("A1") for name in ("suitable", "verdict", "edit", "rationale"))


def test_the_order_and_the_seals_are_others_and_a_sheet_of_the_first_round_is_refused(play, tmp_path):
    texts = reviewed(play)
    first = {row["text"]: row["seal"] for row in play.sheet("B1")}
    *_, second = repeat(play, tmp_path / "again")
    assert first.keys() <= set(texts.values())
    old = [{**row, **AS_IS} for row in second.sheet("A1")]
    for row in old:
        row["seal"] = "1/4:" + "0" * 12
    code, document, _ = second.call("import", second.save("A1", old))
    assert (code, document["taken"]) == (1, 0)


def test_people_are_compared_with_themselves_on_what_both_rounds_have(play, tmp_path):
    texts = reviewed(play)
    *_, second = repeat(play, tmp_path / "again")
    second.call("import", second.fill("A1", AS_IS))
    second.call("import", second.fill("A3", lambda text: WORSE if text == texts["CHAR_01"] else AS_IS))
    code, document, err = play.call("status", "--second", second.root)
    assert code == 0, err
    found = document["again"]
    assert found["A1"]["verdict"]["items"] == 4 and found["A1"]["verdict"]["same_share"] == 1.0
    assert found["A2"]["verdict"] == {
        "items": 0,
        "same_share": None,
        "cohen_kappa": None,
        "krippendorff_alpha_ordinal": None,
    }
    # A3: of three texts judged suitable both times, one as before; suitability itself differs on the dropped one.
    assert found["A3"]["verdict"]["items"] == 3 and found["A3"]["verdict"]["same_share"] == pytest.approx(1 / 3)
    assert found["A3"]["suitable"]["items"] == 4 and found["A3"]["suitable"]["same_share"] == 0.75
    assert second.call("status")[0] in (0, 1) and len(play.reviews()) == 13


def test_gold_comes_from_the_first_round_alone(play, tmp_path):
    reviewed(play)
    before = play.bytes()
    *_, second = repeat(play, tmp_path / "again")
    second.call("import", *(second.fill(person, WORSE) for person in PEOPLE[:3]))
    play.call("status", "--second", second.root)
    assert play.bytes() == before


def test_a_part_is_drawn_by_the_seed_and_the_same_one_again(play, tmp_path):
    reviewed(play)
    drawn = []
    for name in ("one", "two"):
        *_, second = repeat(play, tmp_path / name, "--limit", 2)
        drawn.append([row["item"] for row in second.sheet("A2")])
    assert drawn[0] == drawn[1] and len(drawn[0]) == 2


@pytest.mark.parametrize(
    ("prepare", "said"),
    [
        (lambda play, to: None, "no review of decisions"),
        (lambda play, to: play.export(), "nothing to judge again"),
        (lambda play, to: (reviewed(play), shutil.copytree(play.root, to)), "a workspace stands there already"),
    ],
)
def test_a_second_round_that_cannot_be_is_refused_in_one_line(play, tmp_path, prepare, said):
    to = tmp_path / "again"
    prepare(play, to)
    code, _, err, _ = repeat(play, to)
    assert code == 2 and said in err and err.count("\n") == 1


def test_a_text_whose_person_has_changed_is_left_out_and_counted(play, tmp_path):
    reviewed(play)
    people = [
        {**row, "occupation": "baker"} if row["character_id"] == "CHAR_01" else row
        for row in play.space.rows("characters")
    ]
    for key in play.space.keys("characters"):
        play.space.write("characters", people, key)
    code, document, _, second = repeat(play, tmp_path / "again")
    assert (code, document["changed"], len(second.sheet("A1"))) == (0, 1, 3)
    assert Path(document["folder"]) == second.folder
