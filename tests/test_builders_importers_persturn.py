"""PersTurnBench as published, read into tables and written again: nothing is lost, anomalies are named."""

import copy

import orjson
import pytest
from importer_samples import folder_of, read_folder
from persturn_samples import FOLDERS, built_rows, published_documents

from builders.importers import archives, persturn
from builders.importers.__main__ import main
from builders.importers.codes import codes as known
from builders.importers.export import main as export
from builders.importers.persturn_items import is_valid_pair, normalised_reason
from schemas.errors import RequestError

FIRST = f"data/R001/{FOLDERS['gift']}/0.json"


def documents():
    return copy.deepcopy(published_documents(built_rows()))


def staged(given):
    files = {name: orjson.dumps(value) for name, value in given.items()}
    return persturn.stage(archives.Published("published", files))


def codes(found):
    return sorted({finding.code for finding in found.findings})


def test_the_layout_written_from_our_rows_is_read_back_to_the_same_rows():
    found, ours = staged(documents()), built_rows()
    assert codes(found) == []
    for table, fields in (
        ("raters", ("rater_id", "gender", "age", "personality", "other_aspects")),
        ("conversations", ("conversation_id", "task", "number", "task_context", "messages", "chat_model")),
        ("ratings", ("sample_id", "rater_id", "task", "turn", "score", "reason")),
    ):
        key = fields[0]
        read = {row[key]: row for row in found.rows[table].values()}
        assert len(read) == len(ours[table])
        for row in ours[table]:
            assert {field: read[row[key]][field] for field in fields} == {field: row[field] for field in fields}
            assert read[row[key]].get("planted") is None


def test_importing_and_exporting_gives_the_published_files_again(tmp_path):
    given = documents()
    given[FIRST]["questionnaire"] = {"memory": 4}
    given[FIRST]["history"][1]["hallucination"] = False
    source = folder_of(given, tmp_path / "source")
    there = ["--workspace", str(tmp_path / "build"), "--quiet"]
    assert main(["persturn", "--from", str(source), *there]) == 1  # one message has a mark that no column takes
    assert export(["persturn-published", "--to", str(tmp_path / "again"), *there]) == 0
    assert read_folder(tmp_path / "again") == given


def test_text_in_another_script_passes_as_it_is():
    given = documents()
    given[FIRST]["task_context"] = "请为三天的旅行做计划。"
    given[FIRST]["history"][0]["content"] = "我想去海边，预算四百。"
    found = staged(given)
    assert codes(found) == []
    assert found.rows["conversations"]["R001__gift__0"]["messages"][0]["content"] == "我想去海边，预算四百。"


@pytest.mark.parametrize(
    ("score", "reason", "expected", "valid"),
    [
        (5, None, "satisfied", True),
        (4, "满意", "satisfied", True),
        (4, "不可用", "satisfied", False),
        (3, "不可用", "usability", True),
        (2, " 不够多样 ", "diversity", True),
        (3, "满意", "other", False),
        (1, None, "other", False),
        (2, "价格太高", "other", False),
    ],
)
def test_reasons_are_normalised_as_in_the_published_code(score, reason, expected, valid):
    assert normalised_reason(score, reason) == expected
    assert is_valid_pair(score, reason) is valid


def marked(score, reason):
    def change(given):
        message = given[FIRST]["history"][1]
        message["satisfaction"] = score
        message.pop("reason", None)
        if reason is not None:
            message["reason"] = reason

    return change


def dropped(field):
    return lambda given: given[FIRST].pop(field)


def other_profile(given):
    name = next(name for name in given if name.startswith("data/R001/") and name != sorted(given)[0])
    given[name]["profile"]["occupation"] = "pilot"


def other_gender(given):
    for name in given:
        if name.startswith("data/R001/"):
            given[name]["profile"]["gender"] = "女"


def one_family(given):
    for name in [name for name in given if name.startswith("data/R002/") and FOLDERS["gift"] not in name]:
        del given[name]


PLANTED = {
    "no_conversation": dropped("history"),
    "profile_absent": dropped("profile"),
    "profile_differs": other_profile,
    "gender_other": other_gender,
    "turn_unrated": lambda given: given[FIRST]["history"][1].pop("satisfaction") and None,
    "reason_normalised": marked(2, "价格太高"),
    "one_task_family": one_family,
}


@pytest.mark.parametrize("kind", PLANTED)
def test_a_planted_anomaly_is_found_and_nothing_else_is(kind, tmp_path):
    given = documents()
    PLANTED[kind](given)
    if kind == "turn_unrated":
        given[FIRST]["history"][1].pop("reason", None)
    found = staged(given)
    assert codes(found) == [f"published.{kind}"]
    source = folder_of(given, tmp_path / "source")
    there = ["--workspace", str(tmp_path / "build"), "--quiet"]
    assert main(["persturn", "--from", str(source), *there]) == 1
    assert export(["persturn-published", "--to", str(tmp_path / "again"), *there]) == 0
    assert read_folder(tmp_path / "again") == given


def test_every_code_about_this_benchmark_can_be_found():
    assert PLANTED.keys() == {
        name.removeprefix("published.") for name, code in known().items() if "PersTurn" in code.source
    }


@pytest.mark.parametrize("score", [0, 6, 3.5, "5", None])
def test_a_score_outside_1_to_5_is_set_aside_and_the_others_go_on(score):
    given = documents()
    marked(score, None)(given)
    found = staged(given)
    assert [record["row_id"] for record in found.rejected["ratings"]] == ["R001__gift__0.json__turn_0"]
    assert len(found.rows["ratings"]) == len(built_rows()["ratings"]) - 1


def test_a_folder_that_is_no_task_family_is_refused_with_the_nearest():
    given = documents()
    given["data/R001/旅行计划/0.json"] = given.pop(FIRST)
    with pytest.raises(RequestError, match=r"unknown task folder '旅行计划'.*旅行规划"):
        staged(given)


def test_a_file_of_another_shape_is_refused():
    with pytest.raises(RequestError, match="a file of another shape"):
        staged({**documents(), FIRST: []})
