"""The inner trace of a decision, judged and edited apart from it; and what a review leaves in the next release."""

import pytest
from review_samples import AS_IS, DECIDED, Play, codes


@pytest.fixture
def play(tmp_path, small_heart, capsys):
    return Play(tmp_path, small_heart, capsys)


PARTS = ("summary", "emotional_tone", "core_reasoning", "value_orientation")
TRACE = "I stay out of it.\nuneasy\nAsking costs less than staying.\nsecurity"


def inner(row):
    return "\n".join(
        row["inner_consciousness"][part]
        for part in ("summary", "emotional_tone", "core_reasoning", "value_orientation")
    )


def test_a_decision_whose_inner_trace_somebody_objects_to_is_not_adopted(play):
    text = play.decisions()["CHAR_02"]["final_decision"]
    play.export()
    play.judge({text: {**AS_IS, "trace_verdict": "unacceptable", "rationale": "It does not lead there."}})
    assert play.decisions()["CHAR_02"]["review"]["status"] == "unreviewed"
    assert {row["review"]["status"] for who, row in play.decisions().items() if who != "CHAR_02"} == {"unanimous"}
    play.again()
    (queued,) = play.sheet("B1")
    assert "decision as is, inner trace unacceptable" in queued["judgements"]


def test_the_arbitrators_trace_becomes_gold_beside_a_confirmed_decision_and_says_that_a_person_wrote_it(play):
    before = play.decisions()["CHAR_02"]
    made = {"origin": "built", "backend": "offline", "model": None, "prompt": "decide@1", "prompt_digest": "a" * 64}
    made |= {"seed": 7, "revision": 0, "repairs": []}
    play.space.write("decisions", [{**before, "provenance": made}], "CHAR_02")
    play.export()
    play.judge({before["final_decision"]: {**AS_IS, "trace_verdict": "with_modifications", "trace_edit": TRACE}})
    play.again()
    assert play.call("import", play.fill("B1", {"ruling": "confirm", "trace_edit": TRACE}))[0] == 0
    row = play.decisions()["CHAR_02"]
    assert (row["final_decision"], inner(row)) == (before["final_decision"], TRACE)
    assert row["review"]["status"] == "arbitrated" and row["provenance"] == {**made, "origin": "reviewer"}
    kept = play.bytes()
    assert play.call("import")[0] == 0 and play.bytes() == kept
    assert play.call("status")[1]["findings"] == []
    assert validate(play.space.benchmark, {"decisions": [row], "reviews": play.reviews()}) == []


def validate(benchmark, tables):
    from validators import check

    found = check(benchmark, {**{name: [] for name in benchmark.tables}, **tables}).findings
    return [each for each in found if each.code in ("table.review_untraced", "table.judgement", "schema.missing")]


def test_a_trace_changed_after_review_loses_its_claim(play):
    play.export()
    play.judge()
    row = play.decisions()["CHAR_02"]
    changed = {**row, "inner_consciousness": {**row["inner_consciousness"], "summary": "Something else."}}
    play.space.write("decisions", [changed], "CHAR_02")
    assert [
        each.code for each in validate(play.space.benchmark, {"decisions": [changed], "reviews": play.reviews()})
    ] == ["table.review_untraced"]
    code, document, _ = play.call("import")
    assert (code, codes(document)) == (1, ["review.changed"])


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"trace_verdict": ""}, "review.incomplete"),
        ({"trace_verdict": "with_modifications"}, "review.incomplete"),
        ({"trace_verdict": "with_modifications", "trace_edit": "One line."}, "review.malformed_trace"),
        ({"trace_verdict": "as_is", "trace_edit": TRACE}, "review.contradictory"),
        ({"trace_verdict": "fine"}, "review.unknown_term"),
    ],
)
def test_an_answer_about_the_trace_that_cannot_be_taken_is_named(play, given, code):
    play.export()
    document = play.call("import", play.fill("A1", {**AS_IS, **given}))[1]
    assert document["taken"] == 0 and set(codes(document)) == {code}


def test_an_edit_a_withdrawal_and_a_dispute_each_show_in_the_next_releases_diff(play, small_heart, tmp_path):
    from release_samples import release_of

    from releases.comparing import diff

    first = release_of(tmp_path / "first", "heart@0.1.0", small_heart)
    texts = {who: row["final_decision"] for who, row in play.decisions().items()}
    play.export()
    edited = {**AS_IS, "verdict": "with_modifications", "edit": "I wait. I go."}
    disputed = {**AS_IS, "trace_verdict": "with_modifications", "trace_edit": TRACE}
    withdrawn = {"suitable": "no", "reason": "contradicts_life"}
    play.judge({texts["CHAR_02"]: edited, texts["CHAR_03"]: withdrawn, texts["CHAR_04"]: disputed})
    play.again()
    play.call("import", play.fill("B1", lambda text: rulings(text, texts)))
    tables = {name: list(play.space.rows(name)) for name in (*small_heart, "reviews")}
    after = release_of(tmp_path / "after", "heart@1.0.0", tables)
    (found,) = [table for table in diff(first, after).tables if table.name == "decisions"]
    assert found.removed == [f"CHAR_03/{DECIDED}"]
    assert found.changed[f"CHAR_02/{DECIDED}"][:1] == ["final_decision"]
    assert found.changed[f"CHAR_04/{DECIDED}"][:1] == ["inner_consciousness"]
    assert found.changed[f"CHAR_01/{DECIDED}"] == ["review"]
    assert after.manifest["review"]["decisions"] == {"arbitrated": 2, "unanimous": 1}


def rulings(text, texts):
    if text == texts["CHAR_02"]:
        return {"ruling": "edit", "edit": "I wait. I go."}
    return {"ruling": "confirm", "trace_edit": TRACE}
