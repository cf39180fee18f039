"""Repair: only the defective field is asked for, three times at most, and everything is accounted for."""

import pytest
from builder_samples import HEART

from audits import audit
from audits.codes import codes
from builders.life.ledgers import ledger
from builders.memories.briefing import REWRITABLE, Briefing, instruction
from builders.memories.delimited import Blocks, parse, render
from builders.memories.plan import plan
from builders.memories.repair import ATTEMPTS, Desk, mend
from builders.memories.stages import memory_stage
from builders.personas import load_characters
from models.offline import drive
from models.request import Reply

CHARACTER = load_characters()[3]
LEDGER = ledger(CHARACTER, HEART)
PLANS = {one.id: one for one in plan(CHARACTER, HEART, 300) if one.stage == "settling_down"}
NOUNS = ("harbour", "lantern", "window", "kettle", "ladder", "copper", "meadow", "wagon", "candle", "velvet")


def narrative(salt):
    """About 2,700 characters in the first person, unlike that of any other salt."""
    end = "".join("abcdefghij"[int(digit)] for digit in str(salt))
    nouns = [noun + end for noun in NOUNS]
    places = ((step % 10, step * 3 % 10, step * 7 % 10) for step in range(80))
    return " ".join(f"I see the {nouns[one]}, {nouns[two]} and {nouns[three]}." for one, two, three in places)


def rows(count):
    """Sound rows to the first plans."""
    made = []
    for number, one in enumerate(list(PLANS.values())[:count], 1):
        made.append(
            {
                "id": one.id,
                "timeline": f"{memory_stage(one.age)['label']} ({one.age})",
                "context": f"Yard of the works, day {number}",
                "content_summary": f"A wagon of gravel comes late ({number})",
                "content_full": narrative(number),
                "triggers": ["wagon", "gravel", "frost", "gate"],
                "relevance_tags": ["work", "waiting", "cold", "plain day"],
                "psych_conclusion": "Waiting costs less than shouting.",
                "behavior_policy": "Wait, and count the planks.",
                "emotion_signature": {"primary": "impatience", "secondary": "calm", "intensity": one.intensity},
                "character_id": one.character_id,
                "age": one.age,
                "stage": one.stage,
                "domain": one.domain,
                "tier": one.tier,
                "ledger_refs": [],
                "provenance": {
                    "origin": "built", "backend": "offline", "model": None, "prompt": None, "prompt_digest": None,
                    "seed": 7, "revision": 0, "repairs": [],
                },
            }
        )  # fmt: skip
    return made


WANTED = ("perspective.future", "length.short", "length.long", "fields.inverted", "duplicate.semantic")


def desk(rewrite):
    return Desk(
        name="heart/memories/CHAR_04/settling_down",
        plans=PLANS,
        briefing=Briefing(CHARACTER, LEDGER, "settling_down"),
        judge=lambda found: audit("memories", found, only=WANTED[:-1]),
        compare=lambda found: audit("memories", found, only=WANTED[-1:]),
        rewrite=rewrite,
    )


def asked(chain, answer=None):
    """Drive a chain, keep its requests; ``answer`` replies instead of the offline writer."""
    requests = []
    try:
        request = next(chain)
        while True:
            requests.append(request)
            request = chain.send(answer(request) if answer else Reply("answered", request.compose()))
    except StopIteration as done:
        return requests, done.value


def never(*_):
    raise AssertionError("nothing was to be rewritten")


def test_sound_rows_are_left_alone():
    sound = rows(6)
    done = drive(mend(sound, desk(never)))
    assert done.rows == sound
    assert not done.found and not done.repaired


def test_only_the_defective_field_is_rewritten():
    broken = rows(6)
    broken[2]["content_full"] += " Years later I would learn why the wagon was late."
    requests, done = asked(mend(broken, desk(lambda *_: narrative(50))))
    assert len(requests) == 1
    changed = {name for name in broken[2] if done.rows[2][name] != broken[2][name]}
    assert changed == {"content_full", "provenance"}
    assert done.rows[2]["provenance"]["revision"] == 1
    assert done.rows[2]["provenance"]["repairs"] == ["perspective.future"]
    assert [row for index, row in enumerate(done.rows) if index != 2] == [
        row for index, row in enumerate(broken) if index != 2
    ]
    assert done.found == done.repaired == {"perspective.future": 1}
    assert not [finding for finding in done.open if finding.severity == "error"]


def test_request_names_the_defect_its_instruction_and_the_words():
    broken = rows(3)
    broken[1]["context"] = "In the yard of the works, behind the second gate, on the coldest day of that winter"
    (request,), done = asked(mend(broken, desk(lambda *_: "Yard, second gate")))
    assert done.rows[1]["context"] == "Yard, second gate"
    assert instruction("fields.inverted") in request.prompt
    assert broken[1]["id"] in request.prompt and broken[1]["context"] in request.prompt
    assert request.fixed == Briefing(CHARACTER, LEDGER, "settling_down").write([], (), "").fixed
    assert request.prompt_id == "heart.memory_repair@1"


def test_a_defect_is_tried_three_times_and_then_stays_open():
    broken = rows(4)
    broken[0]["content_full"] = "I wait."
    tried = []

    def rewrite(row, one, field, code, attempt):
        tried.append((row["id"], field, code, attempt))
        return "I wait still."

    done = drive(mend(broken, desk(rewrite)))
    assert tried == [(broken[0]["id"], "content_full", "length.short", attempt) for attempt in (1, 2, 3)]
    assert done.found == {"length.short": 1} and not done.repaired
    assert [finding.row_id for finding in done.open if finding.severity == "error"] == [broken[0]["id"]]
    assert done.rows[0]["provenance"]["revision"] == ATTEMPTS


def test_a_new_defect_that_a_rewriting_brings_is_repaired_in_turn():
    broken = rows(3)
    broken[0]["content_full"] = "I wait."
    answers = iter([narrative(60) + " Years later I would learn why.", narrative(61)])
    done = drive(mend(broken, desk(lambda *_: next(answers))))
    assert done.found == done.repaired == {"length.short": 1, "perspective.future": 1}
    assert done.rows[0]["provenance"]["repairs"] == ["length.short", "perspective.future"]


def test_of_two_duplicates_the_earlier_is_kept():
    broken = rows(9)
    assert broken[1]["age"] < broken[8]["age"]
    broken[8]["content_full"] = broken[1]["content_full"]
    requests, done = asked(mend(broken, desk(lambda *_: narrative(70))))
    assert [broken[8]["id"] in request.id for request in requests] == [True]
    assert done.rows[1] == broken[1]
    assert done.repaired == {"duplicate.semantic": 1}


def test_two_defects_of_a_field_are_one_request():
    broken = rows(2)
    broken[0]["content_full"] = "Years later I would learn why."
    (request,), done = asked(mend(broken, desk(lambda *_: narrative(80))))
    assert all(instruction(code) in request.prompt for code in ("length.short", "perspective.future"))
    assert done.repaired == {"length.short": 1, "perspective.future": 1}


@pytest.mark.parametrize("status", ["truncated", "refused", "unparsable", "failed"])
def test_reply_that_is_no_answer_leaves_the_row_as_it_was(status):
    broken = rows(2)
    broken[1]["content_full"] = "I wait."
    requests, done = asked(mend(broken, desk(never)), lambda _: Reply(status, reason="no"))
    assert len(requests) == ATTEMPTS
    assert done.rows == broken


def test_answer_in_the_text_form_is_read_for_the_field_alone():
    broken = rows(2)
    broken[1]["content_full"] = "I wait."
    fact = LEDGER[0]["fact_id"]
    text = render(
        [{**broken[1], "content_full": narrative(90), "ledger_refs": [fact]}], ("content_full", "ledger_refs")
    )
    _, done = asked(mend(broken, desk(never)), lambda request: Reply("answered", request.parse(text), text))
    assert done.rows[1]["content_full"] == narrative(90) and done.rows[1]["ledger_refs"] == [fact]


def test_intensity_is_the_plans_whatever_the_answer_says():
    broken = rows(1)
    wrong = desk(never)
    findings = audit("memories", [{**broken[0], "content_full": "I wait."}], only=["length.short"])
    from dataclasses import replace

    finding = replace(findings[0], field="emotion_signature.primary", code="format.emotion")
    odd = replace(wrong, judge=lambda found: [finding] if found[0]["emotion_signature"]["primary"] != "joy" else [])
    answer = Blocks(
        {broken[0]["id"]: {"emotion_signature": {"primary": "joy", "secondary": "calm", "intensity": 0.01}}}
    )
    _, done = asked(mend(broken, odd), lambda _: Reply("answered", answer))
    assert done.rows[0]["emotion_signature"] == {
        **answer.good[broken[0]["id"]]["emotion_signature"],
        "intensity": PLANS[broken[0]["id"]].intensity,
    }


def test_defect_of_a_field_nobody_writes_goes_to_a_person_at_once():
    from dataclasses import replace

    broken = rows(1)
    (finding,) = audit("memories", [{**broken[0], "content_full": "I wait."}], only=["length.short"])
    odd = replace(desk(never), judge=lambda _: [replace(finding, field="timeline", code="format.timeline")])
    requests, done = asked(mend(broken, odd))
    assert requests == [] and done.found == {"format.timeline": 1} and not done.repaired


def test_every_code_of_the_audits_has_an_instruction_of_its_own_or_of_its_family():
    general = instruction("no.such")
    assert [code for code in codes("memories") if instruction(code) == general] == []


@pytest.mark.parametrize("field", sorted(REWRITABLE))
def test_form_that_a_repair_asks_for_is_one_that_is_read(field):
    from schemas.findings import Finding

    row = rows(1)[0]
    finding = Finding("format.x", "memories", row["id"], field, "error", None, None, "is wrong", "test")
    prompt = Briefing(CHARACTER, LEDGER, "settling_down").rewrite(PLANS[row["id"]], row, field, [finding]).prompt
    form = prompt[prompt.index("Answer in this form") :].split("\n\n", 1)[1]
    fields = (field, "ledger_refs") if field == "content_full" else (field,)
    found = parse(form, [row["id"]], fields)
    assert found.bad == {} and set(found.good[row["id"]]) == set(fields)
