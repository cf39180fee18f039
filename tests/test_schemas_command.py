"""What all commands share: exit codes, one line for an error, stdout for the JSON document alone."""

import errno
import json

import pytest

from schemas.command import DEFAULT_SEED, parser, print_json, run, say
from schemas.errors import MachineError, RequestError, unknown


def outcome(command, *words: str) -> int:
    return run(command, parser("thing", "Does a thing.", "python -m thing"), words)


def raising(error: BaseException):
    def command(arguments):
        raise error

    return command


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (RequestError("wrong", "here", fix="Do this"), 2, "error: wrong in here. Do this"),
        (MachineError("broken", "there", expected="a server"), 3, "error: broken in there: a server"),
        (KeyboardInterrupt(), 130, "error: interrupted. Run the same command again"),
        (
            OSError(errno.ENOSPC, "No space left on device", "/x"),
            3,
            "error: no space left on device in /x. Free some room",
        ),
        (PermissionError(errno.EACCES, "Permission denied", "/x"), 3, "error: permission denied in /x."),
    ],
)
def test_an_error_is_one_line_on_stderr_and_an_exit_code(capsys, error, code, line):
    assert outcome(raising(error)) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(line)
    assert err.count("\n") == 1


def test_debug_shows_the_traceback_before_the_line(capsys):
    assert outcome(raising(RequestError("wrong")), "--debug") == 2
    err = capsys.readouterr().err
    assert "Traceback" in err
    assert err.endswith("error: wrong\n")


def test_a_fault_of_ours_is_not_hidden():
    with pytest.raises(ZeroDivisionError):
        outcome(raising(ZeroDivisionError()))


@pytest.mark.parametrize("words", [["--seed", "-1"], ["--seed", "x"], ["--seed", str(2**63)], ["--nothing"], ["--jso"]])
def test_a_bad_argument_is_one_line_and_exit_code_2(capsys, words):
    assert outcome(lambda arguments: 0, *words) == 2
    err = capsys.readouterr().err
    assert err.startswith("error: ")
    assert err.endswith("See: python -m thing --help\n")
    assert err.count("\n") == 1


def test_an_argument_given_twice_with_two_values_is_refused_instead_of_the_first_being_forgotten(capsys):
    assert outcome(lambda arguments: 0, "--seed", "1", "--seed", "2") == 2
    assert capsys.readouterr().err.startswith("error: argument --seed: given twice, with two values. Leave one out")
    assert outcome(lambda arguments: 0, "--seed", "1", "--seed", "1") == 0


def test_a_parser_that_is_used_again_remembers_nothing():
    made = parser("thing", "Does a thing.", "python -m thing")
    assert [run(lambda arguments: arguments.seed, made, ["--seed", str(seed)]) for seed in (1, 2)] == [1, 2]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(errno.ENOSPC, "No space left on device")])
def test_nothing_is_said_to_be_kept_that_a_command_may_not_keep(capsys, error):
    outcome(raising(error))
    assert "what is finished is not done again" in capsys.readouterr().err


def test_help_shows_an_example_and_exits_with_0(capsys):
    assert outcome(lambda arguments: 1, "--help") == 0
    assert "example:\n  python -m thing" in capsys.readouterr().out


def test_defaults_are_build_and_the_default_seed():
    seen = []
    assert outcome(lambda arguments: seen.append(arguments) or 0) == 0
    assert (str(seen[0].workspace), seen[0].seed, seen[0].json, seen[0].quiet) == ("build", DEFAULT_SEED, False, False)


def test_people_read_stderr_and_programs_read_stdout(capsys):
    say("for people")
    say("not said", quiet=True)
    print_json({"é": [1, None]})
    out, err = capsys.readouterr()
    assert err == "for people\n"
    assert json.loads(out) == {"é": [1, None]}


def test_an_error_says_what_where_which_row_and_field_what_is_expected_and_how_to_fix_it():
    error = RequestError("bad value", "file.toml", row="CHAR_12", field="age", expected="6 to 50", fix="Change it")
    assert str(error) == "bad value in file.toml, row CHAR_12, field age: 6 to 50. Change it"


def test_an_error_is_one_line_whatever_its_parts_hold():
    assert "\n" not in str(RequestError("two\nlines", "a\nb", expected="c\r\nd"))


@pytest.mark.parametrize(
    ("name", "known", "said"),
    [
        ("hart", ["heart", "likebench"], "unknown thing 'hart'. Did you mean: heart?"),
        ("HEART", ["heart", "likebench"], "unknown thing 'HEART'. Did you mean: heart?"),
        ("xyz", ["heart", "likebench"], "unknown thing 'xyz'. Known: heart, likebench"),
        ("xyz", [], "unknown thing 'xyz'. None exist yet"),
        ("xyz", [f"a{n:02d}" for n in range(20)], "Known: a00, a01, a02, a03, a04, a05, a06, a07 … (20 in all)"),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest_or_the_known_ones(name, known, said):
    assert said in str(unknown("thing", name, known))
