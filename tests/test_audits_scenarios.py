"""Scenarios: what a requirement excuses, and when a trigger presses."""

import copy

import orjson
import pytest

from audits import audit
from audits.checks import scenarios
from perf.quality.agreement import FOLDER

SOUND = orjson.loads((FOLDER.parent / "sound_rows.json").read_bytes())["scenarios"]


@pytest.mark.parametrize(
    ("requires", "text", "found"),
    [
        (["partner"], "Decide whether to tell your wife now.", []),
        (["partner"], "Decide whether to tell your daughter now.", ["your daughter"]),
        (["child"], "Decide whether to tell your daughter now.", []),
        (["child"], "Decide whether to tell your wife now.", ["your wife"]),
    ],
)
def test_family_that_is_required_may_be_named_in_every_field(requires, text, found):
    row = copy.deepcopy(SOUND) | {"requires": requires}
    row["trigger_event"]["action_required"] = text
    findings = audit("scenarios", [row], only={"anchor.identity"})
    assert [each.text for each in findings] == found


@pytest.mark.parametrize(
    ("text", "pressing"),
    [
        ("Sign it by noon.", True),
        ("Sign it by noon. There's no rush, though.", False),
        ("Will you sign it?", True),
        ("Will you sign it some day?", False),
        ("You have ten seconds. There's no rush, he adds, and laughs.", True),
        ("The harvest was good.", False),
    ],
)
def test_a_day_or_a_question_presses_unless_it_is_deferred(text, pressing):
    assert scenarios.presses([text]) is pressing
