"""Life ledgers: facts with ages that could all be true of one life."""

import functools
import re
from collections import Counter

import pytest
from builder_samples import HEART, streams
from hypothesis import given
from hypothesis import strategies as st

from builders.life import ledgers
from builders.life.casts import PEOPLE, lists, pronoun
from builders.life.ledgers import ledger, valid_at
from builders.personas import load_characters
from schemas.benchmarks import benchmark
from schemas.workspace import Workspace
from validators.records import failures

AGES = range(6, 51)
CHARACTERS = load_characters()
CUSTOM = {**CHARACTERS[0], "character_id": "CHAR_57", "occupation": "Lighthouse keeper of the northern skerries " * 2}
GENDERED_ROLE = re.compile(r"\b(son|daughter|girl|boy|husband|wife|godson|goddaughter|girlfriend|boyfriend)\b")

lives = st.builds(
    lambda character, seed: ledger(character, streams(seed)),
    st.sampled_from([*CHARACTERS, {**CUSTOM, "archetype": "Custom"}]),
    st.integers(0, 2**63 - 1),
)


@functools.cache
def shipped(index):
    return ledger(CHARACTERS[index], HEART)


def of_kind(facts, *kinds):
    return [fact for fact in facts if fact["kind"] in kinds]


def within(inner, outer):
    return outer["from_age"] <= inner["from_age"] and inner["to_age"] <= outer["to_age"]


def apart(one, other):
    return one["to_age"] < other["from_age"] or other["to_age"] < one["from_age"]


@given(lives)
def test_every_fact_fits_the_record_schema(facts):
    assert failures(benchmark("heart").table("ledgers"), facts) == []


@given(lives)
def test_facts_end_for_a_reason_unless_they_go_on(facts):
    for fact in facts:
        assert fact["from_age"] <= fact["to_age"]
        assert (fact["ends_by"] is None) == (fact["to_age"] == 50), fact


@given(lives)
def test_links_name_facts_of_the_same_life_that_hold_at_the_same_time(facts):
    by_id = {fact["fact_id"]: fact for fact in facts}
    for fact in facts:
        assert all(not apart(fact, by_id[name]) for name in fact["linked_to"]), fact


@given(lives)
def test_there_is_one_home_at_every_age(facts):
    homes = of_kind(facts, "home")
    assert all(len(valid_at(homes, age)) == 1 for age in range(51))


@given(lives)
def test_every_age_has_enough_to_tell_of(facts):
    for age in AGES:
        now = valid_at(facts, age)
        kinds = Counter(fact["kind"] for fact in now)
        daily = {fact["fact_id"] for fact in of_kind(now, "school", "job")}
        assert len(now) >= 12
        assert kinds["family"] + kinds["friend"] >= 3
        assert kinds["place"] >= 2 and kinds["possession"] >= 1 and kinds["neighbour"] >= 2
        assert daily and sum(bool(daily & set(fact["linked_to"])) for fact in of_kind(now, *PEOPLE)) >= 2


@given(lives)
def test_people_belong_to_their_school_or_work_no_longer_than_it_lasts(facts):
    by_id = {fact["fact_id"]: fact for fact in facts}
    for fact in of_kind(facts, "teacher", "colleague", "neighbour"):
        (of,) = fact["linked_to"]
        assert within(fact, by_id[of]), (fact, by_id[of])


@given(lives)
def test_parents_are_there_from_birth_and_grandparents_go_first(facts):
    family = {fact["role"]: fact for fact in of_kind(facts, "family")}
    for parent in ("mother", "father"):
        assert family[parent]["from_age"] == 0
        assert max(family["grandmother"]["to_age"], family["grandfather"]["to_age"]) < family[parent]["to_age"]


@given(lives)
def test_older_siblings_are_there_from_birth_and_younger_ones_are_not(facts):
    for fact in of_kind(facts, "family"):
        if fact["role"].startswith("older "):
            assert fact["from_age"] == 0
        if fact["role"].startswith("younger "):
            assert fact["from_age"] > 0


@given(lives)
def test_jobs_follow_one_another(facts):
    jobs = of_kind(facts, "job")
    assert all(apart(one, other) for one in jobs for other in jobs if one is not other)


@given(lives)
def test_partners_follow_one_another(facts):
    partners = of_kind(facts, "partner")
    assert all(apart(one, other) for one in partners for other in partners if one is not other)


@given(lives)
def test_children_come_two_years_into_a_partnership_or_later(facts):
    by_id = {fact["fact_id"]: fact for fact in facts}
    for fact in of_kind(facts, "child"):
        (partner,) = fact["linked_to"]
        assert by_id[partner]["from_age"] + 2 <= fact["from_age"] <= by_id[partner]["to_age"]


@given(lives)
def test_pets_live_as_long_as_their_kind_does(facts):
    years = {pet["role"]: pet["years"] for pet in lists("things")["pets"]}
    for fact in of_kind(facts, "pet"):
        lived = fact["to_age"] - fact["from_age"]
        assert lived <= years[fact["role"]][1]
        assert fact["to_age"] == 50 or lived >= years[fact["role"]][0]


@given(lives)
def test_no_name_is_given_twice(facts):
    names = [fact["name"] for fact in facts if fact["name"]]
    assert len(names) == len(set(names))


@given(lives)
def test_no_role_or_detail_tells_the_gender_of_the_protagonist(facts):
    for fact in facts:
        assert not GENDERED_ROLE.search(f"{fact['role']} {fact['detail']}"), fact


@given(lives)
def test_ids_run_in_order_of_age(facts):
    assert [fact["fact_id"] for fact in facts] == sorted(fact["fact_id"] for fact in facts)
    assert [fact["from_age"] for fact in facts] == sorted(fact["from_age"] for fact in facts)


@pytest.mark.parametrize("index", range(11))
def test_a_shipped_life_has_between_110_and_180_facts(index):
    assert 110 <= len(shipped(index)) <= 180


def test_casts_of_shipped_characters_do_not_overlap():
    casts = [{fact["name"] for fact in of_kind(shipped(index), *PEOPLE) if fact["name"]} for index in range(11)]
    shared = [one & other for place, one in enumerate(casts) for other in casts[:place]]
    assert sum(map(len, shared)) == 0


def test_occupation_is_the_last_job_of_a_shipped_life():
    for index, character in enumerate(CHARACTERS):
        last = max(of_kind(shipped(index), "job"), key=lambda job: job["from_age"])
        assert last["to_age"] == 50
        assert last["role"].casefold() == character["occupation"].casefold()


def test_own_occupation_is_the_last_job_too():
    facts = ledger({**CUSTOM, "occupation": "Lighthouse keeper"}, HEART)
    assert max(of_kind(facts, "job"), key=lambda job: job["from_age"])["role"] == "lighthouse keeper"


def test_the_sociable_have_more_friends_than_the_withdrawn():
    friends = {
        character["archetype"]: sum(len(of_kind(ledger(character, streams(seed)), "friend")) for seed in range(20))
        for character in CHARACTERS
    }
    assert friends["E-High"] == max(friends.values()) and friends["E-Low"] == min(friends.values())


def test_seed_decides_the_life():
    assert ledger(CHARACTERS[3], HEART) == ledger(CHARACTERS[3], HEART) != ledger(CHARACTERS[3], streams(8))


def test_lists_of_names_have_no_name_twice():
    names = lists("names")
    plain = [name for part in ("partners", "surnames", "pets") for name in names[part]["any"]]
    every = [name for culture in names["given"].values() for gender in culture.values() for name in gender] + plain
    assert [name for name, count in Counter(every).items() if count > 1] == []


def test_details_are_phrases_that_follow_who():
    for what, phrases in lists("people").items():
        assert len(phrases) == len(set(phrases))
        for phrase in phrases:
            verb = phrase.split()[0]
            assert verb.endswith("s") or verb in ("cannot", "never", "always", "will", "can"), (what, phrase)


@pytest.mark.parametrize(
    ("kind", "role", "name", "expected"),
    [
        ("family", "mother", None, "she"),
        ("family", "younger brother", "Emre", "he"),
        ("teacher", "tutor", "Ms Horvath", "she"),
        ("friend", "best friend", "Chinedu", "he"),
        ("friend", "best friend", "Nobody", "they"),
        ("partner", "partner", "Kiran", "they"),
        ("pet", "dog", "Ziggy", "it"),
    ],
)
def test_pronoun_follows_role_title_and_name(kind, role, name, expected):
    assert pronoun({"kind": kind, "role": role, "name": name}) == expected


def test_ledger_that_a_person_changed_is_kept_and_one_that_was_drawn_follows_the_seed(tmp_path):
    space = Workspace(tmp_path, "heart")
    drawn = ledgers.write_ledger(space, CHARACTERS[0], HEART)
    assert ledgers.write_ledger(space, CHARACTERS[0], streams(8)) == ledger(CHARACTERS[0], streams(8)) != drawn
    path = space.path("ledgers", "CHAR_01")
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    kept = ledgers.write_ledger(space, CHARACTERS[0], streams(9))
    assert kept == ledger(CHARACTERS[0], streams(8))[:-1] == list(space.rows("ledgers", "CHAR_01"))
