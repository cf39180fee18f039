"""``python -m builders run heart``: every table in order, what follows from a change, nothing of a person's lost."""

import orjson
import pytest

from builders.__main__ import main
from schemas.benchmarks import benchmark
from schemas.workspace import Workspace
from validators import check
from validators.review.__main__ import main as review

WHO = ("CHAR_01", "CHAR_02", "CHAR_03", "CHAR_04")
SMALL = [word for who in WHO for word in ("--char", who)] + ["--count", "12"]
BUILT = ("characters", "ledgers", "memories", "scenarios", "exclusions", "activations", "decisions", "mcqs", "mcq_keys")


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    assert main(["run", "heart", "--workspace", str(folder), "--quiet", *SMALL]) in (0, 1)
    return folder


@pytest.fixture
def space(root, tmp_path):
    """A copy of the built workspace, for tests that change it."""
    import shutil

    shutil.copytree(root, tmp_path / "build")
    return Workspace(tmp_path / "build", "heart")


def again(space, capsys, *words):
    """What a run did: actions by table, then by file."""
    capsys.readouterr()
    code = main(["run", "heart", "--workspace", str(space.folder.parent), "--json", *SMALL, *words])
    found: dict[str, dict[str, str]] = {}
    document = orjson.loads(capsys.readouterr().out)
    for each in document["outcomes"]:
        found.setdefault(each["table"], {})[each["file"]] = each["action"]
    return code, found, document


def tables(space):
    files = (path for name in benchmark("heart").tables for path in sorted((space.folder / name).glob("*.jsonl")))
    return {str(path.relative_to(space.folder)): path.read_bytes() for path in files}


def test_every_table_is_there_and_no_row_breaks_a_rule(root):
    space = Workspace(root, "heart")
    report = check(benchmark("heart"), space.tables(), partial=True)
    assert {each.code for each in report.findings if each.severity == "error"} == set()
    assert {name for name in BUILT if space.keys(name)} == set(BUILT)
    assert space.recipe()["command"][:3] == ["builders", "run", "heart"]


def test_a_second_run_does_nothing_and_says_so(space, capsys):
    before = tables(space)
    code, found, _ = again(space, capsys)
    assert list(found) == list(BUILT)
    assert {action for files in found.values() for action in files.values()} == {"up to date"}
    assert code in (0, 1) and tables(space) == before


def test_a_run_in_another_folder_with_another_number_of_workers_gives_the_same_bytes(root, tmp_path):
    assert main(["run", "heart", "--workspace", str(tmp_path), "--quiet", "--workers", "2", *SMALL]) in (0, 1)
    assert tables(Workspace(tmp_path, "heart")) == tables(Workspace(root, "heart"))


def test_the_words_of_the_recipe_make_the_same_rows(root, tmp_path):
    words = Workspace(root, "heart").recipe()["command"]
    assert main([*words[1:], "--workspace", str(tmp_path), "--quiet"]) in (0, 1)
    assert tables(Workspace(tmp_path, "heart")) == tables(Workspace(root, "heart"))


def test_a_changed_decision_is_kept_and_only_the_questions_are_rebuilt(space, capsys):
    rows = list(space.rows("decisions", "CHAR_02"))
    rows[0]["final_decision"] = "I choose to wait a day. I sit down, and look at it again tomorrow."
    space.write("decisions", rows, "CHAR_02")
    _, found, _ = again(space, capsys)
    assert found["decisions"] == {
        "CHAR_01": "up to date",
        "CHAR_02": "kept",
        "CHAR_03": "up to date",
        "CHAR_04": "up to date",
    }
    assert (found["mcqs"], found["mcq_keys"]) == ({"all": "built"}, {"all": "built"})
    assert set(found["activations"].values()) == {"up to date"}
    assert rows[0]["final_decision"] in {o["content"] for q in space.rows("mcqs") for o in q["options"]}


def test_fresh_rebuilds_what_a_person_changed(space, capsys):
    before = tables(space)
    rows = list(space.rows("decisions", "CHAR_02"))
    rows[0]["final_decision"] = "I wait. I see."
    space.write("decisions", rows, "CHAR_02")
    again(space, capsys, "--fresh")
    assert tables(space) == before


def test_another_rule_builds_only_the_questions(space, capsys):
    _, found, _ = again(space, capsys, "--rule", "published")
    assert {name for name, files in found.items() if "built" in files.values()} == {"mcqs", "mcq_keys"}


def test_a_block_list_takes_its_pair_out_of_everything_that_follows(space, capsys, tmp_path):
    block = tmp_path / "block.csv"
    block.write_text("character_id,scenario_id,reason\nCHAR_03,SCN_ADOLESCENCE_1,not in this life\n", "utf-8")
    again(space, capsys, "--block", str(block))
    for name in ("activations", "decisions", "mcqs"):
        pairs = {(row["character_id"], row["scenario_id"]) for row in space.rows(name)}
        assert ("CHAR_03", "SCN_ADOLESCENCE_1") not in pairs, name


def test_a_review_is_kept_by_the_next_run_and_questions_follow_the_gold(space, capsys):
    root = ["--workspace", str(space.folder.parent), "--quiet"]
    assert review(["export", *root, "--annotators", "A1", "A2", "A3", "--arbitrator", "B1", "--limit", "10"]) == 0
    folder = space.folder / "review/decisions"
    for person in ("A1", "A2", "A3"):
        answer(
            folder / f"{person}.csv",
            {
                "suitable": "yes",
                "verdict": "as_is" if person != "A3" else "unacceptable",
                "trace_verdict": "as_is",
                "rationale": "flat",
            },
        )
    assert review(["import", *root, *(str(folder / f"{p}.csv") for p in ("A1", "A2", "A3"))]) == 0
    review(["export", *root])
    answer(
        folder / "B1.csv",
        {"ruling": "rewrite", "edit": lambda row: f"I take number {row['item']}. I go there at once."},
    )
    assert review(["import", *root, str(folder / "B1.csv")]) == 0
    capsys.readouterr()
    gold = [row for row in space.rows("decisions") if row["review"]["status"] == "arbitrated"]
    assert len(gold) == 10
    _, found, _ = again(space, capsys)
    assert "kept" in found["decisions"].values() and found["mcqs"] == {"all": "built"}
    asked = {(q["character_id"], q["scenario_id"]): {o["content"] for o in q["options"]} for q in space.rows("mcqs")}
    ruled = {row["digest"]: row for row in space.rows("reviews") if row["role"] == "arbitrator"}
    for row in gold:
        assert row["final_decision"] in asked[row["character_id"], row["scenario_id"]]
        assert ruled[row["review"]["digest"]]["edit"] == row["final_decision"]
    assert not [f for f in check(benchmark("heart"), space.tables(), partial=True).findings if f.severity == "error"]


def answer(path, said):
    import csv
    import io

    rows = list(csv.DictReader(io.StringIO(path.read_bytes().decode("utf-8-sig"))))
    for row in rows:
        row.update({name: value(row) if callable(value) else value for name, value in said.items()})
    with path.open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "hart"], "unknown benchmark 'hart'"),
        (["run", "heart", "--char", "CHAR_44"], "unknown character 'CHAR_44'"),
        (["run", "heart", "--count", "0"], "not a whole number"),
        (["run", "heart", "--blueprints", "none.toml", *SMALL], "missing file in none.toml"),
        (["run", "heart", "--block", "none.csv", *SMALL], "missing file in none.csv"),
        (["run", "heart", "--rule", "best"], "invalid choice"),
        ([], "required"),
    ],
)
def test_a_wrong_argument_is_reported_in_one_line(space, capsys, words, said):
    place = ["--workspace", str(space.folder.parent), "--quiet"] if words else []
    code = main([*words, *place])
    err = capsys.readouterr().err
    assert code == 2 and said in err and err.count("\n") == 1, err
