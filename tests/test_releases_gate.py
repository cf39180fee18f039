"""The gate and the verbs: open errors refuse, what is let pass is recorded, and every error is one line."""

import orjson
import pytest
from release_samples import command, names_in, small_tables, write_workspace

from releases import gate
from releases.__main__ import VERBS, main
from releases.opening import open_release
from releases.verify import verify
from schemas.engines.local import Local
from schemas.errors import RequestError

# What is wrong with the small workspace: it is small, and its memories are single sentences.
SMALL = ("table.row_count", "table.rows_per", "length.short", "duplicate.semantic")


def allowing(*codes):
    return [word for code in codes for word in ("--allow", code, "--why", f"small on purpose: {code}")]


def freeze(root, *words):
    return main(["freeze", "heart@0.1.0", "--workspace", str(root / "build"), "--frozen", str(root / "frozen"), *words])


@pytest.fixture
def workspace(tmp_path):
    return write_workspace(tmp_path / "build", small_tables())


def test_open_errors_refuse_and_are_listed(workspace, tmp_path, capsys):
    assert freeze(tmp_path) == 1
    reported = capsys.readouterr()
    assert reported.out == ""
    for code in SMALL:
        assert f"error {code} in " in reported.err
    assert reported.err.splitlines()[-1].startswith("error: ") and "open errors" in reported.err
    assert not (tmp_path / "frozen").exists()


def test_open_errors_are_data_with_json(workspace, tmp_path, capsys):
    assert freeze(tmp_path, "--json", *allowing(*SMALL[1:])) == 1
    document = orjson.loads(capsys.readouterr().out)
    assert document["frozen"] is False and set(document["counts"]) == {"table.row_count"}
    assert {finding["code"] for finding in document["findings"]} == {"table.row_count"}


def test_what_is_allowed_stands_with_its_reason_in_manifest_and_card(workspace, tmp_path, capsys):
    assert freeze(tmp_path, "--json", *allowing(*SMALL)) == 0
    document = orjson.loads(capsys.readouterr().out)
    release = open_release("heart@0.1.0", tmp_path / "frozen")
    assert document["digest"] == release.digest and document["content_digest"] == release.content_digest
    assert verify(release.folder).problems == ()
    checks = release.manifest["checks"]
    assert [entry["code"] for entry in checks["allowed"]] == list(SMALL)
    assert all(entry["findings"] > 0 for entry in checks["allowed"])
    card = (release.folder / "README.md").read_text("utf-8")
    for code in SMALL:
        assert f"small on purpose: {code}" in card


def test_the_manifest_lists_what_was_checked_with_counts(workspace):
    checks = gate.check(workspace, [gate.Allowance(code, "small") for code in SMALL]).checks
    assert checks["validators"]["rows"] == sum(len(rows) for rows in small_tables().values())
    assert len(checks["validators"]["ran"]) > 20
    for table in ("memories", "scenarios", "decisions", "mcqs"):
        assert checks["audits"][table]["rows"] == len(small_tables()[table]), table
    assert {"perspective.future", "length.short", "duplicate.semantic"} <= set(checks["audits"]["memories"]["ran"])
    assert checks["audits"]["memories"]["findings"]["length.short"] == len(small_tables()["memories"])
    rates = {figure["name"]: figure for figure in checks["audits"]["mcqs"]["figures"]}
    assert rates["the longest option is right"]["chance"] == 0.25


def test_the_gate_finds_the_same_in_one_process_in_two_and_on_an_engine(workspace):
    one, two = gate.check(workspace, processes=1), gate.check(workspace, processes=2)
    assert one == two == gate.check(workspace, engine=Local(1)) and one.open


@pytest.mark.parametrize("code", ["schema.max_length", "schema.required", "table.missing"])
def test_what_cannot_be_stored_cannot_be_let_pass(workspace, code):
    with pytest.raises(RequestError, match=f"{code} cannot be allowed"):
        gate.check(workspace, [gate.Allowance(code, "because")])


def test_an_allowance_that_nothing_needs_is_refused(workspace):
    with pytest.raises(RequestError, match=r"nothing to allow: no error link\.dangling"):
        gate.check(workspace, [gate.Allowance("link.dangling", "because")])


@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        (lambda tables: tables["memories"][0].update(behavior_policy="x" * 401), "schema.max_length"),
        (lambda tables: tables["memories"][0].update(age=51), "schema.maximum"),
        (lambda tables: tables["memories"][0]["ledger_refs"].append("LED_01_999"), "link.dangling"),
        (lambda tables: tables["mcqs"].pop(), "link.dangling"),
        (lambda tables: tables["memories"][0].update(surplus=1), "schema.additional_properties"),
    ],
)
def test_a_spoilt_row_or_link_refuses_the_freeze(tmp_path, capsys, spoil, code):
    tables = small_tables()
    spoil(tables)
    write_workspace(tmp_path / "build", tables)
    assert freeze(tmp_path, "--quiet", *allowing(*SMALL)) == 1
    assert f"error {code} in " in capsys.readouterr().err
    assert not (tmp_path / "frozen/heart").exists() or names_in(tmp_path / "frozen/heart") == []


def test_a_missing_table_refuses_the_freeze(workspace, tmp_path, capsys):
    workspace.path("mcq_keys").unlink()
    assert freeze(tmp_path, *allowing(*SMALL)) == 1
    assert "table.missing in mcq_keys" in capsys.readouterr().err


def test_a_workspace_that_is_being_written_is_not_frozen(workspace, tmp_path):
    with workspace.lock():
        done = command("freeze", "heart@0.1.0", "--workspace", tmp_path / "build", "--frozen", tmp_path / "frozen")
    assert done.returncode == 3 and "workspace is held" in done.stderr and done.stderr.count("\n") == 1


def test_a_place_that_takes_no_files_is_a_failure_in_one_line(workspace, tmp_path, capsys):
    words = [
        "freeze",
        "heart@0.1.0",
        "--workspace",
        str(tmp_path / "build"),
        "--frozen",
        "/proc/self/frozen",
        "--quiet",
    ]
    assert main([*words, *allowing(*SMALL)]) == 3
    reported = capsys.readouterr().err
    assert reported.count("\n") == 1 and "/proc/self/frozen" in reported


def test_several_codes_may_share_a_reason(workspace, tmp_path):
    assert freeze(tmp_path, "--quiet", "--allow", *SMALL, "--why", "small on purpose") == 0
    allowed = open_release("heart@0.1.0", tmp_path / "frozen").manifest["checks"]["allowed"]
    assert {(entry["code"], entry["why"]) for entry in allowed} == {(code, "small on purpose") for code in SMALL}


def test_list_and_show_tell_people_and_programs(workspace, tmp_path, capsys):
    frozen = ["--frozen", str(tmp_path / "frozen")]
    assert main(["list", *frozen, "--json"]) == 0 and orjson.loads(capsys.readouterr().out) == []
    assert freeze(tmp_path, "--quiet", *allowing(*SMALL)) == 0
    capsys.readouterr()
    assert main(["list", *frozen, "--json"]) == 0
    (record,) = orjson.loads(capsys.readouterr().out)
    release = open_release("heart@0.1.0", tmp_path / "frozen")
    assert record["digest"] == release.digest and record["rows"] == sum(release.tables.values())
    assert main(["list", *frozen]) == 0 and "heart@0.1.0" in capsys.readouterr().out
    assert main(["show", "heart@0.1.0", *frozen, "--json"]) == 0
    assert orjson.loads(capsys.readouterr().out) == release.manifest
    assert main(["show", "heart@0.1.0", *frozen]) == 0
    reported = capsys.readouterr().out
    for word in (release.digest, "memories  12 rows, key id", "emotion_signature  {primary", "questions  (view)"):
        assert word in reported
    (release.folder / "manifest.json").chmod(0o644)
    (release.folder / "manifest.json").write_bytes(b"{}")
    assert main(["list", *frozen, "--json"]) == 1
    assert orjson.loads(capsys.readouterr().out)[0]["problem"].startswith("manifest.json")


@pytest.mark.parametrize("verb", list(VERBS))
def test_every_verb_has_help_with_an_example_that_is_a_call_of_it(verb, capsys):
    assert main([verb, "--help"]) == 0
    reported = capsys.readouterr().out
    assert f"example:\n  python -m releases {verb}" in reported


@pytest.mark.parametrize(
    "words",
    [
        ["verify", "heart@9.9.9"],
        ["verify", "no/such/folder"],
        ["diff", "heart@9.9.9", "heart@9.9.8"],
        ["query", "heart@9.9.9", "SELECT 1"],
        ["show", "heart"],
        ["card", "heart@1"],
        ["publish", "heart@9.9.9", "--to", "file:///nowhere"],
        ["publish", "heart@9.9.9"],
        ["rebuild", "heart@9.9.9"],
        ["sign", "heart@9.9.9", "--key", "none.pem"],
        ["frieze", "heart@0.1.0"],
        [],
    ],
)
def test_a_wrong_request_is_one_line_and_exit_code_two(words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(words) == 2
    reported = capsys.readouterr()
    assert reported.out == "" and reported.err.startswith("error: ") and reported.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
