"""The first track on small releases: what reaches a model, what counts, what is kept."""

import json
import statistics

import orjson
import pytest
from evaluator_samples import SPEC, evaluate, result_at, small_release, wide_tables
from release_samples import frozen_once, small_tables

from evaluators.memory.settings import SETTINGS

MODEL = "claude-haiku-4-5"
LOCAL = tuple(name for name in SETTINGS if name != "mem0")


def answer(choice):
    return json.dumps({"reasoning": "So it seems.", "choice": choice})


@pytest.fixture
def small(tmp_path):
    return small_release(tmp_path)


def numbered(tables):
    """Give every memory a word of its own."""
    for memory in tables["memories"]:
        memory["content_full"] += f" It was number {memory['id']}x."


def test_nothing_that_gives_the_character_away_reaches_a_prompt(tmp_path, rehearse):
    small_release(tmp_path, numbered)
    asked = []

    def compose(body):
        asked.append(body)
        return answer("A")

    rehearse(compose=compose)
    for setting in LOCAL:
        assert evaluate(tmp_path, "choice", "--setting", setting, "--model", MODEL, "--quiet", "--orders", 2) == 0
    tables = small_tables()
    # Equal prompts are asked once, whatever the setting they come from.
    named = result_at(next((tmp_path / "out").glob("evaluations/*/choice.*.json")))["run"]["pseudonyms"]
    assert set(named) == {c["character_id"] for c in tables["characters"]} and len(set(named.values())) == len(named)
    assert all(any(name in json.dumps(body) for body in asked) for name in named.values())
    early, late = ([f"{m['id']}x" for m in tables["memories"] if (m["age"] > 10) == past] for past in (False, True))
    assert early and late and all(any(word in json.dumps(body) for body in asked) for word in early)
    for body in asked:
        text = json.dumps([body["messages"], body["system"]], ensure_ascii=False)
        for character in tables["characters"]:
            hidden = [
                character["label"],
                character["description"],
                character["self_value_logic"],
                character["occupation_rationale"],
                *character["core_patterns"],
                character["archetype"],
                *(f'"{trait}": {value}' for trait, value in character["big_five"].items()),
            ]
            assert [part for part in hidden if part in text] == []
        for memory in tables["memories"]:
            assert memory["psych_conclusion"] not in text
            assert memory["behavior_policy"] not in text
        assert [word for word in late if word in text] == []
        assert not any(name in text for name in named), "an id tells the trait in a public table"
        assert len({name for name in named.values() if name in text}) <= 1
        for word in ("gold", "answer_key", "source_character", "is_correct", "annotation_reference"):
            assert word not in text


@pytest.mark.usefixtures("small")
def test_vanilla_says_nothing_of_the_person(tmp_path, rehearse):
    asked = []
    rehearse(compose=lambda body: asked.append(json.dumps(body)) or answer("A"))
    evaluate(tmp_path, "choice", "--setting", "vanilla", "--model", MODEL, "--quiet")
    tables = small_tables()
    for text in asked:
        assert not any(c["character_id"] in text or c["occupation"] in text for c in tables["characters"])
        assert not any(m["content_full"][:60] in text for m in tables["memories"])


@pytest.mark.parametrize(
    ("reply", "state", "choice"),
    [
        (answer("C"), "scored", "C"),
        ("I choose option C.", "scored", "C"),
        ("A person like this stays.", "unscored", None),
        ("Answer: A. Or answer: B.", "unscored", None),
        ("Die Person bleibt.", "unscored", None),
        ('{"choice": ["A", "B"]}', "unscored", None),
    ],
)
@pytest.mark.usefixtures("small")
def test_a_reply_is_scored_or_unscored_and_never_guessed(tmp_path, rehearse, reply, state, choice):
    rehearse(compose=lambda body: reply)
    out = tmp_path / "result.json"
    code = evaluate(tmp_path, "choice", "--setting", "vanilla", "--model", MODEL, "--quiet", "--out", out)
    result = result_at(out)
    assert code == (0 if state == "scored" else 1)
    assert {(item["state"], item["choice"]) for item in result["items"]} == {(state, choice)}
    assert result["figures"]["states"][state] == len(result["items"])
    right = sum(item["gold"] == choice for item in result["items"])
    assert result["figures"]["overall"]["hits"] == right


@pytest.mark.usefixtures("small")
def test_what_was_answered_is_not_asked_again(tmp_path, rehearse):
    asked = []
    rehearse(compose=lambda body: asked.append(1) or answer("B"))
    words = ["--setting", "naive_rag", "--model", MODEL, "--quiet", "--out"]
    assert evaluate(tmp_path, "choice", "--limit", 2, *words, tmp_path / "half.json") == 0
    assert len(asked) == 2
    assert evaluate(tmp_path, "choice", *words, tmp_path / "whole.json") == 0
    assert len(asked) == 4
    assert evaluate(tmp_path, "choice", *words, tmp_path / "again.json") == 0
    assert len(asked) == 4
    assert (tmp_path / "whole.json").read_bytes() == (tmp_path / "again.json").read_bytes()


@pytest.mark.usefixtures("small")
def test_a_model_that_reads_keeps_its_option_in_every_order(tmp_path, rehearse):
    def compose(body):
        text = body["messages"][-1]["content"]
        text = text if isinstance(text, str) else text[0]["text"]
        options = dict(part.split(". ", 1) for part in text.split("# Options\n\n")[1].split("\n\n")[:4])
        return answer(min(options, key=lambda label: options[label]))

    rehearse(compose=compose)
    out = tmp_path / "result.json"
    evaluate(tmp_path, "choice", "--setting", "vanilla", "--model", MODEL, "--quiet", "--orders", 4, "--out", out)
    reported = result_at(out)["figures"]["orders"]
    assert (reported["same"]["hits"], reported["same"]["items"]) == (4, 4)
    assert result_at(out)["figures"]["letters"] == {"A": 4, "B": 4, "C": 4, "D": 4}


@pytest.mark.usefixtures("small")
def test_a_run_that_goes_by_the_longest_option_is_seen_beside_that_floor(tmp_path, capsys):
    assert evaluate(tmp_path, "choice", "--setting", "vanilla", "--model", "offline:longest") == 0
    (line,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("  longest")]
    assert line.endswith("chosen alike 100.0%")


@pytest.mark.usefixtures("small")
def test_a_dry_run_tells_what_a_run_then_asks_and_asks_nothing(tmp_path, rehearse, capsys):
    asked = []
    rehearse(compose=lambda body: asked.append(1) or answer("B"))
    words = ["--setting", "naive_rag", "--model", MODEL, "offline:reader", "--orders", 2, "--json"]
    assert evaluate(tmp_path, "choice", *words, "--dry-run") == 0
    (planned,) = json.loads(capsys.readouterr().out)["planned"]
    assert asked == [] and not list((tmp_path / "out").rglob("choice.*"))
    assert evaluate(tmp_path, "choice", *words) == 0
    (result, _) = json.loads(capsys.readouterr().out)
    assert planned["requests"] == len(asked) == 8
    used = orjson.loads(next((tmp_path / "out").rglob(f"choice.*{MODEL}*.json")).read_bytes())["used"]
    assert result["run"]["model"] == MODEL and used["cost"] == pytest.approx(planned["cost"], rel=0.1)


@pytest.mark.usefixtures("small")
def test_a_model_that_likes_a_letter_is_found_out_by_the_orders(tmp_path, rehearse):
    rehearse(compose=lambda body: answer("A"))
    out = tmp_path / "result.json"
    evaluate(tmp_path, "choice", "--setting", "vanilla", "--model", MODEL, "--quiet", "--orders", 4, "--out", out)
    result = result_at(out)
    assert result["figures"]["orders"]["same"]["hits"] == 0
    assert result["figures"]["letters"] == {"A": 16, "B": 0, "C": 0, "D": 0}
    assert sum(one["hits"] for one in result["figures"]["orders"]["accuracy"]) == 4


@pytest.mark.parametrize("name", ["random", "longest", "options", "nearest", "reader"])
def test_baselines_run_as_models_and_are_the_same_every_time(tmp_path, name):
    frozen_once(tmp_path, SPEC, wide_tables())
    words = ["--setting", "recent", "--model", f"offline:{name}", "--quiet", "--out"]
    assert evaluate(tmp_path, "choice", *words, tmp_path / "one.json") == 0
    assert evaluate(tmp_path, "choice", *words, tmp_path / "two.json") == 0
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()
    result = result_at(tmp_path / "one.json")
    assert set(result["baselines"]) == {"random", "longest", "options", "nearest", "reader"}
    assert all(share["items"] == 24 for share in result["figures"]["baselines"].values())
    if name == "longest":
        questions = {row["question_id"]: row["options"] for row in wide_tables()["mcqs"]}
        for item in result["items"]:
            options = {option["label"]: option["content"] for option in questions[item["question_id"]]}
            assert len(options[item["choice"]]) == max(map(len, options.values()))


def test_the_nearest_baseline_takes_the_option_that_was_remembered(tmp_path):
    tables = small_tables()
    gold = {row["question_id"]: row["answer"] for row in tables["mcq_keys"]}
    for question in tables["mcqs"]:
        right = next(o["content"] for o in question["options"] if o["label"] == gold[question["question_id"]])
        own = next(m for m in tables["memories"] if m["character_id"] == question["character_id"] and m["age"] == 8)
        own["content_full"] = right
    frozen_once(tmp_path, SPEC, tables)
    out = tmp_path / "result.json"
    words = ["--model", "offline:random", "--quiet", "--out", out]
    evaluate(tmp_path, "choice", "--setting", "full", *words)
    assert result_at(out)["figures"]["baselines"]["nearest"]["rate"] == 1
    evaluate(tmp_path, "choice", "--setting", "vanilla", *words)
    assert result_at(out)["figures"]["baselines"]["nearest"] is None, "a model without memories has no such floor"


def test_a_floor_reads_what_the_model_reads_and_no_more(tmp_path):
    frozen_once(tmp_path, SPEC, wide_tables())
    out = tmp_path / "r.json"
    for setting in ("recent", "oracle", "full"):
        words = ["--setting", setting, "--quiet", "--out", out, "--model", "offline:reader"]
        evaluate(tmp_path, "choice", *words)
        figures = result_at(out)["figures"]
        assert figures["baselines"]["reader"] == figures["overall"]


def test_recall_tells_failing_to_remember_from_failing_to_reason(tmp_path):
    small_release(tmp_path)
    recall = {}
    for setting in ("oracle", "full", "recent"):
        out = tmp_path / f"{setting}.json"
        words = ["--setting", setting, *(["--k", "1"] if setting == "recent" else []), "--quiet", "--out", out]
        assert evaluate(tmp_path, "choice", *words, "--model", "offline:random") == 0
        recall[setting] = result_at(out)["figures"]["recall"]
    assert recall["oracle"] == recall["full"] == 1.0 and recall["recent"] < 1


def test_a_release_without_activations_has_no_oracle(tmp_path, capsys):
    small_release(tmp_path, lambda tables: tables["activations"].clear())
    assert evaluate(tmp_path, "choice", "--setting", "oracle", "--model", "offline:random") == 2
    assert "no activations in heart@0.1.0" in capsys.readouterr().err


@pytest.mark.usefixtures("small")
def test_letters_and_characters_are_counted_whatever_was_answered(tmp_path, rehearse):
    rehearse(compose=lambda body: answer("B"))
    out = tmp_path / "result.json"
    words = ["--setting", "recent", "--model", MODEL, "--quiet", "--out", out]
    evaluate(tmp_path, "choice", *words, "--orders", 2)
    figures = result_at(out)["figures"]
    assert figures["letters"] == {"A": 0, "B": 8, "C": 0, "D": 0}
    orders = figures["orders"]
    mean = sum(one["rate"] for one in orders["accuracy"]) / 2
    assert figures["overall"]["rate"] == pytest.approx(mean) and orders["all"]["hits"] == 0
    assert sum(one["items"] for one in figures["by_pole"].values()) == 4


@pytest.mark.usefixtures("small")
def test_the_variance_between_samples_of_a_question_is_kept_apart_from_that_between_questions(tmp_path, rehearse):
    asked = []

    def compose(body):
        asked.append(body["temperature"])
        return answer("AB"[len(asked) % 2])

    rehearse(compose=compose)
    out = tmp_path / "result.json"
    words = ["--setting", "recent", "--model", MODEL, "--quiet", "--concurrency", "1", "--out", out]
    assert evaluate(tmp_path, "choice", *words, "--samples", 4, "--orders", 2) == 0
    assert asked == [1.0] * 32
    result = result_at(out)
    samples, run = result["figures"]["samples"], result["run"]
    assert (run["samples"], run["temperature"], result["figures"]["replies"]) == (4, 1.0, 32)
    assert result["figures"]["letters"] == {"A": 16, "B": 16, "C": 0, "D": 0}
    assert samples["count"] == 4 and samples["same"] == {**samples["same"], "hits": 0, "items": 8}
    cells = [
        [one["choice"] == item["gold"] for one in item["replies"] if one["order"] == order]
        for item in result["items"]
        for order in (0, 1)
    ]
    assert samples["within"] == pytest.approx(sum(statistics.variance(cell) for cell in cells) / 8)
    between = statistics.variance([sum(cell) / 4 for cell in cells]) - samples["within"] / 4
    assert samples["between"] == pytest.approx(max(0, between))
    assert result["used"]["output_tokens"] > 0 and result["used"]["cost"] > 0


@pytest.mark.usefixtures("small")
def test_replies_that_could_not_be_scored_are_left_out_of_those_scored_whatever_their_order(tmp_path, rehearse):
    replies = iter([answer("A"), "I would rather not."] * 4)
    rehearse(compose=lambda body: next(replies))
    out = tmp_path / "result.json"
    words = ["--setting", "recent", "--model", MODEL, "--quiet", "--concurrency", "1", "--out", out, "--orders", 2]
    assert evaluate(tmp_path, "choice", *words) == 1
    figures = result_at(out)["figures"]
    assert (figures["states"]["scored"], figures["states"]["unscored"]) == (4, 4)
    assert figures["answered"]["items"] == 2 and figures["answered"]["hits"] == figures["overall"]["hits"]


@pytest.mark.usefixtures("small")
def test_too_few_scored_replies_give_no_headline(tmp_path, rehearse, capsys):
    replies = iter([answer("A"), "I would rather not.", "No.", "No."])
    rehearse(compose=lambda body: next(replies))
    out = tmp_path / "result.json"
    assert evaluate(tmp_path, "choice", "--setting", "vanilla", "--model", MODEL, "--out", out) == 1
    assert result_at(out)["figures"]["headline"] is False
    assert "no accuracy, too few replies could be scored" in capsys.readouterr().err


def test_memories_of_the_future_change_nothing_that_is_retrieved(tmp_path):
    tables = small_tables()
    frozen_once(tmp_path / "one", SPEC, tables)
    other = orjson.loads(orjson.dumps(tables))
    for memory in other["memories"]:
        if memory["age"] > 10:
            memory["content_summary"] = "Another evening altogether"
    frozen_once(tmp_path / "two", SPEC, other)
    found = []
    for root in (tmp_path / "one", tmp_path / "two"):
        evaluate(
            root, "choice", "--setting", "recent", "--model", "offline:reader", "--quiet", "--out", root / "r.json"
        )
        found.append([item["memories"] for item in result_at(root / "r.json")["items"]])
    assert found[0] == found[1]
    assert all(len(memories) == 2 for memories in found[0])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--setting", "vanila", "--model", "m"], "unknown setting 'vanila'"),
        (["--setting", "recent", "--model", "offline:redaer"], "Did you mean: offline:reader"),
        (["--setting", "recent", "--model", "offline:random", "--k", "4000"], "--k 4000 is more than there is"),
        (["--setting", "vanilla", "--model", "offline:reader"], "reads memories"),
        (["--setting", "vanilla", "--model", "offline:random", "--k", "3"], "--k for --setting vanilla"),
        (["--setting", "naive_rag", "--model", "offline:random", "--embedder", "word2vec"], "unknown embedder"),
    ],
)
@pytest.mark.usefixtures("small")
def test_a_wrong_request_is_reported_in_one_line(tmp_path, capsys, words, said):
    assert evaluate(tmp_path, "choice", *words) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ") and error.count("\n") == 1 and said in error


def test_a_release_without_memories_serves_vanilla_and_refuses_the_rest(tmp_path, capsys):
    tables = small_tables()
    frozen_once(tmp_path, SPEC, {**tables, "memories": [], "activations": [], "characters": []})
    out = tmp_path / "result.json"
    assert (
        evaluate(tmp_path, "choice", "--setting", "vanilla", "--model", "offline:options", "--quiet", "--out", out) == 0
    )
    assert result_at(out)["baselines"]["reader"] is None
    assert evaluate(tmp_path, "choice", "--setting", "naive_rag", "--model", "offline:random") == 2
    assert "needs memories and characters" in capsys.readouterr().err


def test_a_release_that_does_not_verify_is_refused(tmp_path, capsys):
    release = small_release(tmp_path)
    path = release.paths("mcqs")[0]
    path.chmod(0o644)
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    assert evaluate(tmp_path, "choice", "--setting", "vanilla", "--model", "offline:random") == 2
    assert "does not verify" in capsys.readouterr().err


@pytest.mark.usefixtures("small")
def test_json_is_one_document_and_carries_the_digest(tmp_path, capsys):
    assert evaluate(tmp_path, "choice", "--setting", "vanilla", "--model", "offline:random", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["release"]["name"] == SPEC and len(document["release"]["content_digest"]) == 64
    assert document["figures"]["questions"] == 4


def test_several_models_at_once_leave_the_results_that_each_alone_leaves(tmp_path):
    frozen_once(tmp_path, SPEC, wide_tables())
    models = ["offline:longest", "offline:nearest", "offline:reader"]
    assert evaluate(tmp_path, "choice", "--setting", "recent", "--quiet", "--model", *models) == 0
    folder = tmp_path / "out/evaluations" / SPEC
    together = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert len(together) == len(models)
    for model in models:
        alone = tmp_path / "alone.json"
        assert evaluate(tmp_path, "choice", "--setting", "recent", "--quiet", "--model", model, "--out", alone) == 0
        assert alone.read_bytes() == together[f"choice.recent.{model.replace(':', '-')}.json"]


def test_several_models_cannot_share_one_file(tmp_path, capfd):
    small_release(tmp_path)
    words = ["--setting", "vanilla", "--model", "offline:random", "offline:longest", "--out", tmp_path / "r.json"]
    assert evaluate(tmp_path, "choice", *words) == 2
    reported = capfd.readouterr().err
    assert reported.startswith("error: --out for several models") and reported.count("\n") == 1
    assert not (tmp_path / "r.json").exists()
