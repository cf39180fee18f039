"""The eleven characters, and characters of a user's own."""

import re
import tomllib
from pathlib import Path

import orjson
import pytest

from builders import personas
from builders.pattern_signs import contradictions
from builders.personas import load_characters
from schemas.benchmarks import benchmark
from schemas.tables import term_ids, vocabulary
from validators.records import failures

ROOT = Path(__file__).resolve().parents[1]
TABLE_4 = {
    "CHAR_01": ("N-High", 0.85, 0.50, 0.30, 0.55, 0.95, "Freelance content creator"),
    "CHAR_02": ("N-Low", 0.50, 0.55, 0.50, 0.60, 0.10, "Community GP"),
    "CHAR_03": ("C-High", 0.45, 0.95, 0.40, 0.60, 0.30, "Project manager"),
    "CHAR_04": ("C-Low", 0.80, 0.10, 0.60, 0.65, 0.45, "Freelance programmer"),
    "CHAR_05": ("E-High", 0.65, 0.55, 0.95, 0.70, 0.35, "Sales director"),
    "CHAR_06": ("E-Low", 0.75, 0.70, 0.10, 0.45, 0.50, "Indie game developer"),
    "CHAR_07": ("A-High", 0.55, 0.60, 0.55, 0.95, 0.55, "Non-profit coordinator"),
    "CHAR_08": ("A-Low", 0.65, 0.85, 0.45, 0.10, 0.35, "Startup co-founder"),
    "CHAR_09": ("O-High", 0.95, 0.35, 0.65, 0.55, 0.40, "Anthropology lecturer"),
    "CHAR_10": ("O-Low", 0.10, 0.75, 0.40, 0.55, 0.45, "Building-materials retailer"),
    "CHAR_11": ("Neutral", 0.50, 0.50, 0.50, 0.50, 0.50, "Local journalist"),
}
# Values that a trait at an extreme implies (at least 0.7) or denies (at most 0.3); Parks-Leduc et al. 2015.
IMPLIED = {
    "C-High": ["conformity_rules", "security_personal"],
    "C-Low": ["stimulation", "self_direction_action"],
    "E-High": ["stimulation", "achievement"],
    "A-High": ["benevolence_care", "universalism_care"],
    "A-Low": ["power_dominance", "power_resources"],
    "O-High": ["self_direction_thought", "universalism_tolerance"],
    "O-Low": ["tradition", "conformity_rules"],
}
DENIED = {
    "C-Low": ["conformity_rules"],
    "A-High": ["power_dominance"],
    "A-Low": ["benevolence_care", "humility"],
    "O-High": ["tradition"],
    "O-Low": ["stimulation", "self_direction_thought"],
}
GENDERED = re.compile(
    r"\b(he|she|him|her|his|hers|himself|herself|man|woman|men|women|girl|boy|wife|husband|mother|father|son|daughter)\b",
    re.IGNORECASE,
)

SPEC = """
archetype = "O-High"
trait = "O"
pole = "high"
big_five = { O = 0.97, C = 0.5, E = 0.5, A = 0.5, N = 0.5 }
occupation = "Lighthouse keeper"
occupation_rationale = "A tower with a view of everything that passes."
description = "A keeper of a light who writes down every ship and wonders about each of them at length."
self_value_logic = "What passes once is worth writing down once."
core_patterns = [
  "Writes down each ship that passes", "Asks each visitor for a word", "Changes the order of the rooms",
  "Reads maps of places that are gone", "Paints the sea from memory", "Follows one odd sound until it is found",
  "Cooks one unknown dish a week", "Argues with the forecast aloud",
]
[values]
""" + "\n".join(f"{name} = {0.05 * (index + 1):.2f}" for index, name in enumerate(term_ids("schwartz_values")))


@pytest.fixture
def run(tmp_path, capsys):
    """Run the command in a workspace of its own; gives exit code, document and the last line of stderr."""

    def call(*arguments, spec=None):
        if spec is not None:
            (tmp_path / "mine.toml").write_text(spec, "utf-8")
            arguments = (*arguments, "--spec", str(tmp_path / "mine.toml"))
        code = personas.main([*arguments, "--workspace", str(tmp_path / "build"), "--json", "--quiet"])
        said = capsys.readouterr()
        return code, orjson.loads(said.out) if said.out else None, said.err.strip()

    return call


def test_characters_are_those_of_table_4():
    shipped = {
        row["character_id"]: (row["archetype"], *(row["big_five"][trait] for trait in "OCEAN"), row["occupation"])
        for row in load_characters()
    }
    assert shipped == TABLE_4


def test_every_character_fits_the_record_schema():
    assert failures(benchmark("heart").table("characters"), load_characters()) == []


def test_labels_run_from_role_a_to_role_k():
    assert [row["label"] for row in load_characters()] == [f"Role {letter}" for letter in "ABCDEFGHIJK"]


def test_no_two_characters_share_a_pattern_or_a_sentence():
    texts = [text for row in load_characters() for text in (*row["core_patterns"], row["self_value_logic"])]
    assert len(texts) == len(set(texts)) == 11 * 9


def test_nothing_in_a_profile_tells_a_gender():
    for row in load_characters():
        for text in (*row["core_patterns"], row["description"], row["self_value_logic"], row["occupation_rationale"]):
            assert not GENDERED.search(text), text


def test_profiles_describe_behaviour_without_naming_trait_or_test():
    names = "|".join(term["label"] for term in vocabulary("big_five"))
    word = re.compile(rf"\b({names}|introvert\w*|extravert\w*|neurotic\w*|trait|score|Big Five)\b", re.IGNORECASE)
    for row in load_characters():
        for text in (*row["core_patterns"], row["description"], row["self_value_logic"]):
            assert not word.search(text), text


def test_values_agree_with_the_extreme_trait():
    for row in load_characters():
        assert all(row["values"][name] >= 0.7 for name in IMPLIED.get(row["archetype"], []))
        assert all(row["values"][name] <= 0.3 for name in DENIED.get(row["archetype"], []))


def test_neighbours_on_the_circle_of_values_differ_less_than_opposites():
    order = term_ids("schwartz_values")
    size = len(order)
    for row in load_characters():
        score = [row["values"][name] for name in order]
        near = sum(abs(score[i] - score[(i + 1) % size]) for i in range(size)) / size
        far = sum(abs(score[i] - score[(i + size // 2) % size]) for i in range(size)) / size
        assert near < far, row["character_id"]


def test_command_writes_the_characters_and_a_ledger_for_each(run, tmp_path):
    code, document, _ = run("--benchmark", "heart")
    assert code == 0
    assert [one["character_id"] for one in document["characters"]] == sorted(TABLE_4)
    for one in document["characters"]:
        path = tmp_path / "build/heart/ledgers" / f"{one['character_id']}.jsonl"
        assert len(path.read_bytes().splitlines()) == one["facts"]


def test_own_character_gets_the_next_number_and_letter(run):
    code, document, _ = run(spec=SPEC)
    assert code == 0
    assert [(one["character_id"], one["label"]) for one in document["characters"]][-1] == ("CHAR_12", "Role L")


def test_own_character_stays_when_the_command_runs_again(run):
    run(spec=SPEC)
    for again in (run(), run(spec=SPEC)):
        assert [one["character_id"] for one in again[1]["characters"]] == [*sorted(TABLE_4), "CHAR_12"]


def test_two_characters_in_one_spec_are_both_added(run):
    values = SPEC.partition("[values]")[2]
    one = "[[characters]]\n" + SPEC.partition("[values]")[0] + "[characters.values]" + values
    _, document, _ = run(spec=one + "\n" + one.replace("Lighthouse", "Turnpike"))
    assert [row["character_id"] for row in document["characters"]][-2:] == ["CHAR_12", "CHAR_13"]


def test_id_of_another_character_is_refused(run, tmp_path):
    code, _, said = run(spec='character_id = "CHAR_04"\n' + SPEC)
    assert code == 2
    assert "id is taken" in said and "row CHAR_04, field character_id" in said
    assert not (tmp_path / "build/heart/characters").exists()


@pytest.mark.parametrize(
    ("before", "after", "reported"),
    [
        ("O = 0.97", "O = 1.7", ["big_five.O", "above the maximum of 1"]),
        ("O = 0.97", "O = 0.7", ["big_five", "not at its end", "0.95"]),
        ("A = 0.5", "A = 0.96", ["big_five", "has another trait at an end"]),
        ("occupation = ", "job = ", ["occupation", "is missing"]),
        (', "Argues with the forecast aloud"', "", ["core_patterns", "fewer than 8 items"]),
        ("Lighthouse keeper", "L" * 81, ["occupation", "longer than 80 characters"]),
        ("face = ", "fame = ", ["values.face", "is missing"]),
        ('archetype = "O-High"', 'archetype = "N-High"', ["archetype", "does not say what trait and pole say"]),
        ("[values]", 'label = "Role A"\n[values]', ["label", "label of an earlier character"]),
        ("humility = 0.70", 'humility = "much"', ["values.humility", "a string, expected number"]),
    ],
)
def test_spec_that_breaks_a_rule_names_field_and_limit(run, tmp_path, before, after, reported):
    assert before in SPEC
    code, _, said = run(spec=SPEC.replace(before, after, 1))
    assert code == 2
    assert said.startswith("error: character breaks a rule") and "\n" not in said
    assert all(words in said for words in ("mine.toml", "row CHAR_12", *reported)), said
    assert not (tmp_path / "build/heart/characters").exists()


@pytest.mark.parametrize("spec", ["x = [", "", "characters = 3", "characters = []"])
def test_spec_that_is_no_character_is_refused_in_one_line(run, spec):
    code, _, said = run(spec=spec)
    assert code == 2 and said.startswith("error: ") and "\n" not in said


def test_spec_in_the_docs_is_a_character_of_its_own(run, tmp_path):
    page = (ROOT / "docs/own-characters.md").read_text("utf-8")
    code, document, _ = run(spec=re.search(r"```toml\n(.*?)```", page, re.DOTALL)[1])
    assert code == 0 and document["characters"][-1]["occupation"] == "Lighthouse keeper"


def test_what_becomes_of_own_patterns_is_said_when_a_character_is_added(tmp_path, capsys):
    (tmp_path / "mine.toml").write_text(SPEC, "utf-8")
    assert personas.main(["--workspace", str(tmp_path), "--spec", str(tmp_path / "mine.toml")]) == 0
    said = "CHAR_12: --backend messages writes by its core_patterns; the built-in writer does not"
    assert any(line.startswith(said) and "O-High" in line for line in capsys.readouterr().err.splitlines())


def test_pattern_that_contradicts_a_trait_is_named_with_file_and_line(run, tmp_path):
    spec = SPEC.replace("Changes the order of the rooms", "Refuses whatever is new and sticks to tradition")
    line = next(number for number, text in enumerate(spec.splitlines(), 1) if "sticks to tradition" in text)
    code, _, said = run(spec=spec)
    assert code == 2 and "\n" not in said
    assert f"mine.toml:{line}, row CHAR_12, field core_patterns" in said and "the other pole of O = 0.97" in said
    assert not (tmp_path / "build/heart/characters").exists()


def test_patterns_of_the_opposite_pole_contradict_a_trait_and_ones_own_do_not():
    by = {row["archetype"]: row for row in load_characters()}
    for archetype, row in by.items():
        assert list(contradictions(row["big_five"], row["core_patterns"])) == []
        opposite = archetype.replace("High", "low").replace("Low", "High").replace("low", "Low")
        if opposite != archetype:
            found = {pattern for pattern, _ in contradictions(row["big_five"], by[opposite]["core_patterns"])}
            assert len(found) >= 6


@pytest.mark.parametrize(
    ("pattern", "trait", "contradicts"),
    [
        ("Never worries about the morning", {"N": 0.95}, True),
        ("Never worries about the morning", {"N": 0.05}, False),
        ("Cannot keep calm when a letter comes", {"N": 0.95}, False),
        ("Stays calm while others shout", {"N": 0.6}, False),
        ("Walks to the harbour and back", {"N": 0.95}, False),
    ],
)
def test_signs_count_for_traits_near_an_end_and_turn_round_after_a_denial(pattern, trait, contradicts):
    assert [found for found, _ in contradictions(trait, [pattern])] == [pattern] * contradicts


def test_spec_that_is_missing_is_refused(run):
    code, _, said = run("--spec", "no-such-file.toml")
    assert code == 2 and "missing file in no-such-file.toml" in said


def test_table_that_a_person_changed_is_kept(run, tmp_path):
    run()
    path = tmp_path / "build/heart/characters/all.jsonl"
    path.write_text(path.read_text("utf-8").replace("Local journalist", "Town crier"), "utf-8")
    _, document, _ = run()
    assert document["characters"][-1]["occupation"] == "Town crier"


def test_spec_in_the_tests_is_toml():
    assert len(tomllib.loads(SPEC)["values"]) == 19
