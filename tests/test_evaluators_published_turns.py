"""Published files in another script, with raters that are hard to evaluate: the whole way to a page, all counted."""

import json

import pytest
from persturn_samples import built_rows, published_documents

from builders.__main__ import main as build
from builders.importers.__main__ import main as importer
from evaluators.__main__ import main
from evaluators.scoring.results import read_result
from releases.__main__ import main as releases
from releases.opening import open_release

SPEC = "persturn-published@0.1.0"
CHINESE = "请帮我制定一个计划，预算不要太高。"


def hard_documents():
    """R002 in one task family, R003 with one reply in three, R004 content with everything, R006 with a score of 6."""
    made = {}
    for name, document in published_documents(json.loads(json.dumps(built_rows(12)))).items():
        _, rater, task, number = name.split("/")
        for place, message in enumerate(document["history"]):
            message["content"] = f"{CHINESE}{place}{message['content'][:4]}"
            if rater == "R004" and message["role"] == "assistant":
                message["satisfaction"] = 5
                message.pop("reason", None)
        if (rater == "R002" and task != "礼物准备") or (rater == "R003" and (number != "0.json" or task == "旅行规划")):
            continue
        if rater == "R003":
            document["history"] = document["history"][:2]
        if rater == "R006" and number == "0.json":
            document["history"][1]["satisfaction"] = 6
        made[name] = document
    return made


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    root = tmp_path_factory.mktemp("published")
    for name, document in hard_documents().items():
        path = root / "source" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(document, ensure_ascii=False), "utf-8")
    space = ["--workspace", str(root / "build"), "--quiet"]
    assert importer(["persturn", "--from", str(root / "source"), *space]) == 1  # what is odd about the files is listed
    assert build(["run", "persturn-published", *space]) == 0
    allowed = ["--allow", "table.row_count", "--why", "a sample"]
    assert releases(["freeze", SPEC, *allowed, "--frozen", str(root / "frozen"), *space]) == 0
    return root


def evaluate(root, verb, *words):
    release = ["--release", SPEC, "--frozen", str(root / "frozen")] if verb in ("run", "calibrate") else []
    return main([verb, *release, "--workspace", str(root / "out"), "--quiet", *map(str, words)])


def test_published_turns_are_judged_calibrated_and_reported(root):
    folder = root / "out/evaluations" / SPEC
    assert evaluate(root, "run", "--model", "offline:original", "--split", "all") == 0
    judges = ["offline:constant", "offline:random"]
    said = folder / "said.offline-original.split-all.json"
    assert evaluate(root, "judge", said, "--judge", *judges) == 0
    assert evaluate(root, "calibrate", *folder.glob("scores.*.json")) == 0
    result = read_result(folder / "satisfaction.reference_cdf.json")
    release = open_release(SPEC, root / "frozen")
    split = {row["rater_id"]: row["split"] for row in release.rows("splits")}
    assert split["R002"] == "none" and not any(row["score"] == 6 for row in release.rows("ratings"))
    entries = {(one["judge"], one["metric"]): one for one in result["figures"]["entries"]}
    assert {metric for _, metric in entries} == {"zero_shot", "few_shot", "task_rubric", "memory_v2", "memory_v3"}
    raw = entries["offline:constant", "zero_shot"]["methods"]["raw"]
    assert raw["undefined"]["pearson"] == "predictions are constant"
    baselines = {one["name"]: one for one in result["figures"]["baselines"]}
    assert baselines["global_majority"]["undefined"]["precision_dsat"] == "no dissatisfied prediction"
    if split["R003"] == "test":
        assert entries["offline:random", "zero_shot"]["methods"]["block_cdf"]["fallbacks"]["short_history"] == 3
    if split["R004"] == "test":
        assert raw["skipped"]["constant_gold"] >= 1 and raw["skipped"]["one_class"] >= 1
    assert {split["R003"], split["R004"]} & {"test"}
    page = root / "page.html"
    assert evaluate(root, "report", folder / "satisfaction.reference_cdf.json", "--out", page) == 0
    assert "Without a memory" in page.read_text("utf-8")


@pytest.mark.parametrize("words", [("run", "--model", "offline:strong"), ("run", "--model", "offline:weak")])
def test_offline_candidates_are_refused_in_one_line_where_nothing_is_planted(root, capsys, words):
    assert evaluate(root, *words) == 2
    said = capsys.readouterr().err
    assert said.startswith("error: offline candidate without planted quality") and said.count("\n") == 1
