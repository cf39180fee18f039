"""Review sheets as they come back: edited, cut, moved, saved otherwise; and what is read from them all the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from review_samples import AS_IS, DECIDED, Play, codes

from validators.review import sheets


@pytest.fixture
def play(tmp_path, small_heart, capsys):
    return Play(tmp_path, small_heart, capsys)


def test_terms_are_read_however_they_are_typed(play):
    play.export()
    assert (
        play.call("import", play.fill("A1", {"suitable": " Yes ", "verdict": "As is", "trace_verdict": "as-is "}))[1][
            "taken"
        ]
        == 4
    )
    assert {(row["suitable"], row["verdict"]) for row in play.reviews()} == {(True, "as_is")}


@pytest.mark.parametrize("column", ["text", "thoughts", "profile", "situation"])
@pytest.mark.parametrize("answer", [AS_IS, {}])
def test_what_was_edited_in_a_column_that_is_only_shown_is_refused_and_not_lost(play, column, answer):
    play.export()
    rows = [{**row, **answer} for row in play.sheet("A1")]
    rows[0][column] += " And better so."
    code, document, _ = play.call("import", play.save("A1", rows))
    assert (code, codes(document), document["taken"]) == (1, ["review.edited_shown"], 3 * bool(answer))
    assert column in document["findings"][0]["message"]


def test_spaces_and_ends_of_lines_that_a_spreadsheet_changed_are_no_edit(play):
    play.export()
    rows = [{**row, **AS_IS} for row in play.sheet("A1")]
    for row in rows:
        row["profile"] = row["profile"].replace("\n", "\r\n") + " "
    assert play.call("import", play.save("A1", rows))[1]["taken"] == 4


def test_a_line_cannot_change_hands(play):
    play.export()
    rows = [{**row, **AS_IS, "annotator": "A2"} for row in play.sheet("A1")]
    code, document, _ = play.call("import", play.save("A2", rows))
    assert (code, document["taken"], set(codes(document))) == (1, 0, {"review.edited_annotator"})
    mixed = [*play.sheet("A1")[:2], *play.sheet("A3")[2:]]
    code, _, err = play.call("import", play.save("A3", [{**row, **AS_IS} for row in mixed]))
    assert code == 2 and "sheet of two people" in err and err.count("\n") == 1


def test_a_sheet_cut_in_half_says_how_many_lines_are_missing_and_the_rest_is_taken(play):
    play.export()
    rows = [{**row, **AS_IS} for row in play.sheet("A1")]
    code, document, _ = play.call("import", play.save("A1", rows[:1]))
    assert (code, document["taken"], codes(document)) == (0, 1, ["review.cut"])
    assert "3 of 4 lines are missing" in document["findings"][0]["message"]
    assert play.call("import", play.save("A1", rows))[1]["findings"] == []
    path = play.folder / "A1.csv"
    path.write_bytes(path.read_bytes().splitlines(keepends=True)[0])
    assert codes(play.call("import", path)[1]) == ["review.cut"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"PK\x03\x04workbook", "a workbook"),
        ("kind;item\r\nd\xe9cisions;x\r\n".encode("cp1252"), "another encoding"),
        (b"sort,item,digest,annotator,seal\r\n", "without its columns"),
        (b"kind,item,digest,annotator\r\n", "without its columns"),
    ],
)
def test_a_file_that_is_no_sheet_of_this_round_is_reported_in_one_line(play, tmp_path, content, said):
    play.export()
    path = tmp_path / "sheet.csv"
    path.write_bytes(content)
    code, _, err = play.call("import", path)
    assert code == 2 and said in err and "sheet.csv" in err and err.count("\n") == 1


def test_a_sheet_of_another_benchmark_is_refused_item_by_item(play):
    play.export()
    rows = [{**row, **AS_IS, "item": "0" * 12, "digest": "0" * 64} for row in play.sheet("A1")]
    code, document, _ = play.call("import", play.save("A1", rows))
    assert (code, document["taken"], set(codes(document))) == (1, 0, {"review.unknown_item"})


def test_a_formula_is_never_exported_as_one_and_comes_back_as_it_was_written(play):
    play.export()
    text = "=HYPERLINK(1)"
    answer = {**AS_IS, "verdict": "with_modifications", "edit": f"'{text}"}
    play.call("import", play.fill("A1", answer))
    assert {row["edit"] for row in play.reviews()} == {text}
    changed = {**play.decisions()["CHAR_02"], "final_decision": "=1+1"}
    play.space.write("decisions", [changed], "CHAR_02")
    play.again()
    assert "'=1+1" in {row["text"] for row in play.sheet("A2")}


@given(text=st.text("'=+-@＝a ", min_size=1, max_size=6).map(str.strip).filter(bool))
def test_whatever_apostrophes_and_signs_a_text_begins_with_it_is_read_back_from_a_cell_that_is_no_formula(text):
    cell = sheets._safe(text)
    assert not cell.startswith(sheets._FORMULA) and sheets._plain(cell) == text


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda row: {("Rationale" if name == "rationale" else name): cell for name, cell in row.items()}, "rationale"),
        (lambda row: {name: cell for name, cell in row.items() if name != "trace_edit"}, "trace_edit"),
        (lambda row: {**row, "note": "I am not sure of this one."}, "column 'note' is not read"),
    ],
)
def test_what_stands_in_a_renamed_or_added_column_is_refused_and_not_lost(play, change, said):
    play.export()
    code, _, err = play.call("import", play.save("A1", [change({**row, **AS_IS}) for row in play.sheet("A1")]))
    assert code == 2 and said in err and err.count("\n") == 1
    assert not play.space.keys("reviews")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda text: text.replace(b"verdict,", b"edit,", 1), "column twice"),
        (lambda text: text.rstrip() + b",more,cells\r\n", "cells beyond the last column"),
        (lambda text: text + b"," * 40 + b"\r\n", None),
    ],
)
def test_a_header_with_a_name_twice_and_cells_beyond_it_are_reported_and_empty_lines_pass(play, change, said):
    play.export()
    path = play.fill("A1", AS_IS)
    path.write_bytes(change(path.read_bytes()))
    code, document, err = play.call("import", path)
    assert (code, document["taken"]) == (0, 4) if said is None else code == 2 and said in err and err.count("\n") == 1


def test_names_that_differ_in_case_alone_are_the_same_person(play):
    code, _, err = play.call("export", "--annotators", "A1", "a1", "A3", "--arbitrator", "B1")
    assert code == 2 and "the same person twice" in err


def test_agreement_names_the_items_it_is_over(play):
    play.export()
    play.judge()
    agreement = play.call("status")[1]["rounds"][0]["agreement"]["verdict"]
    assert agreement["items"] == 4 and agreement["over"] == sorted(f"{who}/{DECIDED}" for who in play.decisions())


def test_the_arbitrator_sees_what_the_annotators_are_furthest_apart_on_first(play):
    play.export()
    first, second, *_ = [row["text"] for row in play.sheet("B1")] or [row["text"] for row in play.sheet("A1")]
    mild = {**AS_IS, "verdict": "with_modifications", "edit": "Otherwise."}
    play.judge(
        {
            first: mild,
            second: {**AS_IS, "verdict": "unacceptable", "rationale": "No."},
        }
    )
    play.again()
    assert [row["text"] for row in play.sheet("B1")] == [second, first]
