"""Arguments, roles, prices, estimates and progress: what a user can set, and what is said of it."""

import argparse
import datetime
import functools
from pathlib import Path

import pytest

from models.backends import add_backend_arguments, backend_settings, run
from models.budget import Used, dollars
from models.estimate import estimate, total_cost
from models.prices import read_prices
from models.progress import Progress
from models.rehearsal.speakers import text_of
from models.remedies import ask
from models.request import Request, Usage
from models.roles import OFFLINE, ROLES, known_models, model_named, read_roles
from models.tokens import TURN, at_most
from models.tokens import estimate as tokens
from schemas.benchmarks import benchmark as read_benchmark
from schemas.benchmarks import benchmark_names
from schemas.command import parser
from schemas.errors import RequestError

PAPER = {
    "memory": "claude-sonnet-4-6",
    "scenario": "claude-opus-4-6",
    "screen": "claude-haiku-4-5",
    "refine": "claude-sonnet-4-6",
    "decide": "claude-sonnet-4-6",
    "distract": "claude-sonnet-4-6",
}


def parsed(*words: str, benchmark: str = "heart"):
    made = parser("builders.memories", "Write memories.", "python -m builders.memories")
    add_backend_arguments(made)
    return backend_settings(made.parse_args(list(words)), read_benchmark(benchmark))


def question(number: int, role: str = "memory", fixed: tuple[str, ...] = ("rules " * 2000,)) -> Request:
    return Request(f"q/{number}", role, fixed, f"Write {number}.", "p", "d", compose=functools.partial(str, number))


def test_without_arguments_the_offline_writer_answers_and_nothing_is_opened(tmp_path):
    settings = parsed("--workspace", str(tmp_path))
    assert (settings.name, settings.journal) == ("offline", tmp_path / "heart" / "journal.sqlite")
    replies = list(run([functools.partial(ask, question(number)) for number in range(3)], settings, workers=1))
    assert [reply.answer for reply in replies] == ["0", "1", "2"]
    assert list(tmp_path.iterdir()) == []


def test_a_builder_of_heart_takes_the_papers_choice_of_models():
    assert {role: parsed().roles[role].name for role in PAPER} == PAPER
    assert set(read_roles()) == set(ROLES)


@pytest.mark.parametrize("preset", ["heart", "likebench", "personalens", "persturn", "fidelity"])
def test_every_preset_fills_every_role_with_models_that_have_entries_and_prices(preset):
    names = {model.name for model in read_roles(preset).values()}
    assert names <= set(known_models()) & set(read_prices().models)


def test_every_preset_that_a_benchmark_names_exists():
    for name in benchmark_names():
        assert read_roles(read_benchmark(name).preset).keys() == set(ROLES)


def test_a_benchmark_has_the_preset_of_its_paper():
    assert parsed(benchmark="personalens").roles["user"].name == "claude-haiku-4-5"


def test_one_role_or_all_roles_get_another_model():
    assert parsed("--model", "memory=qwen3").roles["memory"].name == "qwen3"
    assert parsed("--model", "memory=qwen3").roles["judge"].name == "claude-sonnet-4-6"
    assert {model.name for model in parsed("--model", "qwen3").roles.values()} == {"qwen3"}


def test_a_role_is_played_by_the_built_in_writer_when_its_model_is_offline(tmp_path):
    assert parsed("--model", "user=offline").roles["user"] == OFFLINE
    path = tmp_path / "roles.toml"
    path.write_text('[presets.default]\njudge = "offline"\n')
    assert parsed("--roles", str(path)).roles["judge"] == OFFLINE
    assert {model.name for model in parsed("--model", "offline").roles.values()} == {"offline"}


def test_where_a_model_is_asked_is_in_its_entry(tmp_path):
    path = tmp_path / "roles.toml"
    path.write_text(
        '[models.here]\nserved_as = "Qwen/Qwen3-32B"\nserver = "http://localhost:8000"\nwire = "chat"\n'
        'key_env = "KEY"\nserver_identity = "ours"\nextra = { top_p = 0.9 }\n'
    )
    here = parsed("--roles", str(path), "--model", "judge=here").roles["judge"]
    assert (here.name, here.served_as, here.wire, here.schema) == ("here", "Qwen/Qwen3-32B", "chat", "probe")
    assert (here.server, here.key_env, here.server_identity) == ("http://localhost:8000", "KEY", "ours")
    assert here.extra == {"top_p": 0.9}


def test_the_timeout_is_ten_minutes_of_silence_unless_said():
    assert parsed().timeout == 600
    assert parsed("--timeout", "30").timeout == 30


def test_a_file_of_users_lies_over_the_shipped_one(tmp_path):
    path = tmp_path / "roles.toml"
    path.write_text('[presets.heart]\nmemory = "qwen3"\n[models.qwen3]\nschema = false\nmax_output = 8000\n')
    roles = parsed("--roles", str(path)).roles
    assert (roles["memory"].name, roles["memory"].schema, roles["memory"].max_output) == ("qwen3", False, 8000)
    assert roles["scenario"].name == "claude-opus-4-6"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('[presets.heart]\nmemori = "x"', "unknown role 'memori'.*memory"),
        ("[presets.heart]\nmemory = 1", "malformed model name"),
        ("[models.x]\nsampling = 1", "models.x.sampling: true or false"),
        ('[models.x]\nschema = "maybe"', 'models.x.schema: true, false or "probe"'),
        ('[models.x]\nwire = "smoke"', 'models.x.wire: "messages" or "chat"'),
        ("[models.x]\nserver = 8000", "models.x.server: an address"),
        ("[models.x]\nrequests_per_minute = 0", "models.x.requests_per_minute: a number above 0"),
        ("[models.x]\nextra = 1", "models.x.extra: a table"),
        ("[models.x]\nmax_output = true", "models.x.max_output: a whole number"),
        ("[models.x]\ntemperature = true", "unknown setting 'temperature'"),
        ("[roles]\nx = 1", "unknown section 'roles'"),
        ("[", "malformed TOML"),
    ],
)
def test_a_malformed_roles_file_is_refused_by_place(tmp_path, text, complaint):
    path = tmp_path / "roles.toml"
    path.write_text(text)
    with pytest.raises(RequestError, match=complaint) as raised:
        parsed("--roles", str(path))
    assert str(path) in str(raised.value)


@pytest.mark.parametrize(
    "words",
    [
        ("--max-cost", "0"),
        ("--max-cost", "many"),
        ("--concurrency", "0"),
        ("--concurrency", "ten"),
        ("--timeout", "0"),
        ("--timeout", "soon"),
        ("--backend", "onlne"),
    ],
)
def test_a_malformed_argument_is_reported_in_one_line(words, capsys):
    with pytest.raises(SystemExit) as stopped:
        parsed(*words)
    assert stopped.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("words", [("--preset", "hart"), ("--model", "memori=x"), ("--roles", "none.toml")])
def test_an_unknown_preset_role_or_file_is_refused(words):
    with pytest.raises(RequestError):
        parsed(*words)


def test_prices_have_a_day_and_add_up():
    prices = read_prices()
    assert isinstance(prices.date, datetime.date)
    used = Usage(
        input_tokens=1_000_000, cache_write_tokens=2_000_000, cache_read_tokens=3_000_000, output_tokens=100_000
    )
    assert prices.cost("claude-sonnet-4-6", used) == pytest.approx(3.00 + 2 * 3.75 + 3 * 0.30 + 0.1 * 15.00)
    assert prices.cost("claude-sonnet-4-6", used, batch=True) == pytest.approx(
        prices.cost("claude-sonnet-4-6", used) / 2
    )


def test_a_model_without_a_price_costs_an_unknown_sum():
    assert read_prices().cost("qwen3", Usage(output_tokens=5)) is None
    assert dollars(None) == "price unknown"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[models.x]\ninput = 1", "without a date"),
        ("date = 2026-01-01\n[models.x]\ninput = 1", "models.x.cache_write"),
        ("date = 2026-01-01\n[models.x]\ninptu = 1", "unknown rate 'inptu'"),
        ("date = 2026-01-01\n[models.x]\ninput = -1", "models.x.input"),
        ("date = 2026-01-01\nbatch = 7", "batch"),
    ],
)
def test_a_malformed_price_list_is_refused_by_field(tmp_path, text, complaint):
    path = tmp_path / "prices.toml"
    path.write_text(text)
    with pytest.raises(RequestError, match=complaint):
        read_prices(path)


def test_an_estimate_counts_requests_by_role_and_each_distinct_prefix_as_written_once():
    settings = parsed()
    starts = [functools.partial(ask, question(n, role)) for n in range(10) for role in ("memory", "judge")]
    by_role = {each.role: each for each in estimate(starts, settings, workers=1)}
    assert {role: each.requests for role, each in by_role.items()} == {"memory": 10, "judge": 10}
    prefix = tokens("rules " * 2000, 3.5)
    assert by_role["memory"].usage.cache_write_tokens == prefix
    assert by_role["memory"].usage.cache_read_tokens == 9 * prefix
    assert total_cost(list(by_role.values())) == pytest.approx(sum(each.cost for each in by_role.values()))


def test_prefixes_too_short_for_the_models_cache_are_not_estimated_as_cached():
    settings = parsed("--model", "claude-haiku-4-5")
    (each,) = estimate([functools.partial(ask, question(1))], settings, workers=1)
    assert (each.usage.cache_write_tokens, each.usage.cache_read_tokens) == (0, 0)
    assert each.usage.input_tokens > 3000


def several():
    """A chain that asks two things at once, and then one with the turns so far."""
    first, _ = yield [question(1), question(2, "judge")]
    turns = (("user", "Write 1."), ("assistant", first.answer))
    return (yield question(3)._replace(messages=turns))


def test_an_estimate_counts_requests_asked_together_and_all_turns_and_no_offline_role():
    by_role = {each.role: each for each in estimate([several], parsed(), workers=1)}
    assert {role: each.requests for role, each in by_role.items()} == {"memory": 2, "judge": 1}
    assert by_role["memory"].usage.input_tokens == sum(
        tokens(t, 3.5) + TURN for t in ("Write 1.", "Write 1.", "1", "Write 3.")
    )
    (only,) = estimate([several], parsed("--model", "judge=offline"), workers=1)
    assert only.role == "memory"


def test_what_is_asked_together_is_answered_together_on_every_backend(rehearse, tmp_path):
    rehearse(compose=lambda body: text_of(body["messages"][-1]["content"]))
    for words in ((), ("--backend", "messages", "--quiet"), ("--backend", "messages", "--quiet", "--batch")):
        settings = parsed("--workspace", str(tmp_path / "-".join(words)), *words)
        (reply,) = run([several], settings, workers=1)
        assert reply.answer in ("3", "Write 3.")


def test_an_estimate_is_the_same_with_two_workers():
    settings = parsed()
    starts = [functools.partial(ask, question(number)) for number in range(6)]
    assert estimate(starts, settings, workers=1) == estimate(starts, settings, workers=2)


def test_an_estimate_is_what_the_rehearsal_server_then_counts(rehearse, tmp_path):
    api = rehearse()
    settings = parsed("--workspace", str(tmp_path), "--backend", "messages", "--quiet", "--concurrency", "1")
    starts = [functools.partial(ask, question(number)) for number in range(8)]
    (planned,) = estimate(starts, settings, workers=1)
    list(run(starts, settings))
    counted = api.stats()["tokens"]["claude-sonnet-4-6"]
    assert counted["cache_creation_input_tokens"] == planned.usage.cache_write_tokens
    assert counted["cache_read_input_tokens"] == planned.usage.cache_read_tokens


def test_a_token_is_at_least_two_bytes_of_what_is_sent():
    text = Path(__file__).read_bytes()
    assert at_most(text) > tokens(text.decode(), model_named("claude-opus-5").bytes_per_token)


def test_progress_off_a_terminal_is_silent_for_the_first_half_minute(capsys):
    progress = Progress(quiet=False, rows=100)
    progress.show(Used(answered=3, rows=9), 0)
    progress.close()
    assert capsys.readouterr().err == ""


def test_progress_says_rows_rate_cost_time_left_and_retries():
    used = Used(answered=30, replayed=10, rows=120, cost=1.25)
    line = Progress(quiet=False, rows=1000)._line(used, 4, 60.0)
    assert line == "[##..................] 120/1000 rows  40 replies  0.5/s  $1.25  7:20 left  4 retries"


def test_what_a_run_used_is_one_line():
    used = Used(replayed=2, doubts=1)
    used.add(Usage(100, 0, 300, 50), 0.5)
    assert used.line() == (
        "1 answered, 2 from the journal, 1 sent without a reply seen (may have been billed), "
        "400 tokens in (75% from the cache), 50 out: $0.5000"
    )


def test_the_arguments_are_explained():
    made = argparse.ArgumentParser()
    add_backend_arguments(made)
    assert all(action.help for action in made._actions)
