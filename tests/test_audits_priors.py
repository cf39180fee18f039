"""Audits of priors: each code finds what it is about, and priors as built have no finding."""

import copy
import itertools
import tomllib
from pathlib import Path

import pytest
from likability_samples import all_priors, priors_of, profiles

import audits
from audits.checks import priors as checks
from audits.subjects import subjects

CODES = tomllib.loads((Path(audits.__file__).parent / "checks" / "priors.toml").read_text("utf-8"))["codes"]
RELATED = {"profiles": profiles()}


def changed(changes):
    """The sound priors of one profile with columns of a session, or of all (*), changed."""
    rows = copy.deepcopy(priors_of(profiles()[0]))
    for place, value in changes.items():
        session, column = place.split(".")
        for row in rows:
            if session in ("*", str(row["session"])):
                row[column] = copy.deepcopy(value)
    return rows


def findings_of(rows, related=RELATED):
    read = subjects("priors", ("persona_id", "session"), rows, 0)
    return [*checks.audit(read, read, related, frozenset()), *checks.coverage(read, related)]


def found(rows):
    return {finding.code for finding in findings_of(rows)}


def examples(kind):
    return [pytest.param(each["code"], example, id=each["code"]) for each in CODES for example in each[kind]]


@pytest.mark.parametrize(("code", "changes"), examples("hits"))
def test_a_hit_is_found_under_its_code(code, changes):
    assert code in found(changed(changes))


@pytest.mark.parametrize(("code", "changes"), examples("misses"))
def test_a_miss_is_no_finding_of_the_code(code, changes):
    assert code not in found(changed(changes))


def test_priors_as_built_have_no_finding():
    assert findings_of(all_priors()) == []


def test_only_documented_codes_occur_and_severities_are_theirs():
    documented = {each["code"]: each["severity"] for each in CODES}
    for example in itertools.chain.from_iterable(each["hits"] for each in CODES):
        for finding in findings_of(changed(example)):
            assert documented[finding.code] == finding.severity


@pytest.mark.parametrize(("kind", "allowed"), [("social", range(3)), ("antisocial", range(5, 8))])
def test_the_budget_of_surprises_goes_by_the_type_of_profile(kind, allowed):
    profile = next(row for row in profiles() if row["type"] == kind)
    for count in range(11):
        rows = priors_of(profile)
        for row in rows:
            row["surprise"] = row["session"] <= count
            row["plan"] = [step for step in row["plan"] if step["act"] != "twist"]
            row["plan"] += [{"turn": 5, "act": "twist", "hook": None, "note": "it rains"}] if row["surprise"] else []
        assert ("prior.surprise" in found(rows)) == (count not in allowed)


def test_without_profiles_it_is_said_what_is_not_looked_for():
    assert not findings_of(priors_of(profiles()[0]), {})
    assert checks.not_checked([], {}, ["prior.surprise"]) and not checks.not_checked([], RELATED, ["prior.surprise"])


def test_a_profile_with_fewer_sessions_than_the_others_is_found():
    rows = [*priors_of(profiles()[0]), *priors_of(profiles()[1]), *priors_of(profiles()[2])[:9]]
    findings = [each for each in findings_of(rows) if each.code == "prior.sessions"]
    assert [finding.row_id.split("/")[0] for finding in findings] == [profiles()[2]["persona_id"]]


@pytest.mark.parametrize("row", [{}, {"plan": 3, "dependencies": "x", "session": "one"}, {"hooks_called": [None, {}]}])
def test_a_row_of_any_form_is_read_without_raising(row):
    assert isinstance(findings_of([row, row], {}), list)
