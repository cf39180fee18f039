"""`run` writes what was said as rows, `judge` scores them; both by models and offline."""

import hashlib
import json
import re
from pathlib import Path

import orjson
import polars as pl
import pytest

from builders.__main__ import main as builders
from evaluators.__main__ import main
from evaluators.protocols import planted
from evaluators.protocols.sentences import split
from evaluators.scoring.results import read_result
from evaluators.scoring.score_rows import rows_beside
from releases.__main__ import main as releases

MODEL = "claude-haiku-4-5"


@pytest.fixture(scope="module")
def frozen(tmp_path_factory):
    root = tmp_path_factory.mktemp("fidelity")
    builders(["run", "fidelity", "--workspace", str(root), "--quiet"])
    assert releases(["freeze", "fidelity@0.1.0", "--workspace", str(root), "--frozen", str(root / "f"), "--quiet"]) == 0
    return root / "f"


@pytest.fixture
def command(tmp_path, frozen):
    def call(verb, *words):
        release = ["--release", "fidelity@0.1.0", "--frozen", str(frozen)] if verb == "run" else []
        return main([verb, *release, "--workspace", str(tmp_path), *map(str, words)])

    return call


def folder(tmp_path):
    return tmp_path / "evaluations/fidelity@0.1.0"


def rows(path, table):
    return pl.read_parquet(path.with_name(f"{path.name.removesuffix('.json')}.{table}.parquet"))


@pytest.fixture
def slipping(tmp_path, command):
    assert command("run", "--model", "offline:slipping", "--limit", "120", "--quiet") == 0
    return folder(tmp_path) / "said.offline-slipping.limit120.json"


def test_every_planted_sentence_is_one_sentence():
    bank = planted._bank()
    sentences = [*bank["empty"], *(one for trait in "OCEAN" for own in bank[trait].values() for one in own)]
    assert len(sentences) == len(set(sentences)) == 108
    assert split(" ".join(sentences)) == sentences


def test_an_offline_subject_writes_sentences_that_carry_their_level(slipping):
    header = read_result(slipping)
    responses, sentences = rows(slipping, "responses"), rows(slipping, "sentences")
    assert header["tables"]["responses"]["count"] == len(responses) == 120
    assert sentences["planted_state"].null_count() == 0
    for response in responses.rows(named=True)[:20]:
        own = sentences.filter(pl.col("response") == response["item"])
        assert " ".join(own["sentence"]) == response["text"]
    good = sentences.drop_nulls("planted").with_columns(
        hit=pl.struct("planted", "level").map_elements(
            lambda one: int(one["planted"]) in planted.THIRDS[one["level"]], return_dtype=pl.Boolean
        )
    )
    assert good["hit"].mean() == pytest.approx(1 - planted.SLIP, abs=0.06)


def test_the_same_seed_writes_the_same_bytes_and_another_does_not(tmp_path, command, slipping):
    before = slipping.read_bytes()
    assert command("run", "--model", "offline:slipping", "--limit", "120", "--quiet") == 0
    assert slipping.read_bytes() == before
    assert command("run", "--model", "offline:slipping", "--limit", "120", "--seed", "8", "--quiet") == 0
    other = folder(tmp_path) / "said.offline-slipping.limit120.seed8.json"
    assert read_result(other)["tables"]["sentences"]["sha256"] != read_result(slipping)["tables"]["sentences"]["sha256"]


def test_judging_leaves_what_was_said_alone_and_examines_each_judge(tmp_path, command, slipping, capsys):
    before = {path.name: path.read_bytes() for path in folder(tmp_path).iterdir()}
    assert command("judge", slipping, "--judge", "offline:exact", "offline:noisy", "offline:constant") == 0
    reported = capsys.readouterr().err
    assert "personas like these [" in reported and "examination of offline:noisy" in reported
    assert all((folder(tmp_path) / name).read_bytes() == content for name, content in before.items())
    (scores,) = folder(tmp_path).glob("scores.*.json")
    figures = read_result(scores)["figures"]
    examined = {one["judge"]: one for one in figures["examined"]}
    assert examined["offline:exact"]["exact"] == 1.0 and examined["offline:exact"]["not_applicable"] == 1.0
    assert examined["offline:noisy"]["exact"] == pytest.approx(0.85, abs=0.05)
    assert examined["offline:constant"]["kappa"] == pytest.approx(0, abs=1e-9)
    assert len(figures["agreement"]) == 3 and len(figures["consensus"]) == 4


def test_the_ceiling_is_one_and_the_floor_is_in_the_middle(tmp_path, command):
    found = {}
    for subject in ("steady", "flat"):
        command("run", "--model", f"offline:{subject}", "--limit", "60", "--quiet")
        said = folder(tmp_path) / f"said.offline-{subject}.limit60.json"
        assert command("judge", said, "--judge", "offline:exact", "--quiet", "--out", tmp_path / "s.json") == 0
        (one,) = read_result(tmp_path / "s.json")["figures"]["judged"]
        found[subject] = one["fidelity"]["metrics"]
    assert found["steady"]["acc_atom"]["value"] == 1.0
    by_level = found["flat"]["acc_atom"]["value"]
    assert by_level < 0.6 and found["flat"]["ic_atom"]["value"] == 1.0


def is_judge(body):
    return "persona_level" in json.dumps(body.get("system"))


def test_too_few_scores_are_no_figure_and_every_reason_is_named_with_an_item(tmp_path, command, rehearse, capsys):
    command("run", "--model", "offline:steady", "--limit", "20", "--quiet")
    said = folder(tmp_path) / "said.offline-steady.limit20.json"
    bad = ['{"persona_level": 6}', '{"persona_level": "4 out of 5"}', "Fünf von fünf.", '{"persona_level": 4}']
    rehearse(compose=lambda body: bad[len(json.dumps(body)) % 4])
    out = tmp_path / "few.json"
    assert command("judge", said, "--judge", MODEL, "--out", out) == 1
    lines = capsys.readouterr().err
    assert "fewer than half of what applies was scored: no figure is shown" in lines and "ACC_atom" not in lines
    scores = pl.read_parquet(rows_beside(out))
    for reason, items in (
        scores.filter(pl.col("state") == "unscored").group_by("reason").agg(pl.col("item").sort()).rows()
    ):
        assert f"unscored {len(items)}: {reason}; first {items[0]} in {rows_beside(out)}" in lines
    page = tmp_path / "few.html"
    assert command("report", out, "--out", page, "--quiet") == 0
    assert "too few scored" in page.read_text() and "data-value" not in page.read_text().partition("<script>")[0]


def test_scores_of_different_samples_are_not_put_on_one_page(tmp_path, command, slipping, capsys):
    paths = tmp_path / "all.json", tmp_path / "some.json"
    command("judge", slipping, "--judge", "offline:exact", "--quiet", "--out", paths[0])
    command("judge", slipping, "--judge", "offline:exact", "--quiet", "--limit", "80", "--out", paths[1])
    assert command("report", *paths, "--out", tmp_path / "r.html") == 2
    assert capsys.readouterr().err.startswith(
        f"error: results of different samples: 120 asked (seed 7) and 80 items judged (seed 7) here in {paths[1]}"
    )


def test_a_model_writes_and_another_judges_through_the_journal(tmp_path, command, rehearse):
    asked = []

    def answer(body):
        asked.append(is_judge(body))
        return '{"persona_level": 4}' if is_judge(body) else "I like it. Then I go home."

    rehearse(compose=answer)
    assert command("run", "--model", MODEL, "--limit", "5", "--quiet") == 0
    said = folder(tmp_path) / f"said.{MODEL}.limit5.json"
    header = read_result(said)
    assert header["run"]["served_by"] == [MODEL] and header["tables"]["sentences"]["count"] == 10
    assert header["figures"]["output_tokens"] > 0 and header["figures"]["cost"] > 0
    assert command("judge", said, "--judge", MODEL, "--quiet", "--out", tmp_path / "s.json") == 0
    (one,) = read_result(tmp_path / "s.json")["figures"]["judged"]
    assert one["states"]["scored"] == 10 and one["fidelity"]["metrics"]["mean"]["value"] == 4.0
    before = len(asked)
    assert command("judge", said, "--judge", MODEL, "--quiet", "--out", tmp_path / "t.json") == 0
    assert len(asked) == before, "what was paid is not paid again"
    assert (tmp_path / "t.scores.parquet").read_bytes() == (tmp_path / "s.scores.parquet").read_bytes()


@pytest.mark.parametrize(
    ("verdict", "state"),
    [
        ('{"persona_level": 6}', "unscored"),
        ('{"persona_level": 4.5}', "unscored"),
        ("4 out of 5", "unscored"),
        ('{"persona_level": "N/A"}', "unscored"),
        ('{"persona_level": "NA"}', "not_applicable"),
    ],
)
def test_a_verdict_that_is_no_score_is_never_0(tmp_path, command, rehearse, verdict, state):
    rehearse(compose=lambda body: verdict if is_judge(body) else "I like it.")
    command("run", "--model", MODEL, "--limit", "3", "--quiet")
    code = command(
        "judge",
        folder(tmp_path) / f"said.{MODEL}.limit3.json",
        "--judge",
        MODEL,
        "--quiet",
        "--out",
        tmp_path / "s.json",
    )
    (one,) = read_result(tmp_path / "s.json")["figures"]["judged"]
    assert one["states"][state] == 3 and code == (1 if state == "unscored" else 0)
    assert one["fidelity"]["metrics"]["acc_atom"]["value"] is None
    assert one["fidelity"]["metrics"]["valid"]["value"] == 0.0


def test_a_response_that_was_declined_is_counted_and_not_judged(tmp_path, command, rehearse):
    judged = []

    def answer(body):
        if is_judge(body):
            judged.append(body)
            return '{"persona_level": 4}'
        return ""

    rehearse(compose=answer)
    code = command("run", "--model", MODEL, "--limit", "3", "--quiet")
    said = folder(tmp_path) / f"said.{MODEL}.limit3.json"
    sentences = rows(said, "sentences")
    assert len(sentences) == 3 and sentences["sentence"].null_count() == 3
    assert code == 1 and set(sentences["state"]) == {"refused"}
    assert command("judge", said, "--judge", MODEL, "--quiet", "--out", tmp_path / "s.json") == 1
    (one,) = read_result(tmp_path / "s.json")["figures"]["judged"]
    assert judged == [] and one["states"]["refused"] == 3


def test_a_dry_run_tells_requests_and_price_and_asks_nothing(tmp_path, command, slipping, capsys):
    assert command("run", "--model", MODEL, "--dry-run", "--json") == 0
    document = orjson.loads(capsys.readouterr().out)
    assert document["responses"] == 1080 and document["planned"][0]["requests"] == 1080 and document["cost"] > 0
    assert command("judge", slipping, "--judge", MODEL, "offline:exact", "--dry-run", "--json") == 0
    planned = orjson.loads(capsys.readouterr().out)["planned"]
    assert [one["requests"] for one in planned] == [len(rows(slipping, "sentences"))]
    assert not list(folder(tmp_path).glob("scores.*"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["--judge", "offline:exat"],
            "error: unknown offline model 'offline:exat' in --judge. Did you mean: offline:exact",
        ),
        (["--judge", "offline:words"], "error: offline:words for a rubric without [words] in"),
        (["--judge", "offline:exact", "--rubric", "nowhere.toml"], "error: missing rubric in nowhere.toml"),
    ],
)
def test_a_wrong_request_to_judge_is_one_line(command, slipping, capsys, words, said):
    assert command("judge", slipping, *words) == 2
    err = capsys.readouterr().err
    assert err.startswith(said) and err.count("\n") == 1


def test_what_was_not_planted_is_not_judged_by_the_key(tmp_path, command, rehearse, capsys):
    rehearse(compose=lambda body: "I like it.")
    command("run", "--model", MODEL, "--limit", "3", "--quiet")
    assert command("judge", folder(tmp_path) / f"said.{MODEL}.limit3.json", "--judge", "offline:exact") == 2
    assert "offline:exact without planted quality" in capsys.readouterr().err


def test_rows_that_were_edited_doubled_or_are_missing_are_refused(tmp_path, command, slipping, capsys):
    path = slipping.with_name(slipping.name.removesuffix(".json") + ".sentences.parquet")
    whole = pl.read_parquet(path)
    pl.concat([whole, whole[:1]]).write_parquet(path)
    assert command("judge", slipping, "--judge", "offline:exact") == 2
    assert "rows of another result in" in capsys.readouterr().err
    header = orjson.loads(slipping.read_bytes())
    header["tables"]["sentences"]["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    slipping.write_bytes(orjson.dumps(header))
    assert command("judge", slipping, "--judge", "offline:exact") == 2
    assert re.search(r"two rows of one item in .*sentences\.parquet, row ", capsys.readouterr().err)
    path.unlink()
    assert command("judge", slipping, "--judge", "offline:exact") == 2
    assert "missing rows in" in capsys.readouterr().err


def test_a_result_of_scores_is_not_judged_and_a_release_without_personas_not_run(tmp_path, command, slipping, capsys):
    assert command("judge", slipping, "--judge", "offline:exact", "--quiet", "--out", tmp_path / "s.json") == 0
    assert command("judge", tmp_path / "s.json", "--judge", "offline:exact") == 2
    assert "a result of `scores`" in capsys.readouterr().err
    words = [
        "run",
        "--release",
        "heart@2.0.0",
        "--protocol",
        "responses",
        "--model",
        "offline:steady",
        "--workspace",
        str(tmp_path),
    ]
    assert main(words) == 2
    assert "responses needs target_personas and probes" in capsys.readouterr().err


ATOMIC = Path("../shared/data/atomic")


@pytest.mark.skipif(not ATOMIC.is_dir(), reason="no released files at ../shared/data/atomic")
def test_released_responses_and_scores_become_rows_that_are_judged_and_reported(tmp_path, frozen, capsys):
    words = [
        "--from",
        str(ATOMIC),
        "--release",
        "fidelity@0.1.0",
        "--frozen",
        str(frozen),
        "--workspace",
        str(tmp_path),
    ]
    assert main(["import", *words, "--json"]) == 0
    document = orjson.loads(capsys.readouterr().out)
    assert document["figures"] == 8 and document["differing"] == []
    home = tmp_path / "evaluations/fidelity-published@1.0.0"
    said = home / "said.myModel.json"
    (scores,) = home.glob("scores.*.json")
    assert read_result(said)["tables"]["sentences"]["count"] == 390
    (one,) = read_result(scores)["figures"]["judged"]
    assert one["states"]["scored"] == one["items"] == 334
    assert main(["judge", str(said), "--judge", "offline:constant", "--workspace", str(tmp_path), "--quiet"]) == 0
    assert main(["report", *map(str, home.glob("scores.*.json")), "--out", str(tmp_path / "r.html"), "--quiet"]) == 0


def test_released_parsing_reads_digits_where_the_strict_reader_reads_none(tmp_path, command, rehearse):
    rehearse(compose=lambda body: "5 (not 1)" if is_judge(body) else "I like it.")
    command("run", "--model", MODEL, "--limit", "3", "--quiet")
    words = [folder(tmp_path) / f"said.{MODEL}.limit3.json", "--judge", MODEL, "--quiet"]
    assert command("judge", *words, "--out", tmp_path / "strict.json") == 1
    assert command("judge", *words, "--released-parsing", "--out", tmp_path / "released.json") == 0
    strict, released = (read_result(tmp_path / f"{name}.json") for name in ("strict", "released"))
    assert strict["figures"]["judged"][0]["states"]["unscored"] == 3
    assert released["figures"]["judged"][0]["fidelity"]["metrics"]["mean"]["value"] == 1.0
    assert (strict["run"]["parsing"], released["run"]["parsing"]) == ("strict", "released")
