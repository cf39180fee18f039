"""Pairs and ratings go through the same machinery; agreement and rank correlation come out."""

import csv
import io

import orjson
import pytest

from schemas.workspace import Workspace
from validators.review.__main__ import main

PEOPLE = ("R1", "R2", "R3")


@pytest.fixture
def call(tmp_path, capsys):
    def run(*words):
        capsys.readouterr()
        code = main([words[0], "--workspace", str(tmp_path / "build"), "--json", *map(str, words[1:])])
        out, err = capsys.readouterr()
        return code, orjson.loads(out) if out else None, err

    return run


def items(tmp_path, rows):
    path = tmp_path / "items.jsonl"
    path.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    return path


def answer(tmp_path, kind, person, field, by_text):
    path = tmp_path / f"build/heart/review/{kind}/{person}.csv"
    rows = list(csv.DictReader(io.StringIO(path.read_bytes().decode("utf-8-sig"))))
    for row in rows:
        row[field] = by_text(row)
    with path.open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    return path


PAIRS = [
    {
        "id": f"p{i}",
        "question": "Which is louder?",
        "text": f"LOUD {i}",
        "other_text": f"quiet {i}",
        "expected": 2 - i % 4,
    }
    for i in range(12)
]
TEXTS = [{"id": f"t{i}", "question": "How warm?", "text": f"text {i}", "expected": i / 3} for i in range(10)]


def test_pairs_are_shown_either_way_round_and_preferences_are_stated_in_the_items_own_order(call, tmp_path):
    assert call("export", "--kind", "pairs", "--items", items(tmp_path, PAIRS), "--annotators", *PEOPLE)[0] == 0
    swapped = []

    def louder(row):
        swapped.append(row["text"].startswith("quiet"))
        return "second" if swapped[-1] else "first"

    files = [answer(tmp_path, "pairs", person, "preference", louder) for person in PEOPLE]
    assert 6 < sum(swapped) < 30
    assert call("import", *files)[1]["taken"] == 36
    rows = list(Workspace(tmp_path / "build", "heart").rows("reviews", "pairs"))
    assert {row["preference"] for row in rows} == {"first"}
    (document,) = call("status")[1]["rounds"]
    assert document["agreement"]["preference"]["unanimous_share"] == 1
    assert document["agreement"]["preference"]["fleiss_kappa"] is None
    # Expected first over second in 2, 1 of four, no difference in one, the reverse in one: (6 - 3) / 9.
    assert document["kendall_tau"]["people_and_expected"] == pytest.approx(1 / 3)
    assert call("import", *files)[1]["known"] == 36


def test_ratings_give_rank_correlation_with_the_score_that_nobody_saw(call, tmp_path):
    call("export", "--kind", "ratings", "--items", items(tmp_path, TEXTS), "--annotators", *PEOPLE)
    sheet = (tmp_path / "build/heart/review/ratings/R1.csv").read_text("utf-8-sig")
    assert "expected" not in sheet and "t3" not in sheet
    files = [
        answer(
            tmp_path, "ratings", person, "rating", lambda row, up=up: str(1 + (int(row["text"].split()[1]) + up) // 3)
        )
        for up, person in enumerate(PEOPLE)
    ]
    assert call("import", *files)[1]["taken"] == 30
    (document,) = call("status")[1]["rounds"]
    assert document["kendall_tau"]["people_and_expected"] == pytest.approx(1.0)
    assert 0.8 < document["kendall_tau"]["between_people"]["R1, R2"] < 1
    assert 0.5 < document["agreement"]["rating"]["krippendorff_alpha_ordinal"] < 1
    assert list(document["agreement"]["rating"]["cohen_kappa"]) == ["R1, R2", "R1, R3", "R2, R3"]


def test_a_rating_outside_1_to_5_is_refused_by_name(call, tmp_path):
    call("export", "--kind", "ratings", "--items", items(tmp_path, TEXTS), "--annotators", *PEOPLE)
    document = call("import", answer(tmp_path, "ratings", "R1", "rating", lambda row: "6"))[1]
    assert (document["taken"], document["refused"]) == (0, 10)
    assert {found["code"] for found in document["findings"]} == {"review.unknown_term"}


def test_a_text_changed_since_it_was_rated_makes_the_answer_stale(call, tmp_path):
    call("export", "--kind", "ratings", "--items", items(tmp_path, TEXTS), "--annotators", *PEOPLE)
    changed = [{**TEXTS[0], "text": "text 0, again"}, *TEXTS[1:]]
    sheet = answer(tmp_path, "ratings", "R1", "rating", lambda row: "3").rename(tmp_path / "R1.csv")
    call("export", "--kind", "ratings", "--items", items(tmp_path, changed))
    document = call("import", sheet)[1]
    assert [(found["code"], found["row_id"]) for found in document["findings"]] == [("review.stale", "t0")]
    assert document["taken"] == 9


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"id": "x", "question": "?", "text": "a"}, "field other_text"),
        ({"id": "x", "question": "?", "text": "", "other_text": "b"}, "field text"),
        ({"id": "p1", "question": "?", "text": "a", "other_text": "b"}, "item given twice"),
        ({"id": "x", "question": "?", "text": "a", "other_text": "b", "expected": "high"}, "wrong score"),
    ],
)
def test_a_broken_item_is_reported_by_line_in_one_line(call, tmp_path, row, said):
    path = items(tmp_path, [*PAIRS, row])
    code, _, err = call("export", "--kind", "pairs", "--items", path, "--annotators", *PEOPLE)
    assert code == 2 and said in err and ":13" in err and err.count("\n") == 1


def test_an_arbitrator_is_of_no_use_to_pairs(call, tmp_path):
    words = ["--kind", "pairs", "--items", items(tmp_path, PAIRS), "--annotators", *PEOPLE, "--arbitrator", "B1"]
    assert "no arbitrator" in call("export", *words)[2]
