"""The lint of the phrase banks: the banks are without fault, and what a writer can get wrong is named."""

import dataclasses
import re
import tomllib

import pytest

from builders.offline import lint
from builders.offline.banks import FOLDER
from builders.offline.grammar import render
from builders.offline.lines import sentences, taken_up
from builders.offline.proofs.coverage import coverage_problems
from builders.offline.proofs.proof import Line, proof, wordings_of
from builders.offline.scene_files import read_scenes, scenes
from builders.offline.slots import place_problems, value_problem
from builders.offline.turns import Part, parts, read_turns
from builders.offline.voices import merged, read_voice, stems, voice
from schemas.errors import RequestError

SCENE = (FOLDER / "scenes/adult_health.toml").read_text("utf-8")
VOICE = (FOLDER / "voices/n_high.toml").read_text("utf-8")
SMALL = 'small = "I waited."'


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


def test_every_scene_has_turns_for_every_voice_and_every_pattern_has_one_in_every_domain_and_age():
    assert list(coverage_problems({name: voice(name) for name in stems().values()}, scenes(), parts())) == []


def test_scene_without_a_voice_and_pattern_without_a_turn_are_named():
    found = [scene for scene in scenes() if scene.domain == "health"]
    who, tag = voice("N-High"), voice("N-High").patterns[0].tag
    own = {key: part for key, part in parts().items() if key[1] == "N-High"}
    without = {
        key: Part({name: lines for name, lines in part.turns.items() if name != tag}, part.small)
        for key, part in own.items()
    }
    assert list(coverage_problems({"N-High": who}, found, own)) == []
    (none,) = coverage_problems({"N-High": who}, found, without)
    assert none == f"N-High {tag!r}: no scene with a turn in health at 6 to 12, health at 13 to 18, health at 19 to 50"
    del own[found[0].id, "N-High"]
    assert f"{found[0].id}: no turns for N-High" in coverage_problems({"N-High": who}, found, own)


def test_no_sentence_stands_in_two_scenes():
    assert list(lint.repeated(scenes())) == []
    read = read_scenes(FOLDER / "scenes/adult_health.toml")
    twice = dataclasses.replace(read[0], id="again", beats={"open": read[1].beats["later"]})
    assert any("the same sentence as in" in problem for problem in lint.repeated([*read, twice]))


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
        ("I saw {nobody}.", "unknown slot {nobody}"),
        ("I saw {other.she}.", "unknown slot {other.she}"),
        ("I [saw] it.", "a choice of one"),
        ("I [saw|heard it.", "'[' without ']'"),
        ("It gave me anxiety.", "clinical"),
        ("I had a list with me, as one does.", "stock phrase"),
        ("I should mention that {second} was late.", "stock phrase"),
        ("It tasted of iron.", "nobody knows who or what is meant"),
        ("She had very clean ears.", "nobody knows who or what is meant"),
        ("I asked [most of us|half of us] of us for help.", "a word twice"),
    ],
)
def test_fault_of_a_line_is_named(checked, line, fault):
    try:
        found = checked("scenes", "adult_health.toml", SCENE.replace("detail = [", f"detail = [\n  {quoted(line)},", 1))
    except (RequestError, ValueError) as error:
        found = [str(error)]
    assert any(fault in problem for problem in found), found


def quoted(line):
    """A line as TOML writes it."""
    return "'" + line + "'"


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("I looked at the {matter}.", {}),  # two articles
        ("It was my {matter}.", {}),
        ("A {gifts_pl} feels cold.", {}),  # "A glasses feels"
        ("This {gifts_pl} was mine.", {}),
        ("Every {glue_m} is sticky.", {}),
        ("I was asked about {lamp_n} and had seen with {lamp_n}.", {}),  # a bare noun that can be counted
        ("I thought of {fix}.", {}),  # a base form where a noun belongs
        ("He was {fix}.", {}),
        ("Then we did {fix}.", {}),  # the past tense told with "did"
        ("We did {fixed}.", {}),
        ("We agreed to {fixed}.", {}),
        ("I had an {easy}.", {}),
        ("“You could {fix},” said {other}.", {"fix": ["pay for my coat"]}),  # the wrong person speaks
        ("“We have to talk about {subject_whole},” said {other}.", {"subject_whole": ["something I had forgotten"]}),
        ("I saw {thing_colour}.", {}),  # a slot without a type
    ],
)
def test_slot_where_its_type_cannot_stand_is_a_fault(line, values):
    assert list(place_problems(line, values))


@pytest.mark.parametrize(
    ("slot", "value"),
    [
        ("matter", "broken window"),  # no article
        ("lamp_n", "the lamp"),
        ("gifts_pl", "a present"),
        ("fix", "mending the lamp"),
        ("fix", "to mend the lamp"),
        ("fixed", "mend the lamp"),
        ("fixed", "mended the lamp and ring the owner"),
        ("fixed", "were driven home"),
        ("doing", "mend the lamp"),
        ("doing", "switching the lamp on"),  # "on on a Monday"
        ("said_cl", "it was over."),
        ("fear_s", "it would end badly"),
        ("place_pp", "the street"),
        ("wet_adj", "a wet one"),
        ("thing", "lamp"),
    ],
)
def test_value_that_is_not_of_its_slots_type_is_a_fault(slot, value):
    assert value_problem(slot, value) is not None


def test_sound_slots_are_accepted():
    line = "I was {doing}, because {matter} was there. “We could {fix},” said {other}, and I {easy_line} it."
    assert list(place_problems(line, {"fix": ["pay for the lamp"]})) == []
    assert value_problem("matter", "the broken lamp") is None and value_problem("fix", "ring them up") is None
    assert list(place_problems("So we {fixed}, and {other} {fixed}.", {"fixed": ["mended the lamp"]})) == []
    assert value_problem("fixed", "asked {other} to sit down and let the kettle boil") is None


def test_bad_slot_is_named_with_file_and_line_when_the_bank_is_loaded(tmp_path):
    path = tmp_path / "adult_health.toml"
    path.write_text(SCENE.replace('matter = "the lump"', 'matter = "lump"', 1), "utf-8")
    line = next(n for n, row in enumerate(path.read_text("utf-8").splitlines(), 1) if 'matter = "lump"' in row)
    with pytest.raises(RequestError, match=rf"adult_health.toml:{line}: .*matter = 'lump' is not a noun phrase"):
        read_scenes(path)


def test_need_that_no_ledger_can_have_is_named_when_the_bank_is_loaded(tmp_path):
    path = tmp_path / "adult_health.toml"
    path.write_text(SCENE.replace('tiers = "ABC"', 'tiers = "ABC"\nneeds = ["helicopter"]', 1), "utf-8")
    with pytest.raises(RequestError, match="needs 'helicopter', which no ledger can have"):
        read_scenes(path)


def test_line_that_tells_of_what_no_need_asks_for_is_named_when_the_bank_is_loaded(tmp_path):
    path = tmp_path / "adult_health.toml"
    path.write_text(SCENE.replace("detail = [", 'detail = [\n  "Our dog slept on the stairs.",', 1), "utf-8")
    line = next(n for n, row in enumerate(path.read_text("utf-8").splitlines(), 1) if "Our dog" in row)
    with pytest.raises(RequestError, match=rf"adult_health.toml:{line}: .*'Our dog' is not in every ledger"):
        read_scenes(path)
    path.write_text(path.read_text("utf-8").replace('tiers = "ABC"', 'tiers = "ABC"\nneeds = ["dog"]', 1), "utf-8")
    assert read_scenes(path)[0].needs == ("dog",)


@pytest.mark.parametrize(
    ("text", "needs", "faults"),
    [("Our lift was stuck.", (), 1), ("Our lift was stuck.", ("lift",), 0), ("My sister waited.", ("pet",), 1)],
)
def test_line_of_any_bank_that_tells_of_what_not_everybody_has_is_a_fault(text, needs, faults):
    assert len(proof([Line("here", text, "adult", needs=needs)]).problems) == faults


@pytest.mark.parametrize(
    ("kinds", "fault"),
    [
        ('kinds = ["sorow"]', "unknown kind 'sorow': one of danger, sorrow"),
        ('kinds = ["asked", "dispute", "thing"]', "kinds 'thing' and 'dispute' exclude each other"),
        ('kind = ["asked"]', "unknown key 'kind'"),
        ('skip = ["evening"]', "skip names 'evening', which is none of at_home"),
    ],
)
def test_fault_in_what_a_scene_holds_or_leaves_out_is_named_with_file_and_line(tmp_path, kinds, fault):
    path = tmp_path / "adult_health.toml"
    path.write_text(re.sub(r"^kinds = .*$", kinds, SCENE, count=1, flags=re.MULTILINE), "utf-8")
    line = path.read_text("utf-8").splitlines().index(kinds) + 1
    with pytest.raises(RequestError, match=rf"adult_health.toml:{line}: {fault}"):
        read_scenes(path)


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ('{ say = "I saw it.", only = ["asked"] }', None),
        ('{ say = "I saw it.", only = ["askd"] }', "unknown kind 'askd'"),
        ('{ say = "I saw it.", only = ["asked"], unless = ["task", "asked"] }', "'asked' is in only and in unless"),
        ('{ say = "I saw it.", onyl = ["asked"] }', "unknown key 'onyl' of a line"),
        ('{ say = "I saw it.", only = [] }', "only is not a list of kinds"),
        ('{ say = " ", only = ["asked"] }', "a line without words"),
        ('{ only = ["asked"] }', "a line without words"),
        ('{ say = "I saw it." }', "a table without only or unless"),
    ],
)
def test_fault_in_the_condition_of_a_line_is_named_with_file_and_line(tmp_path, line, fault):
    path = tmp_path / "n_high.toml"
    path.write_text(VOICE.replace("[week]\nchild = [", f"[week]\nchild = [\n{line},", 1), "utf-8")
    number = path.read_text("utf-8").splitlines().index(f"{line},") + 1
    if fault is None:
        assert read_voice(path)["week"]["child"][0]["say"] == "I saw it."
        return
    with pytest.raises(RequestError, match=rf"n_high.toml:{number}: {fault}"):
        read_voice(path)


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ('only = ["task"]', "unknown key 'only'"),
        ('stance = "aside"', "stance is none of face, away"),
        ('policy = ["Wait."]', "has no conclusion"),
    ],
)
def test_fault_in_a_pattern_is_named_with_file_and_line(tmp_path, line, fault):
    path = tmp_path / "n_high.toml"
    own = ['stance = "away"', 'conclusion = ["It was over."]', 'policy = ["Wait."]']
    own = [each for each in own if not line.startswith(each.split()[0])] + [line]
    own = own if "conclusion" not in fault else [each for each in own if "conclusion" not in each]
    path.write_text('[[pattern]]\ntag = "worst ending"\n' + "\n".join(own) + "\n", "utf-8")
    number = own.index(line) + 3 if "conclusion" not in fault else 2
    with pytest.raises(RequestError, match=rf"n_high.toml:{number}: .*{fault}"):
        read_voice(path)


@pytest.mark.parametrize(
    ("rows", "fault"),
    [
        (["[nowhere.N-High]", SMALL], "1: no scene has the id 'nowhere'"),
        (["[SCENE.N-Mid]", SMALL], "1: unknown voice 'N-Mid'"),
        (["[SCENE]", 'N-High = "I waited."'], "1: .*or no table"),
        (["SCENE = 1"], "1: .*or it has no voices"),
        (["[SCENE.N-High]", "small = 1", '"TAG" = { think = "So.", act = "Yes." }'], "2: no words"),
        (["[SCENE.N-High]", '"TAG" = { think = "I saw it.", act = "I did it." }'], "1: no line 'small'"),
        (["[SCENE.N-High]", SMALL], "1: 0 turns in a scene of tiers"),
        (["[SCENE.N-High]", SMALL, '"courage" = { think = "I saw it.", act = "I did it." }'], "3: .*no pattern"),
        (["[SCENE.N-High]", SMALL, '"TAG" = { think = "I saw it." }'], "3: a turn is"),
        (["[SCENE.N-High]", SMALL, '"TAG" = { think = "I saw it.", act = " " }'], "3: no words"),
        (["[SCENE.N-High]", SMALL, '"TAG" = { think = "I saw my {matter}.", act = "I did it." }'], "3: .*which is"),
        (
            ["[SCENE.N-High]", 'small = "I saw our dog."', '"TAG" = { think = "So.", act = "Yes." }'],
            "2: .*every ledger",
        ),
    ],
)
def test_fault_in_turns_is_named_with_file_and_line_when_they_are_loaded(tmp_path, rows, fault):
    scene = next(scene.id for scene in scenes() if "A" in scene.tiers and not scene.needs)
    path = tmp_path / "adult_health.toml"
    path.write_text("\n".join(rows).replace("SCENE", scene).replace("TAG", voice("N-High").patterns[0].tag), "utf-8")
    with pytest.raises(RequestError, match=rf"adult_health.toml:{fault}"):
        read_turns(path)


def test_line_of_a_turn_is_checked_like_any_other(checked):
    text = (FOLDER / "turns/adult_health.toml").read_text("utf-8")
    assert checked("turns", "adult_health.toml", text) == []
    for line, fault in (
        ("Years later I learned why.", "forbidden"),
        ("I saw {nobody}.", "unknown slot"),
        ("I put it in in.", "a word twice"),
    ):
        found = checked("turns", "adult_health.toml", re.sub(r'small = ".*"', f'small = "{line}"', text, count=1))
        assert any("N-High.small" in problem and fault in problem for problem in found), found


def test_line_in_a_table_is_checked_like_any_other(checked):
    line = '{ say = "Years later I learned why.", only = ["asked"] }'
    found = checked("voices", "n_high.toml", VOICE.replace("[week]\nchild = [", f"[week]\nchild = [\n{line},", 1))
    assert any("week.child: forbidden 'Years later'" in problem for problem in found)
    line = '{ say = "It was [in|in the] the way.", only = ["asked"] }'
    found = checked("voices", "n_high.toml", VOICE.replace("[week]\nchild = [", f"[week]\nchild = [\n{line},", 1))
    assert any("a word twice" in problem for problem in found)


def test_further_file_of_a_voice_adds_lines_to_its_first(checked):
    more = '[week]\nolder = ["{Days} I thought of {matter}."]\n'
    first, added = tomllib.loads(VOICE), tomllib.loads(more)
    made = merged([first, added])
    assert len(made.patterns) == 8 and made.beats["week"]["teen"][-1].say == "{Days} I thought of {matter}."
    assert made.beats["week"]["child"] == merged([first]).beats["week"]["child"]
    assert checked("voices", "n_high.toml", VOICE) == [] and checked("voices", "n_high.more.toml", more) == []
    assert any("the voice of nobody" in problem for problem in checked("voices", "x_high.toml", VOICE))
    assert "n_high.more.toml: patterns belong into n_high.toml" in checked("voices", "n_high.more.toml", VOICE)


def test_fault_in_one_wording_of_many_is_found():
    line = Line("here", "I went home, [slowly|in a hurry|and years later I knew why].", "adult")
    assert len(wordings_of(line)) == 3
    assert [problem.split(":")[1].split()[0] for problem in proof([line]).problems] == ["perspective.future"]


def test_what_only_a_child_may_not_say_is_a_fault_of_child_lines_alone():
    text = "In hindsight it was only a cup."
    faults = {language: proof([Line("here", text, language)]).problems for language in ("child", "adult")}
    assert any("perspective.adult" in problem for problem in faults["child"])
    assert not any("perspective.adult" in problem for problem in faults["adult"])


def test_scene_without_a_beat_or_a_handle_is_named(checked):
    for beat in ("press", "earlier"):
        cut = re.sub(rf"^{beat} = \[.*?^\]$", "", SCENE, count=1, flags=re.DOTALL | re.MULTILINE)
        found = checked("scenes", "adult_health.toml", cut)
        assert any(f"beat {beat} is missing" in problem for problem in found)
    found = checked("scenes", "adult_health.toml", SCENE.replace('easy = "', 'eased_vp = "', 1))
    assert any("variant 0 lacks easy" in problem for problem in found)


def test_voice_has_eight_patterns(checked):
    cut = VOICE[: VOICE.rindex("[[pattern]]")]
    assert any("7 patterns instead of 8" in problem for problem in checked("voices", "n_high.toml", cut))


def test_file_that_is_no_toml_is_refused_in_one_line(tmp_path):
    (tmp_path / "broken.toml").write_text("a = [", "utf-8")
    with pytest.raises(RequestError, match="not a bank"):
        lint.check(tmp_path / "broken.toml")


def test_every_line_is_printed_with_each_kind_of_filler(capsys):
    assert lint.main(["--render", str(FOLDER / "scenes/teen_health.toml")]) == 0
    printed = capsys.readouterr().err
    assert printed.count("collapsed_in_sport.") >= 20 and "{" not in printed.replace("{Fear_s}", "")


def test_what_the_narrator_is_doing_is_taken_up_with_still():
    (once,), (otherwise,) = (
        sentences("It was late, and I was {doing} so as not to look up."),
        sentences("I went on {doing}."),
    )
    again = render(taken_up(once).template, {"doing": "peeling a potato"}.__getitem__, lambda _: 0)
    assert again.startswith("It was late, and I was still peeling a potato")
    assert taken_up(otherwise) is otherwise
