"""Evenness reproduces PersonaLens Tables 8 and 9, and measures any column."""

import json
import re
import tarfile
from collections import Counter

import orjson
import pytest
from conftest import one_row

from audits import evenness
from audits.columns import column
from builders.importers import personalens_items as items
from schemas.errors import RequestError
from schemas.tables import record_schema
from schemas.workspace import Workspace

# facts/personalens.md, section 3: distinct, generated, entries, evenness to six decimals.
SIX_DECIMALS = {
    ("Alarm", "Alarm Time Preference"): (14, 14, 1500, 0.724003),
    ("Alarm", "Alarm Sound Preference"): (4, 4, 1500, 0.649407),
    ("Alarm", "Alarm Recurring Preference"): (3, 3, 1500, 0.312819),
    ("Books", "Genre"): (12, 11, 4725, 0.849982),
    ("Books", "Favourite Authors"): (291, 291, 4499, 0.775746),
    ("Books", "Favourite Books"): (571, 571, 4495, 0.816921),
    ("Books", "Favourite Book Series"): (276, 276, 2166, 0.762364),
}


@pytest.fixture(scope="module")
def published(shared):
    """The rows of users and preferences of the published archive."""
    users, types = [], []
    with tarfile.open(shared / "data/personalens/personalens-published.tar.xz") as archive:
        for member in archive:
            if member.name.endswith("profile.json"):
                users.append(items.user_row(orjson.loads(archive.extractfile(member).read())))
            elif member.name.endswith("res/schema.json"):
                for domain in orjson.loads(archive.extractfile(member).read()):
                    types += [items.preference_row(item, domain["domain"]) for item in domain["affinities"]]
    return users, types


@pytest.fixture(scope="module")
def measured(published):
    return {(row["domain"], row["preference"]): row for row in evenness.preferences(*published)}


def printed(shared, known):
    """The 90 rows of Tables 8 and 9: (domain, preference) -> (# Poss., # Gen., evenness), from the paper's text.

    A domain is printed on the first of its rows only.
    """
    text = (shared / "papers/003_579216c698f3db5c.txt").read_text("utf-8")
    table = text[text.index("Domain Preference Type Is Categorical") : text.index("Table 9: User preference")]
    domains, rows, current = {domain for domain, _ in known}, {}, None
    for label, *figures in re.findall(r"^(.+?) (\d+|-) (\d+) (\d\.\d\d)$", table, re.M):
        name = label
        if (current, name) not in known or (current, name) in rows:
            current = next(d for d in domains if label.startswith(f"{d} ") and (d, label[len(d) + 1 :]) in known)
            name = label[len(current) + 1 :]
        rows[current, name] = figures
    return rows


def test_all_90_rows_of_the_papers_tables_are_reproduced(shared, measured):
    expected = printed(shared, measured)
    assert len(expected) == len(measured) == 90
    ours = {
        key: ["-" if row["possible"] is None else str(row["possible"]), str(row["generated"]), f"{row['evenness']:.2f}"]
        for key, row in measured.items()
    }
    assert ours == expected


def test_the_known_figures_agree_to_six_decimals(measured):
    ours = {
        key: (row["distinct"], row["generated"], row["entries"], round(row["evenness"], 6))
        for key, row in measured.items()
        if key in SIX_DECIMALS
    }
    assert ours == SIX_DECIMALS


def test_seventy_types_are_categorical(measured):
    assert Counter(row["categorical"] for row in measured.values()) == {True: 70, False: 20}


def user(*affinities):
    return {"affinities": [{"domain": d, "preference": p, "multiple": True, "values": v} for d, p, v in affinities]}


def kind(domain, preference, possible, categorical=True):
    return {"domain": domain, "preference": preference, "categorical": categorical, "possible_values": possible}


def test_values_outside_the_menu_and_other_spellings_count_but_generated_is_capped():
    users = [
        user(("Books", "Genre", ["Drama", "drama"])),
        user(("Books", "Genre", ["Essay"])),
        user(("Books", "Genre", [])),
    ]
    (row,) = evenness.preferences(users, [kind("Books", "Genre", ["Drama", "Crime"])])
    assert row == {
        "domain": "Books", "preference": "Genre", "categorical": True, "possible": 2,
        "distinct": 3, "generated": 2, "entries": 3, "evenness": pytest.approx(1.0),
    }  # fmt: skip


def test_a_preference_nobody_has_and_one_the_list_lacks_are_rows_too():
    rows = evenness.preferences(
        [user(("Books", "Colour", ["red"]))], [kind("Books", "Genre", ["x"], categorical=False)]
    )
    assert [(row["preference"], row["categorical"], row["possible"], row["evenness"]) for row in rows] == [
        ("Genre", False, None, None),
        ("Colour", None, None, 0.0),
    ]


def test_a_column_is_followed_through_lists_and_objects():
    rows = [
        {"sources": [{"label": "A", "character_id": "CHAR_01"}, {"label": "B", "character_id": "CHAR_02"}]},
        {"sources": [{"label": "A", "character_id": "CHAR_01"}]},
    ]
    row = evenness.spread(rows, column("sources.character_id", record_schema("mcq_keys")))
    assert row["counts"] == {"CHAR_01": 2, "CHAR_02": 1} and row["possible"] is None
    assert evenness.spread(rows, column("sources.label", record_schema("mcq_keys")))["possible"] == 4


def test_nulls_are_counted_apart():
    rows = [{"diamonds_dimension": None}, {"diamonds_dimension": "Duty"}]
    row = evenness.spread(rows, column("diamonds_dimension", record_schema("scenarios")))
    assert (row["missing"], row["entries"], row["possible"], row["evenness"]) == (1, 1, 8, 0.0)


@pytest.mark.parametrize(("path", "near"), [("stages", "stage"), ("setting", "setting.time"), ("stage.x", "stage")])
def test_an_unknown_column_is_refused_with_the_nearest(path, near):
    with pytest.raises(RequestError, match="unknown column") as refused:
        column(path, record_schema("scenarios"))
    assert near in str(refused.value)


def test_without_a_column_all_columns_of_closed_lists_are_measured(tmp_path, small_heart, capsys):
    (scenario,) = small_heart["scenarios"]
    Workspace(tmp_path, "heart").write("scenarios", [scenario, {**scenario, "id": "SCN_SCHOOL_AGE_2"}])
    words = ["--benchmark", "heart", "--table", "scenarios", "--workspace", str(tmp_path), "--json"]
    assert evenness.main(words) == 0
    found = [row["column"] for row in json.loads(capsys.readouterr().out)["rows"]]
    assert found[:3] == ["stage", "intensity", "diamonds_dimension"]
    assert not any(path.startswith("provenance") for path in found)


def test_the_command_prints_a_row_a_preference(tmp_path, published, capsys):
    workspace = Workspace(tmp_path, "personalens-published")
    workspace.write("users", published[0])
    workspace.write("preferences", published[1])
    words = ["--benchmark", "personalens-published", "--table", "users", "--workspace", str(tmp_path)]
    assert evenness.main([*words, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["items"] == 1500 and len(document["rows"]) == 90
    assert list(document["rows"][0]) == [
        "domain", "preference", "categorical", "possible", "distinct", "generated", "entries", "evenness"
    ]  # fmt: skip
    assert evenness.main([*words, "--column", "interests.active", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert row["counts"] == {"true": 22887, "false": 7113}


def written(path, *rows):
    path.write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    return str(path)


def test_rows_of_users_are_measured_whatever_is_in_them(tmp_path, capsys):
    odd = [{"stage": "adolescence"}, {"stage": 4, "emotion_signature": []}, {"emotion_signature": "high"}, {}]
    words = ["--benchmark", "heart", "--table", "memories", "--rows", written(tmp_path / "mine.jsonl", *odd), "--json"]
    assert evenness.main([*words, "--column", "stage"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert (row["counts"], row["missing"]) == ({"4": 1, "adolescence": 1}, 2)
    assert evenness.main([*words, "--column", "emotion_signature.primary"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"][0]["entries"] == 0


def test_own_user_rows_are_compared_with_the_menu_of_a_workspace_that_is_named(tmp_path, capsys):
    path = written(tmp_path / "mine.jsonl", user(("Books", "Genre", ["Drama", "drama"])), {"affinities": 5})
    words = ["--benchmark", "personalens-published", "--table", "users", "--rows", path]
    assert evenness.main(words) == 0
    reported = capsys.readouterr().err
    assert "Books: Genre" in reported and "skipped: possible values not counted: no preferences" in reported
    menu = one_row("preferences") | {"domain": "Books", "preference": "Genre", "possible_values": ["Drama"]}
    Workspace(tmp_path, "personalens-published").write("preferences", [menu | {"categorical": True}])
    assert evenness.main([*words, "--workspace", str(tmp_path), "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert (row["possible"], row["distinct"], row["generated"]) == (1, 2, 1)


def test_columns_of_a_single_row_are_left_out_unless_one_is_named(tmp_path, capsys):
    path = written(tmp_path / "mine.jsonl", {"id": "s1", "stage": "adolescence"})
    words = ["--benchmark", "heart", "--table", "scenarios", "--rows", path, "--json"]
    assert evenness.main(words) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["rows"] == [] and document["skipped"] == ["evenness is a measure of several rows, and there is one"]
    assert evenness.main([*words, "--column", "stage"]) == 0
    assert [row["distinct"] for row in json.loads(capsys.readouterr().out)["rows"]] == [1]


def test_a_long_value_is_cut_in_the_table_and_whole_in_the_document(tmp_path, capsys):
    text = "The hamster was out.\n" * 100
    words = ["--benchmark", "heart", "--table", "memories", "--column", "content_full"]
    words += ["--rows", written(tmp_path / "mine.jsonl", {"content_full": text})]
    assert evenness.main(words) == 0
    assert max(map(len, capsys.readouterr().err.splitlines())) < 100
    assert evenness.main([*words, "--json"]) == 0
    assert list(json.loads(capsys.readouterr().out)["rows"][0]["counts"]) == [text]


def test_the_command_names_what_is_missing(tmp_path, capsys):
    assert evenness.main(["--benchmark", "heart", "--table", "memories", "--workspace", str(tmp_path)]) == 2
    assert "no rows of heart in" in capsys.readouterr().err
