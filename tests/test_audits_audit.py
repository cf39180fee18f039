"""The audits as a stranger runs them: any rows, any text, any number of processes, from any script."""

import copy
import json
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from audits import audit
from audits.command import main
from schemas.errors import RequestError

SOUND = orjson.loads((Path(__file__).parent / "cases/sound_rows.json").read_bytes())["memories"]
STORY = SOUND["content_full"]

SCRIPT = """
import json, sys
from audits import audit
rows = json.load(open(sys.argv[1]))
found = audit("memories", rows, only=["perspective", "identity", "length", "rubin"], processes=int(sys.argv[2]))
print(json.dumps([finding.as_dict() for finding in found]))
"""

ODD_TEXTS = {
    "right_to_left": "مرحبا بالعالم. " * 300,
    "chinese": "我走了。" * 800,
    "nul": "\x00\x00",
    "lone_surrogate": "\ud83d",
    "one_word": "a" * 200_000,
    "quotation_marks": "'" * 200_000,
    "open_quotations": '"\n\n' * 60_000,
    "white_space": " " * 200_000,
    "stars": "*a b c " * 30_000,
    "untils": "until " * 35_000,
    "names": " ".join(f'"Sit, X{number}ab."' for number in range(15_000)),
    "kin": "my my little " * 15_000,
    "hits": "I did not know then that " * 8_000,
    "line_breaks": "\n" * 200_000,
    "full_stops": ". " * 100_000,
    "capitals": "Ab " * 70_000,
    "marks_in_marks": "\"'" * 100_000,
}


def changed(**fields):
    return {**copy.deepcopy(SOUND), **fields}


def written(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def arguments(path, *more):
    return ["--benchmark", "heart", "--table", "memories", "--rows", str(path), "--processes", "1", *more]


@pytest.mark.parametrize("name", ODD_TEXTS)
def test_any_text_is_audited_to_its_end_and_every_finding_points_into_it(name):
    text = STORY + ODD_TEXTS[name]  # English enough to be judged to its end
    for finding in audit("memories", [changed(content_full=text)]):
        if finding.span and finding.field == "content_full":
            assert 0 <= finding.span[0] < finding.span[1] <= len(text)
        orjson.dumps(finding.as_dict())


@pytest.mark.parametrize(
    ("row", "code"),
    [
        ({}, "format.missing"),
        (changed(content_full=""), "format.empty"),
        (changed(content_full=12), "format.type"),
        (changed(content_full=None), "format.missing"),
        (changed(content_full=STORY + "\x00"), "format.control"),
        (changed(content_full=STORY + "\ud83d"), "format.surrogate"),
        (changed(content_full="我走了。" * 600), "format.script"),
        (changed(content_full=STORY * 300), "length.long"),
    ],
)
def test_a_row_that_cannot_be_read_as_it_should_is_a_finding(row, code):
    assert code in {finding.code for finding in audit("memories", [row])}


def test_a_script_from_standard_input_gets_the_same_findings_from_one_process_and_from_two(tmp_path):
    texts = [STORY, "I did not know then. " + STORY, "Short.", STORY.replace("Fine", "Fine, Anna")]
    rows = [changed(id=f"MEM_04_{number:04d}", content_full=texts[number % 4]) for number in range(1, 2_101)]
    path = tmp_path / "rows.json"
    path.write_text(json.dumps(rows), "utf-8")
    found = [
        subprocess.run(
            [sys.executable, "-", str(path), count], input=SCRIPT, capture_output=True, text=True, check=True
        )
        for count in ("1", "2")
    ]
    assert found[0].stdout == found[1].stdout
    assert len(json.loads(found[0].stdout)) > 1_000


def test_the_command_prints_one_document_and_returns_one_when_findings_remain(tmp_path, capsys):
    path = written(
        tmp_path / "mine.jsonl",
        SOUND,
        changed(id="MEM_04_0002", content_full="Years later I knew. " + STORY),
    )
    assert main(arguments(path, "--only", "perspective", "--json")) == 1
    printed = json.loads(capsys.readouterr().out)
    assert printed["counts"] == {"perspective.future": 1}
    assert printed["findings"][0]["text"] == "Years later"


def test_the_command_returns_nought_for_sound_rows(tmp_path):
    assert main(arguments(written(tmp_path / "sound.jsonl", SOUND), "--quiet")) == 0


def test_a_file_without_rows_is_no_clean_file(tmp_path, capsys):
    assert main(arguments(written(tmp_path / "none.jsonl"))) == 2
    assert "no rows in" in capsys.readouterr().err


def test_rows_cannot_be_held_against_a_workspace_that_is_not_there(tmp_path, capsys):
    path = written(tmp_path / "sound.jsonl", SOUND)
    assert main(arguments(path, "--workspace", str(tmp_path / "absent"))) == 2
    assert "no rows of heart in" in capsys.readouterr().err


def test_codes_may_be_parted_by_commas(tmp_path, capsys):
    path = written(tmp_path / "mine.jsonl", changed(content_full="Years later I knew."))
    assert main(arguments(path, "--only", "perspective,length", "--json")) == 1
    assert json.loads(capsys.readouterr().out)["counts"] == {"length.short": 1, "perspective.future": 1}


def test_two_rows_of_one_id_are_shown_each_with_its_own_words(tmp_path, capsys):
    path = written(tmp_path / "mine.jsonl", changed(content_full="Years later I knew."), SOUND)
    assert main(arguments(path, "--only", "perspective")) == 1
    assert "Years later" in capsys.readouterr().err


def test_nothing_that_steers_a_terminal_is_shown(tmp_path, capsys):
    path = written(tmp_path / "mine.jsonl", changed(id="MEM\x1b[31m", content_full="Years later\x1b[0m I knew."))
    assert main(arguments(path)) == 1
    assert "\x1b" not in capsys.readouterr().err


def test_a_closed_standard_output_is_an_error_of_the_machine(tmp_path):
    path = written(tmp_path / "sound.jsonl", SOUND)
    command = [sys.executable, "-m", "audits", *arguments(path, "--json")]
    done = subprocess.run(["sh", "-c", '"$@" >&-', "sh", *command], stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr.count("\n")) == (3, 1)
    assert done.stderr.startswith("error: ")


def test_a_model_is_only_asked_about_what_it_judges(tmp_path, capsys):
    path = written(tmp_path / "sound.jsonl", SOUND)
    assert main(arguments(path, "--only", "length", "--deep", "--backend", "messages", "--json")) == 0
    assert "--only names none" in json.loads(capsys.readouterr().out)["skipped"][0]


NO_ROWS = ['{"id": ', "[1, 2]", '{"content_full": "\\ud83d"}', "\x00"]


@pytest.mark.parametrize("line", NO_ROWS)
def test_a_line_that_is_no_row_is_a_finding_and_the_others_are_judged(tmp_path, capsys, line):
    path = tmp_path / "bad.jsonl"
    path.write_text(json.dumps(SOUND) + "\n" + line + "\n" + json.dumps(changed(content_full="I left.")), "utf-8")
    assert main(arguments(path, "--only", "format", "length", "--json")) == 1
    printed = json.loads(capsys.readouterr().out)
    assert printed["rows"] == 2
    assert printed["counts"] == {"format.line": 1, "format.repeated": 1, "length.short": 1}
    assert [each["row_id"] for each in printed["findings"] if each["code"] == "format.line"] == ["line 2"]


@pytest.mark.parametrize("line", [line for line in NO_ROWS if line != "[1, 2]"])
def test_a_file_of_which_no_line_is_a_row_is_an_error(tmp_path, capsys, line):
    path = tmp_path / "bad.jsonl"
    path.write_text(line + "\n", "utf-8")
    assert main(arguments(path)) == 2
    assert f"{path}:1" in capsys.readouterr().err


TABLE_6 = (
    "id", "timeline", "context", "content_summary", "content_full", "triggers", "relevance_tags",
    "psych_conclusion", "behavior_policy", "emotion_signature",
)  # fmt: skip


def test_a_memory_with_the_ten_fields_of_table_6_is_a_sound_row(tmp_path, capsys):
    path = written(tmp_path / "mine.jsonl", {name: SOUND[name] for name in TABLE_6})
    assert main(arguments(path, "--json")) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["counts"] == {}
    assert printed["skipped"] == ["continuity not checked: no ledger for CHAR_04 (1 memory)"]


def test_what_follows_from_other_columns_is_looked_up_like_a_column():
    row = {name: SOUND[name] for name in TABLE_6} | {"timeline": "School age (9)"}
    row |= {"content_full": "Knut opened the door. In hindsight it was only a cup. " + STORY}
    fact = {"fact_id": "F1", "character_id": "CHAR_04", "kind": "person", "role": "friend", "name": "Knut"}
    found = audit("memories", [row, row], {"ledgers": [{**fact, "from_age": 20, "to_age": 30}]})
    assert {"continuity.early", "perspective.adult", "duplicate.semantic"} <= {c for f in found for c in f.codes}


def test_a_column_that_no_row_has_is_one_note():
    rows = [changed(id=f"MEM_04_000{number}") for number in (1, 2)]
    for row in rows:
        del row["triggers"]
    found = [finding for finding in audit("memories", rows) if finding.code == "format.missing"]
    assert [(each.row_id, each.field, each.severity) for each in found] == [("*", "triggers", "note")]


def test_a_column_that_one_row_lacks_is_an_error_of_that_row():
    rows = [changed(id=f"MEM_04_000{number}") for number in (1, 2)]
    del rows[1]["triggers"]
    found = [finding for finding in audit("memories", rows) if finding.code == "format.missing"]
    assert [(each.row_id, each.severity) for each in found] == [("MEM_04_0002", "error")]


def test_rows_without_the_text_that_is_judged_are_not_clean(tmp_path):
    path = written(tmp_path / "mine.jsonl", {"id": "MEM_04_0001", "timeline": SOUND["timeline"]})
    assert main(arguments(path)) == 1


def test_one_fault_is_one_finding_that_names_the_other_codes():
    row = orjson.loads((Path(__file__).parent / "cases/sound_rows.json").read_bytes())["decisions"]
    found = audit("decisions", [{**row, "final_decision": "I leave, as MEM_04_0017 says. I sit down."}])
    assert [(each.code, each.also) for each in found] == [("citation.memory", ("format.residue",))]


def test_a_key_that_two_rows_have_is_a_finding_and_both_are_judged(tmp_path, capsys):
    path = written(tmp_path / "mine.jsonl", SOUND, changed(content_full="Years later I knew."))
    assert main(arguments(path, "--only", "format", "perspective", "--json")) == 1
    counts = json.loads(capsys.readouterr().out)["counts"]
    assert counts == {"format.repeated": 1, "perspective.future": 1}


@pytest.mark.parametrize("field", ["id", "character_id", "stage", "domain", "triggers", "provenance"])
def test_a_lone_surrogate_in_any_column_is_a_finding_that_can_be_written_as_json(field):
    value = ["\ud83d"] if field == "triggers" else {"x": "\ud83d"} if field == "provenance" else "\ud83d"
    found = audit("memories", [changed(**{field: value})] * 2)
    assert "format.surrogate" in {finding.code for finding in found}
    orjson.dumps([finding.as_dict() for finding in found])


def test_a_row_that_is_no_mapping_is_refused_by_its_place():
    with pytest.raises(RequestError, match="a row that is a NoneType in memories, row 1"):
        audit("memories", [{}, None])
