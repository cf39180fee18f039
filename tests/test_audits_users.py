"""Users: every rule finds what contradicts and spares what does not."""

import copy
import time

import hypothesis
import pytest
from conftest import rows_of
from hypothesis import strategies as st

import audits
from audits import codes
from audits.checks import stated_ages, users
from schemas.tables import term_ids, vocabulary

DOMAINS = term_ids("personalens_domains")
MENU = [
    {"domain": "Books", "preference": "Genre", "categorical": True, "possible_values": ["history", "fantasy"]},
    {"domain": "Books", "preference": "Favourite Books", "categorical": False, "possible_values": ["Emma"]},
]
SOUND = {
    "user_id": "user7",
    "demographics": {
        "age": "35-44 years old",
        "gender": "Female",
        "employment_status": "Working full-time",
        "education": "Vocational",
        "marital_status": "Married",
        "english_proficiency": "Fluent",
        "ethnicity": "Other",
        "religion": "Buddhist",
        "birth_country": "Chile",
        "reside_country": "Chile",
    },
    "interests": [{"domain": domain, "active": True} for domain in DOMAINS],
    "affinities": [
        {"domain": domain, "preference": "Wish", "multiple": True, "values": ["silence"]} for domain in DOMAINS
    ],
    "interactions": [{"domain": domain, "summary": "The user asked for silence."} for domain in DOMAINS],
}


def user(changes):
    """The sound user with preferences ("Domain: Preference"), demographic fields or whole fields changed."""
    row = copy.deepcopy(SOUND)
    for name, value in changes.items():
        if ": " in name:
            domain, preference = name.split(": ")
            row["affinities"].append({"domain": domain, "preference": preference, "multiple": True, "values": value})
        elif name in row["demographics"]:
            row["demographics"][name] = value
        else:
            row[name] = value
    return row


def audit(*rows):
    return audits.audit("users", rows, {"preferences": MENU})


def found(changes):
    return {finding.code for finding in audit(user(changes))}


CODES = [code for code in codes.computed() if code.table == "users"]
EXAMPLES = [(code.code, example, True) for code in CODES for example in code.hits]
EXAMPLES += [(code.code, example, False) for code in CODES for example in code.misses]


def test_a_sound_user_has_no_findings():
    assert audit(SOUND) == []


@pytest.mark.parametrize(("code", "example", "hit"), EXAMPLES)
def test_every_example_of_a_code_is_judged_as_its_file_says(code, example, hit):
    assert (code in found(example)) is hit


@pytest.mark.parametrize("conflict", users.conflicts(), ids=lambda conflict: conflict.name)
def test_every_conflict_finds_its_hits_and_spares_its_misses(conflict):
    assert conflict.hits and conflict.misses
    for changes in conflict.hits:
        assert any(f.message.startswith(f"{conflict.name}: ") for f in audit(user(changes)))
    for changes in conflict.misses:
        assert not any(f.message.startswith(f"{conflict.name}: ") for f in audit(user(changes)))


def test_conflicts_name_known_preferences_fields_and_codes():
    known = {f"{row['id']}: {each['id']}" for row in vocabulary("personalens_domains") for each in row["preferences"]}
    named = {part.place for conflict in users.conflicts() for part in conflict.parts}
    assert named <= known | SOUND["demographics"].keys() | {users.EVERY}
    assert {conflict.code for conflict in users.conflicts()} <= {code.code for code in CODES}
    assert all(
        sum(map(bool, (part.any, part.only, part.lacks, part.besides))) == 1
        for c in users.conflicts()
        for part in c.parts
    )


def test_a_conflict_in_a_domain_that_is_off_is_a_note():
    row = user({"Hotels: Star Rating Preference": ["no preference", "5 star"]})
    (warning,) = audit(row)
    row["interests"] = [{"domain": domain, "active": domain != "Hotels"} for domain in DOMAINS]
    (note,) = audit(row)
    assert (warning.severity, note.severity) == ("warning", "note")
    assert warning.text == "Hotels: Star Rating Preference: no preference, 5 star"
    assert "Hotels is switched off" in note.message


def test_a_span_points_at_the_words_of_the_summary():
    text = "She asked for silence. The user, 18-24 years old, asked again."
    (finding,) = audit(user({"interactions": [{"domain": d, "summary": text} for d in DOMAINS]}))[:1]
    assert finding.field == "interactions.0.summary"
    assert text[slice(*finding.span)] == finding.text == "18-24"


TOLD = stated_ages.EXAMPLES["told"]


@pytest.mark.parametrize(("text", "low", "high"), TOLD, ids=[text for text, _, _ in TOLD])
def test_an_age_of_the_user_is_read_in_brackets_years_and_decades_in_digits_and_words(text, low, high):
    assert [years for _, years in stated_ages.ages(text)] == [(low, high)]


@pytest.mark.parametrize("text", stated_ages.EXAMPLES["untold"])
def test_hours_amounts_and_ages_of_others_are_no_age_of_the_user(text):
    assert stated_ages.ages(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "user " * 40_000,
        "aged " * 40_000,
        "twenty-" * 30_000,
        "at 62, " * 30_000,
        ". " * 90_000,
        "62 year old " * 15_000,
    ],
)
def test_an_age_is_looked_for_in_a_time_that_grows_with_the_text(text):
    started = time.process_time()
    stated_ages.ages(text)
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    "preference",
    [f"{row['id']}: {each['id']}" for row in vocabulary("personalens_domains") for each in row["preferences"]],
)
def test_no_preference_beside_a_preference_is_found_for_every_type(preference):
    assert "conflict.choice" in found({preference: ["no preference", "something"]})
    assert "conflict.choice" not in found({preference: ["no preference"]})


def test_a_value_named_in_several_spellings_is_shown_in_each():
    (repeated,) = audits.audit("users", [user({"Books: Genre": ["history", "History", "history"]})])
    assert repeated.message == "Books: Genre: named 3 times, as 'history' and 'History'"


def test_that_there_is_no_menu_to_compare_spellings_with_is_said():
    every = codes.codes("users")
    assert audits.not_checked("users", [SOUND], {"preferences": MENU}, every) == []
    assert audits.not_checked("users", [SOUND], {}, ["mask.empty"]) == []
    (line,) = audits.not_checked("users", [SOUND], {}, every)
    assert line.startswith("preference.spelling not checked: no preferences")


def test_only_wanted_codes_are_reported():
    rows = [user({"Books: Genre": ["History"], "Hotels: Star Rating Preference": ["no preference", "5 star"]})]
    assert {f.code for f in audits.audit("users", rows, {"preferences": MENU}, ["conflict.choice"])} == {
        "conflict.choice"
    }


@hypothesis.given(st.lists(rows_of("users"), max_size=3))
def test_any_row_of_the_schema_is_judged(rows):
    known = {code.code for code in CODES}
    assert {finding.code for finding in audits.audit("users", rows)} <= known


@pytest.mark.parametrize(
    "row",
    [{}, {"user_id": 3, "affinities": 5}, {"affinities": [None, {"values": [1]}], "interactions": [{}]}],
    ids=["empty", "other types", "parts of other types"],
)
def test_a_row_of_any_shape_raises_nothing(row):
    assert "mask.empty" in {finding.code for finding in audits.audit("users", [row])}
