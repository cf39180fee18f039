"""Steps: loaded from a benchmark's list or a folder, run in a possible order, every mistake named in one line."""

import orjson
import pytest
from benchmark_samples import BENCHMARK, write_benchmark
from builder_samples import run_in

from builders.__main__ import _run_step, main
from builders.pipeline import steps
from builders.pipeline.run import Done, Option
from builders.pipeline.staleness import current_outcome, inputs_digest, write_if_stale
from builders.pipeline.streams import Streams
from schemas.benchmarks import benchmark
from schemas.errors import RequestError
from schemas.workspace import Workspace

HEART_STEPS = ["personas", "memories", "scenarios", "compatibility", "activations", "decisions", "mcqs"]


def test_every_step_of_a_shipped_benchmark_loads_and_says_what_it_makes():
    loaded = steps.load_steps(benchmark("heart"))
    assert [step.short for step in loaded] == HEART_STEPS
    made = [table for step in loaded for table in step.makes]
    assert sorted(made) == sorted(set(benchmark("heart").tables) - {"reviews"})
    assert [step.short for step in steps.load_steps(benchmark("heart-reassembled"))] == ["mcqs"]


def test_a_benchmark_that_is_not_built_here_is_refused_with_what_to_do(tmp_path, capsys):
    assert main(["run", "heart-published", "--workspace", str(tmp_path)]) == 2
    err = capsys.readouterr().err
    assert "no build steps in" in err and "builders.importers" in err and err.count("\n") == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("table", "command"),
    [("exclusions", "builders.compatibility"), ("mcq_keys", "builders.mcqs"), ("ledgers", "builders.personas")],
)
def test_the_command_for_a_missing_table_is_that_of_the_step_that_makes_it(tmp_path, table, command):
    with pytest.raises(RequestError, match=f"Run first: python -m {command}$"):
        inputs_digest(Workspace(tmp_path, "heart"), (table,))


def test_only_the_wanted_steps_run(tmp_path, capsys):
    words = ["run", "heart", "--workspace", str(tmp_path), "--quiet"]
    assert main([*words, "--only-step", "personas"]) == 0
    space = Workspace(tmp_path, "heart")
    assert space.keys("ledgers") and not space.keys("memories") and space.recipe() is None
    assert main([*words, "--from-step", "builders.activations"]) == 2
    assert "Run first: python -m builders.scenarios" in capsys.readouterr().err
    assert main([*words, "--only-step", "memoirs"]) == 2
    err = capsys.readouterr().err
    assert "unknown step 'memoirs'" in err and "memories" in err and err.count("\n") == 1


def step(name, *, reads=(), makes=()):
    return steps.Step(name, lambda run: Done(), tuple(reads), tuple(makes))


@pytest.mark.parametrize(
    ("order", "said"),
    [
        (
            [step("b", reads=["memories"]), step("a", makes=["memories"])],
            "step 'b' reads memories, which the later step",
        ),
        (
            [step("a", reads=["scenarios"], makes=["memories"]), step("b", reads=["memories"], makes=["scenarios"])],
            "a circle",
        ),
        ([step("a"), step("a")], "listed twice"),
        ([step("a", makes=["memoirs"])], "unknown table of step a: 'memoirs'"),
    ],
)
def test_an_impossible_order_is_named(tmp_path, order, said):
    with pytest.raises(RequestError, match=said) as raised:
        steps._check_order(benchmark("heart"), order, tmp_path / "benchmark.toml")
    assert "\n" not in str(raised.value) and "benchmark.toml" in str(raised.value)


def test_a_table_may_be_read_by_the_step_that_makes_it_or_made_by_nobody(tmp_path):
    own = [step("a", reads=["memories"], makes=["memories"]), step("b", reads=["scenarios"])]
    assert steps._check_order(benchmark("heart"), own, tmp_path / "benchmark.toml") is None  # nothing raised


MINE = """
from builders.pipeline.run import Done, Option, Run

READS = ("characters",)
MAKES = ("memories",)
OPTIONS = (Option("--per-user", "rows a user", default=3, read=int),)

def build(run: Run) -> Done:
    return Done(left_out=("one",))

def other(run: Run) -> Done:
    return Done(left_out=("two",))
"""


def test_a_file_of_the_folder_is_a_step_and_so_is_each_function_of_it(tmp_path):
    (tmp_path / "mine.py").write_text(MINE, "utf-8")
    source = tmp_path / "benchmark.toml"
    whole, other = steps.load_step("mine.py", source), steps.load_step("mine.py:other", source)
    run = run_in(Workspace(tmp_path / "build", "heart"))
    assert (whole.build(run).left_out, other.build(run).left_out) == (("one",), ("two",))
    assert (whole.reads, whole.makes, other.makes) == (("characters",), ("memories",), ())
    assert [option.of(run) for option in whole.options] == [3]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("mine.py", "def build(run:\n", "SyntaxError"),
        ("mine.py", "import nowhere_to_be_found\n", "No module named 'nowhere_to_be_found'"),
        ("mine.py", "1 / 0\n", "ZeroDivisionError"),
        ("mine.py", "x = 1\n", r"a function build\(run\) in mine.py"),
        ("mine.py:users", "def build(run): ...\n", r"a function users\(run\) in mine.py"),
        ("yours.py", "", "unknown step 'yours.py' in .*mine.py"),
        ("builders.memoires", "", "unknown step 'builders.memoires'.*builders.memories"),
        ("builders.pipeline.run", "", r"a function build\(run\)"),
    ],
)
def test_a_step_that_cannot_be_loaded_is_reported_in_one_line(tmp_path, name, text, said):
    (tmp_path / "mine.py").write_text(text, "utf-8")
    with pytest.raises(RequestError, match=said) as raised:
        steps.load_step(name, tmp_path / "benchmark.toml")
    assert raised.value.exit_code == 2 and "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("build", "said"),
    [(lambda run: {}["x"], "KeyError: 'x' .*, line [0-9]+"), (lambda run: None, "returned.*Done, not NoneType")],
)
def test_what_goes_wrong_in_a_step_of_users_is_reported_in_one_line(tmp_path, build, said):
    with pytest.raises(RequestError, match=said) as raised:
        _run_step(steps.Step("mine.py", build), run_in(Workspace(tmp_path, "heart")))
    assert "\n" not in str(raised.value)


def test_options_of_a_step_are_read_where_it_is_run_alone_and_with_the_others(tmp_path, capsys):
    assert main(["run", "heart", "--help"]) == 0
    whole = capsys.readouterr().out
    for flag in ("--count", "--intensities", "--blueprints", "--block", "--rule", "--spec", "--decisions-of"):
        assert flag in whole, flag
    assert main(["run", "--workspace", str(tmp_path), "--rule", "best", "heart"]) == 2
    assert "invalid choice: 'best'" in capsys.readouterr().err


def test_a_run_without_its_benchmark_shows_the_options_of_all(capsys):
    assert main(["run", "--help"]) == 0
    assert "--count" in capsys.readouterr().out


def test_two_benchmarks_never_draw_the_same_choices():
    one, other = Streams(7, "heart").rng("plan", "CHAR_01"), Streams(7, "mine").rng("plan", "CHAR_01")
    assert [one.random() for _ in range(3)] != [other.random() for _ in range(3)]


def test_an_option_has_its_default_until_a_run_says_otherwise(tmp_path):
    option = Option("--per-user", "rows a user", default=3)
    space = Workspace(tmp_path, "heart")
    assert (option.of(run_in(space)), option.of(run_in(space, options={"per_user": 5}))) == (3, 5)


def test_a_file_is_written_once_and_again_only_when_its_inputs_change(tmp_path):
    space = Workspace(tmp_path, "heart")
    made = []

    def make():
        made.append(1)
        return [{"character_id": "CHAR_01", "scenario_id": "SCN_ADOLESCENCE_1"}]

    actions = [write_if_stale(space, "exclusions", digest, make, False).action for digest in ("a", "a", "b")]
    assert (actions, len(made)) == (["built", "up to date", "built"], 2)
    space.write("exclusions", [{"character_id": "CHAR_02", "scenario_id": "SCN_ADOLESCENCE_1"}])
    assert current_outcome(space, "exclusions", "all", "b", False).action == "kept"


STEPS = """
from builders.pipeline.run import Done, Option, Run
from builders.pipeline.staleness import inputs_digest, write_if_stale

DAYS = Option("--days", "meals a pet", default=2, read=int, metavar="N")
OPTIONS = (DAYS,)
NAMES = ("Mog", "Rex")


def pets(run: Run) -> Done:
    rows = [{"pet_id": n, "name": name, "kind": "cat"} for n, name in enumerate(NAMES, 1)]
    return Done([write_if_stale(run.space, "pets", inputs_digest(run.space, ()), lambda: rows, run.fresh)])


def meals(run: Run) -> Done:
    done = []
    for pet in run.space.rows("pets"):
        rng = run.streams.rng("meals", str(pet["pet_id"]))
        days = range(1, DAYS.of(run) + 1)
        rows = [{"pet_id": pet["pet_id"], "day": day, "food": rng.choice(("fish", "bones"))} for day in days]
        digest = inputs_digest(run.space, ("pets",), days=DAYS.of(run), seed=run.seed)
        done.append(write_if_stale(run.space, "meals", digest, lambda: rows, run.fresh, str(pet["pet_id"])))
    return Done(done)
"""


def test_a_benchmark_of_users_is_built_from_its_folder(tmp_path, capsys):
    steps_of_the_folder = '\n[build]\nsteps = ["mine.py:pets", "mine.py:meals"]\n'
    home = write_benchmark(tmp_path / "pets", benchmark=BENCHMARK + steps_of_the_folder)
    (home / "mine.py").write_text(STEPS, "utf-8")
    words = ["run", str(home), "--workspace", str(tmp_path / "build"), "--days", "3", "--json"]

    def actions():
        capsys.readouterr()
        assert main(words) == 0
        outcomes = orjson.loads(capsys.readouterr().out)["outcomes"]
        return [(each["table"], each["file"], each["action"]) for each in outcomes]

    assert actions() == [("pets", "all", "built"), ("meals", "1", "built"), ("meals", "2", "built")]
    assert {action for *_, action in actions()} == {"up to date"}
    space = Workspace(tmp_path / "build", str(home))
    assert len(list(space.rows("meals"))) == 6
    assert space.recipe()["command"] == ["builders", "run", str(home), "--seed", "7", "--days", "3"]
    (home / "mine.py").write_text(STEPS.replace('"Rex"', '"Tom"'), "utf-8")
    assert {action for *_, action in actions()} == {"built"}
    (home / "mine.py").write_text(STEPS.replace("run.fresh)", "run.late)"), "utf-8")
    assert main(words) == 2
    err = capsys.readouterr().err
    assert "step 'mine.py:pets' failed" in err and "has no attribute 'late'" in err and err.count("\n") == 1
