"""Audits of profiles: each code finds what it is about, and a profile as built has no finding."""

import copy
import tomllib
from pathlib import Path

import pytest
from likability_samples import profiles

import audits
from audits.checks import profiles as checks
from audits.subjects import subjects

CODES = tomllib.loads((Path(audits.__file__).parent / "checks" / "profiles.toml").read_text("utf-8"))["codes"]


def changed(changes):
    """A sound profile with the values at dotted places changed."""
    row = copy.deepcopy(profiles()[0])
    for place, value in changes.items():
        *path, last = [int(part) if part.isdigit() else part for part in place.split(".")]
        target = row
        for part in path:
            target = target[part]
        target[last] = value
    return row


def findings_of(rows):
    read = subjects("profiles", ("persona_id",), rows, 0)
    return [*checks.audit(read, read, {}, frozenset()), *checks.coverage(read, {})]


def found(*rows):
    return {finding.code for finding in findings_of(rows)}


def examples(kind):
    return [pytest.param(each["code"], example, id=each["code"]) for each in CODES for example in each[kind]]


@pytest.mark.parametrize(("code", "changes"), examples("hits"))
def test_a_hit_is_found_under_its_code(code, changes):
    assert code in found(changed(changes))


@pytest.mark.parametrize(("code", "changes"), examples("misses"))
def test_a_miss_is_no_finding_of_the_code(code, changes):
    assert code not in found(changed(changes))


def test_profiles_as_built_have_no_finding():
    assert findings_of(profiles()) == []


def test_only_documented_codes_occur_and_severities_are_theirs():
    documented = {each["code"]: each["severity"] for each in CODES}
    rows = [changed(example) for each in CODES for example in each["hits"]]
    for finding in findings_of([*rows, *[profiles()[1]] * 40]):
        assert documented[finding.code] == finding.severity


def test_two_profiles_of_one_name_and_one_personality_are_found():
    twin = {**copy.deepcopy(profiles()[0]), "persona_id": "CSP_STRAT_00000000"}
    assert {"profile.shared_name", "profile.alike"} <= found(profiles()[0], twin)


def test_one_level_for_everybody_is_uneven():
    rows = copy.deepcopy(profiles())
    for row in rows:
        row["facets"][0] = dict(rows[0]["facets"][0])
    uneven = [finding for finding in findings_of(rows) if finding.code == "profile.uneven"]
    assert [finding.text for finding in uneven] == ["imagination"]


def test_diversity_tells_evenness_of_35_facets_and_9_dimensions_and_the_closest_pair():
    measured = checks.diversity(profiles())
    assert measured["types"] == {"social": 25, "antisocial": 25}
    assert len(measured["evenness"]) == 44
    assert min(measured["evenness"].values()) > checks.LEAST_EVENNESS
    assert checks.CLOSEST < measured["distance"]["minimum"] < measured["distance"]["mean"]


def test_distance_is_nought_to_itself_and_one_to_the_opposite():
    row = profiles()[0]
    low, high = copy.deepcopy(row), copy.deepcopy(row)
    for each in low["facets"]:
        each["level"] = "low"
    for each in high["facets"]:
        each["level"] = "high"
    for each in high["styles"]:
        each["option"] = "another"
    assert checks.distance(row, row) == 0
    assert checks.distance(low, high) == 1


@pytest.mark.parametrize("row", [{}, {"facets": 7, "subjects": None}, {"facets": [3, {"facet": None}]}])
def test_a_row_of_any_form_is_read_without_raising(row):
    assert findings_of([row, row])
