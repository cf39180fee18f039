"""Blueprints in a user's file: added, based on ours, and every way in which they can be wrong."""

import pytest

from builders.scenarios import step as scenarios
from builders.scenarios.blueprints import load_blueprints
from schemas.tables import vocabulary

BASED = """
[[blueprint]]
stage = "adolescence"
number = 21
based_on = "SCN_ADOLESCENCE_1"
name = "The Same, Later"
"""


@pytest.fixture
def mine(tmp_path):
    def write(text):
        path = tmp_path / "mine.toml"
        path.write_text(text, "utf-8")
        return path

    return write


def test_a_blueprint_based_on_another_has_its_fields_but_those_it_changes(mine):
    found = load_blueprints(mine(BASED))
    ours, theirs = found["SCN_ADOLESCENCE_21"], found["SCN_ADOLESCENCE_1"]
    assert len(found) == 65
    assert ours["name"] == "The Same, Later" and ours["number"] == 21 and "based_on" not in ours
    assert {k: v for k, v in ours.items() if k not in ("name", "number")} == {
        k: v for k, v in theirs.items() if k not in ("name", "number")
    }


def test_a_chain_of_bases_is_followed(mine):
    more = BASED + BASED.replace("21", "22").replace("SCN_ADOLESCENCE_1", "SCN_ADOLESCENCE_21").replace("Later", "Last")
    found = load_blueprints(mine(more))
    assert found["SCN_ADOLESCENCE_22"]["background"] == found["SCN_ADOLESCENCE_1"]["background"]


def test_blueprints_come_in_the_order_of_stage_and_number(mine):
    found = load_blueprints(mine(BASED)).values()
    stages = [stage["id"] for stage in vocabulary("scenario_stages")]
    order = [(stages.index(blueprint["stage"]), blueprint["number"]) for blueprint in found]
    assert order == sorted(order)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (BASED.replace("adolescence", "adolesence"), "unknown stage 'adolesence'"),
        (BASED.replace('stage = "adolescence"', ""), "unknown stage"),
        (BASED.replace("SCN_ADOLESCENCE_1", "SCN_ADOLESCENSE_1"), "Did you mean: SCN_ADOLESCENCE_1"),
        (BASED.replace("SCN_ADOLESCENCE_1", "SCN_ADOLESCENCE_21"), "circle of blueprints"),
        (
            BASED.replace("SCN_ADOLESCENCE_1", "SCN_ADOLESCENCE_22")
            + BASED.replace("21", "22").replace("SCN_ADOLESCENCE_1", "SCN_ADOLESCENCE_21"),
            "SCN_ADOLESCENCE_21 -> SCN_ADOLESCENCE_22 -> SCN_ADOLESCENCE_21",
        ),
        (BASED + "age = 30", "age outside the stage"),
        (BASED + 'intensity = "Huge"', "field intensity"),
        (BASED + "surprise = 1", "breaks its schema"),
        (BASED + "background = []", "field background"),
        (BASED.replace("number = 21", ""), "number"),
        (BASED.replace("number = 21", 'number = "x"'), "number"),
        (BASED.replace('based_on = "SCN_ADOLESCENCE_1"', "based_on = 7"), "based_on"),
        (BASED.replace('based_on = "SCN_ADOLESCENCE_1"', ""), "breaks its schema"),
        (BASED + BASED, "blueprint given twice"),
        ("[[blueprint]\n", "malformed TOML"),
        ("x = 1", "no blueprints"),
        ("blueprint = [1]", "no blueprints"),
    ],
)
def test_a_blueprint_that_cannot_be_is_reported_in_one_line(mine, tmp_path, capsys, text, said):
    code = scenarios.main(["--workspace", str(tmp_path / "build"), "--blueprints", str(mine(text))])
    err = capsys.readouterr().err
    assert code == 2 and said in err and err.count("\n") == 1, err
    assert "mine.toml" in err
    assert not (tmp_path / "build/heart/scenarios").exists()


def test_a_missing_file_is_reported_in_one_line(tmp_path, capsys):
    code = scenarios.main(["--workspace", str(tmp_path), "--blueprints", str(tmp_path / "none.toml")])
    assert code == 2 and "missing file" in capsys.readouterr().err
