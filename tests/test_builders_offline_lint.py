"""The lint of the phrase banks: the banks are without fault, and what a writer can get wrong is named."""

import pytest

from builders.offline import lint
from builders.offline.banks import FOLDER
from builders.offline.proof import Line, proof, wordings_of
from schemas.errors import RequestError

SCENE = (FOLDER / "scenes/adult_health.3.toml").read_text("utf-8")
VOICE = (FOLDER / "voices/n_high.toml").read_text("utf-8")


@pytest.fixture
def checked(tmp_path):
    """What the lint says of a file that would stand in a folder of the banks."""

    def check(folder, name, text):
        path = tmp_path / folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
        return lint.check(path).problems

    return check


def test_no_bank_has_a_fault():
    assert [problem for path in sorted(FOLDER.rglob("*.toml")) for problem in lint.check(path).problems] == []


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("Years later I learned why.", "forbidden 'Years later'"),
        ("I was a good girl that day.", "identity.gendered"),
        ("I put it in [in|on] a box.", "a word twice"),
        ("“Good girl,” said {other}.", "gendered"),
        ("“Come here,” said {other}", "no stop at the end"),
        ("“Come here, said {other}.", "unbalanced quotation marks"),
        ('"Come here," said {other}.', "straight quotation mark"),
        ("I saw {nobody_knows}.", "unknown slot {nobody_knows}"),
        ("I saw {other.she}.", "unknown slot {other.she}"),
        ("I [saw] it.", "a choice of one"),
        ("I [saw|heard it.", "'[' without ']'"),
        ("It gave me anxiety.", "clinical"),
    ],
)
def test_fault_of_a_line_is_named(checked, line, fault):
    found = checked("scenes", "adult_health.toml", SCENE.replace("detail = [", f"detail = [\n  {quoted(line)},", 1))
    assert any(fault in problem for problem in found), found


def quoted(line):
    """A line as TOML writes it."""
    return "'" + line + "'"


def test_fault_in_one_wording_of_many_is_found():
    line = Line("here", "I went home, [slowly|in a hurry|and years later I knew why].", "adult")
    assert len(wordings_of(line)) == 3
    assert [problem.split(":")[1].split()[0] for problem in proof([line]).problems] == ["perspective.future"]


def test_what_only_a_child_may_not_say_is_a_fault_of_child_lines_alone():
    text = "In hindsight it was only a cup."
    faults = {language: proof([Line("here", text, language)]).problems for language in ("child", "adult")}
    assert any("perspective.adult" in problem for problem in faults["child"])
    assert not any("perspective.adult" in problem for problem in faults["adult"])


def test_too_many_articles_and_too_few_wordings_are_complained_of(checked):
    heavy = [f"“The cup stood on the table by the door of the hall, {number}.”" for number in range(900)]
    lines = "".join(f"  {quoted(line)},\n" for line in heavy)
    found = checked("scenes", "adult_health.toml", SCENE.replace("detail = [", "detail = [\n" + lines, 1))
    assert any('of a hundred words are "the"' in problem for problem in found), found
    assert any("fewer than three wordings" in problem for problem in found)


def test_scene_without_a_beat_or_a_handle_is_named(checked):
    found = checked("scenes", "adult_health.toml", SCENE.replace("press = [", "pressed = [", 1))
    assert any("beat press is missing" in problem for problem in found)
    found = checked("scenes", "adult_health.toml", SCENE.replace('prop = "', 'propp = "', 1))
    assert any("variant 0 lacks prop" in problem for problem in found)


def test_voice_has_eight_patterns(checked):
    cut = VOICE[: VOICE.rindex("[[pattern]]")]
    assert any("7 patterns instead of 8" in problem for problem in checked("voices", "n_high.toml", cut))


def test_file_that_is_no_toml_is_refused_in_one_line(tmp_path):
    (tmp_path / "broken.toml").write_text("a = [", "utf-8")
    with pytest.raises(RequestError, match="not a bank"):
        lint.check(tmp_path / "broken.toml")
