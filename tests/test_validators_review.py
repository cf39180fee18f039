"""Expert review, played by three annotators and an arbitrator: export, judgements, gold, and all that goes wrong."""

import orjson
import pytest
from review_samples import AS_IS, DECIDED, PEOPLE, Play, codes

from schemas.records import term_ids
from validators.review import rounds
from validators.review.labelstudio import configuration


@pytest.fixture
def play(tmp_path, small_heart, capsys):
    return Play(tmp_path, small_heart, capsys)


# What goes out


def test_nothing_on_a_sheet_or_in_a_task_says_whose_decision_it_is_or_who_wrote_it(play, small_heart):
    assert play.export()[0] == 0
    names = {part for c in small_heart["characters"] for part in (c["character_id"], c["label"], c["archetype"])}
    for path in [*play.folder.glob("*.csv"), *play.folder.glob("*.tasks.json")]:
        text = path.read_text("utf-8-sig")
        assert [name for name in [*names, DECIDED, "offline", "provenance"] if name in text] == []


def test_each_person_has_the_same_items_in_an_order_of_their_own(play):
    play.export()
    orders = [[row["item"] for row in play.sheet(person)] for person in PEOPLE[:3]]
    assert len({frozenset(order) for order in orders}) == 1
    assert len({tuple(order) for order in orders}) > 1
    assert play.sheet("B1") == []


def test_sheets_and_tasks_hold_the_same_and_the_same_seed_gives_the_same_bytes(play):
    play.export()
    first = {path.name: path.read_bytes() for path in play.folder.iterdir()}
    tasks = [task["data"] for task in orjson.loads(first["A1.tasks.json"])]
    rows = [{name: row[name] for name in tasks[0]} for row in play.sheet("A1")]
    assert rows == tasks
    play.again()
    assert {path.name: path.read_bytes() for path in play.folder.iterdir()} == first


def test_a_limit_draws_that_many_items_the_same_for_everybody(play):
    code, document, _ = play.export("--limit", "2")
    assert (code, document["waiting"]) == (0, {"A1": 2, "A2": 2, "A3": 2, "B1": 0})
    assert {row["item"] for row in play.sheet("A1")} == {row["item"] for row in play.sheet("A2")}


@pytest.mark.parametrize("role", ["annotator", "arbitrator"])
def test_the_labelling_configuration_offers_every_reason_and_every_tier_once(role):
    from xml.etree import ElementTree

    offered = [c.get("alias") for c in ElementTree.fromstring(configuration("decisions", role)).iter("Choice")]
    tiers = ["as_is", "with_modifications", "unacceptable"]
    own = ["yes", "no", *tiers, *tiers]  # of the decision, and of the inner trace
    own = own if role == "annotator" else ["confirm", "edit", "rewrite", "drop"]
    assert sorted(offered) == sorted([*own, *term_ids("review_reasons")])


# What comes back


def test_what_three_find_acceptable_is_adopted_and_says_by_how_many_and_on_which_text(play):
    before = {who: row["final_decision"] for who, row in play.decisions().items()}
    play.export()
    code, document, _ = play.judge()
    assert (code, document["taken"], document["findings"]) == (0, 12, [])
    for who, row in play.decisions().items():
        assert row["final_decision"] == before[who]
        assert (row["review"]["status"], row["review"]["annotators"]) == ("unanimous", 3)
        assert {r["annotator"] for r in play.reviews() if r["digest"] == row["review"]["digest"]} == set(PEOPLE[:3])


def test_what_is_not_unanimous_goes_to_the_arbitrator_whose_text_becomes_gold(play):
    text = play.decisions()["CHAR_02"]["final_decision"]
    play.export()
    play.judge(
        {
            text: {
                "suitable": "yes",
                "verdict": "with_modifications",
                "trace_verdict": "as_is",
                "edit": "I wait. I walk over later.",
            }
        }
    )
    assert play.decisions()["CHAR_02"]["review"]["status"] == "unreviewed"
    play.again()
    (queued,) = play.sheet("B1")
    assert queued["text"] == text and "would write: I wait. I walk over later." in queued["judgements"]
    assert not [person for person in PEOPLE if person in queued["judgements"]]
    assert play.call("import", play.fill("B1", {"ruling": "rewrite", "edit": "I wait. I go at six."}))[0] == 0
    row = play.decisions()["CHAR_02"]
    assert row["final_decision"] == "I wait. I go at six."
    assert (row["review"]["status"], row["review"]["annotators"]) == ("arbitrated", 4)
    ruled = next(r for r in play.reviews() if r["role"] == "arbitrator")
    assert (ruled["text"], ruled["edit"], ruled["digest"]) == (text, row["final_decision"], row["review"]["digest"])


@pytest.mark.parametrize(
    ("ruling", "kept"), [({"ruling": "confirm"}, True), ({"ruling": "drop", "reason": "ambiguous"}, False)]
)
def test_an_arbitrator_may_confirm_or_drop(play, ruling, kept):
    text = play.decisions()["CHAR_02"]["final_decision"]
    play.export()
    play.judge({text: {**AS_IS, "verdict": "unacceptable", "rationale": "too calm"}})
    play.again()
    play.call("import", play.fill("B1", ruling))
    assert ("CHAR_02" in play.decisions()) is kept
    if kept:
        assert play.decisions()["CHAR_02"]["final_decision"] == text
    drops = play.call("status")[1]["rounds"][0]["drops"]
    assert drops == ({} if kept else {"ambiguous": 1})


def test_one_annotator_who_finds_a_pair_unsuitable_discards_it_and_the_judgements_stay(play):
    text = play.decisions()["CHAR_03"]["final_decision"]
    play.export()
    play.judge({text: {"suitable": "no", "reason": "contradicts_life", "rationale": "no school there"}})
    assert "CHAR_03" not in play.decisions()
    kept = [row for row in play.reviews() if row["character_id"] == "CHAR_03"]
    assert len(kept) == 3 and [row["reason"] for row in kept].count("contradicts_life") == 1
    code, document, _ = play.call("status")
    assert (code, document["rounds"][0]["drops"]) == (0, {"contradicts_life": 1})


def test_importing_again_changes_nothing_also_after_texts_were_edited_and_pairs_dropped(play):
    texts = {who: row["final_decision"] for who, row in play.decisions().items()}
    play.export()
    play.judge(
        {
            texts["CHAR_02"]: {
                "suitable": "yes",
                "verdict": "with_modifications",
                "trace_verdict": "as_is",
                "edit": "I wait. I go.",
            },
            texts["CHAR_03"]: {"suitable": "no", "reason": "age"},
        }
    )
    sheets = []
    for person in PEOPLE[:3]:
        sheets.append(play.folder / f"kept-{person}.csv")
        sheets[-1].write_bytes((play.folder / f"{person}.csv").read_bytes())
    play.again()
    sheets.append(play.fill("B1", {"ruling": "edit", "edit": "I wait. I go slowly."}))
    play.call("import", sheets[-1])
    before = play.bytes()
    code, document, _ = play.call("import", *sheets)
    assert (code, document) == (0, {"taken": 0, "known": 13, "refused": 0, "findings": []})
    assert play.bytes() == before


def test_a_rebuilt_table_gets_its_gold_back_by_importing_nothing(play, small_heart):
    play.export()
    play.judge({play.decisions()["CHAR_03"]["final_decision"]: {"suitable": "no", "reason": "age"}})
    reviewed = play.bytes()
    for row in small_heart["decisions"]:
        play.space.write("decisions", [row], row["character_id"])
    assert play.call("import")[0] == 0
    assert play.bytes() == reviewed


def test_lines_nobody_filled_in_wait_and_are_asked_for_again(play):
    play.export()
    rows = play.sheet("A1")
    rows[0].update(AS_IS)
    assert play.call("import", play.save("A1", rows))[1]["taken"] == 1
    assert play.again()[1]["waiting"] == {"A1": 3, "A2": 4, "A3": 4, "B1": 0}


def test_a_sheet_saved_with_semicolons_is_read(play):
    play.export()
    assert play.call("import", play.fill("A1", AS_IS, delimiter=";"))[1]["taken"] == 4


def test_answers_that_were_not_imported_are_not_written_over(play):
    play.export()
    play.fill("A1", AS_IS)
    code, _, err = play.again()
    assert code == 2 and "answers that were not imported" in err and err.count("\n") == 1


def test_answers_changed_since_their_import_are_not_written_over(play):
    play.export()
    assert play.call("import", play.fill("A1", AS_IS))[0] == 0
    rows = play.sheet("A1")
    rows[0]["rationale"] = "On a second look."
    play.save("A1", rows)
    code, _, err = play.again()
    assert code == 2 and "changed since they were imported" in err and "--revise" in err
    assert play.call("import", play.folder / "A1.csv", "--revise")[0] == 0
    assert play.again()[0] == 0


# What is refused


def test_an_unknown_annotator_is_refused_by_name_and_nothing_is_taken(play):
    play.export()
    good = play.fill("A1", AS_IS)
    rows = [{**row, **AS_IS, "annotator": "A4"} for row in play.sheet("A2")]
    code, _, err = play.call("import", good, play.save("A2", rows))
    assert code == 2 and "unknown annotator 'A4'" in err and err.count("\n") == 1
    assert not play.space.path("reviews", "decisions").exists()


def test_a_judgement_of_a_text_that_has_changed_is_refused_by_name(play):
    play.export()
    sheet = play.fill("A1", AS_IS)
    row = {**play.decisions()["CHAR_02"], "final_decision": "I do something else. I run."}
    play.space.write("decisions", [row], "CHAR_02")
    code, document, _ = play.call("import", sheet)
    assert (code, document["taken"], codes(document)) == (1, 3, ["review.stale"])
    assert document["findings"][0]["row_id"] == f"CHAR_02/{DECIDED}"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda rows: rows[0].update(item=rows[1]["item"]), "review.edited_id"),
        (lambda rows: rows[0].update(item="0" * 12), "review.edited_id"),
        (lambda rows: rows[0].update(item="0" * 12, digest="0" * 64), "review.unknown_item"),
        (lambda rows: rows[0].update(digest="f" * 64), "review.edited_digest"),
        (lambda rows: rows[0].update(suitable=""), "review.incomplete"),
        (lambda rows: rows[0].update(verdict=""), "review.incomplete"),
        (lambda rows: rows[0].update(verdict="fine"), "review.unknown_term"),
        (lambda rows: rows[0].update(suitable="no", reason="age"), "review.contradictory"),
        (lambda rows: rows[0].update(suitable="no", verdict="", trace_verdict=""), "review.incomplete"),
        (lambda rows: rows[0].update(edit="Another text."), "review.contradictory"),
        (lambda rows: rows[0].update(reason="age"), "review.contradictory"),
        (lambda rows: rows[0].update(verdict="with_modifications"), "review.incomplete"),
        (lambda rows: rows[0].update(verdict="with_modifications", edit=rows[0]["text"]), "review.incomplete"),
        (lambda rows: rows[0].update(verdict="unacceptable"), "review.incomplete"),
        (lambda rows: rows[0].update(rationale="x" * 5000), "review.too_long"),
    ],
)
def test_an_answer_that_cannot_be_taken_is_named_and_the_others_are_taken(play, change, code):
    play.export()
    rows = [{**row, **AS_IS} for row in play.sheet("A1")]
    change(rows)
    exit_code, document, _ = play.call("import", play.save("A1", rows))
    assert (exit_code, document["taken"], document["refused"]) == (1, 3, 1)
    assert codes(document) == [code]
    assert "A1" in document["findings"][0]["message"]


def test_a_person_who_contradicts_themself_is_named_unless_the_judgement_is_revised(play):
    play.export()
    play.call("import", play.fill("A1", AS_IS))
    changed = play.fill("A1", {"suitable": "no", "verdict": "", "trace_verdict": "", "reason": "age"})
    code, document, _ = play.call("import", changed)
    assert (code, document["taken"], set(codes(document))) == (1, 0, {"review.contradictory"})
    assert play.call("import", changed, "--revise")[1]["taken"] == 4
    assert sorted((row["revision"], row["suitable"]) for row in play.reviews()) == [(0, True)] * 4 + [(1, False)] * 4


def test_an_arbitrator_rules_only_on_what_is_queued(play):
    play.export()
    agreed = rounds.read_round(play.space, "decisions")
    rows = [
        {**row, "annotator": "B1", "ruling": "confirm", "seal": agreed.seal(row["item"], row["digest"], "B1", 1, 1)}
        for row in play.sheet("A1")
    ]
    document = play.call("import", play.save("B1", rows))[1]
    assert (document["taken"], set(codes(document))) == (0, {"review.not_queued"})


def test_a_gold_text_edited_later_is_named_and_loses_its_claim(play):
    play.export()
    play.judge()
    row = {**play.decisions()["CHAR_02"], "final_decision": "I do something else. I run."}
    play.space.write("decisions", [row], "CHAR_02")
    code, document, _ = play.call("status")
    assert (code, codes(document)) == (1, ["review.changed"])
    assert play.call("import")[0] == 1
    assert play.decisions()["CHAR_02"]["review"]["status"] == "unreviewed"
    assert play.again()[1]["waiting"]["A1"] == 1


def test_a_person_changed_later_makes_the_gold_unreviewed(play):
    play.export()
    play.judge()
    characters = list(play.space.rows("characters"))
    characters[1]["description"] = "Somebody else altogether."
    play.space.write("characters", characters)
    assert codes(play.call("status")[1]) == ["review.changed"]


def test_a_judged_pair_that_is_no_decision_any_more_is_named(play):
    play.export()
    play.judge()
    play.space.path("decisions", "CHAR_02").unlink()
    assert codes(play.call("status")[1]) == ["review.gone"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["export"], "not the people of this protocol"),
        (["export", "--annotators", "A1", "A2", "A3"], "not the people of this protocol"),
        (["export", "--annotators", "A1", "A1", "A3", "--arbitrator", "B1"], "the same person twice"),
        (["export", "--annotators", "A 1", "A2", "A3", "--arbitrator", "B1"], "not a code name"),
        (["export", "--kind", "pairs", "--annotators", "A1", "A2"], "wrong --items"),
        (["import", "missing.csv"], "missing file in missing.csv"),
        (["import", "missing.txt"], "unknown kind of file"),
        (["status"], "no review"),
        (["export", "--limit", "0"], "not a whole number from 1"),
    ],
)
def test_a_wrong_request_is_reported_in_one_line(play, words, said):
    code, _, err = play.call(*words)
    assert code == 2 and said in err and err.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.csv", b"item,text\n1,2\n", "sheet without its columns"),
        ("a.csv", "kind,item,digest,annotator\nä,b,c,d".encode("latin-1"), "another encoding"),
        ("a.json", b"{", "malformed JSON"),
        ("a.json", b"{}", "no export"),
        ("a.json", b'[{"data": {}, "annotations": [{"result": []}]}]', "no export of these tasks"),
    ],
)
def test_a_malformed_file_is_reported_in_one_line(play, tmp_path, name, content, said):
    play.export()
    (tmp_path / name).write_bytes(content)
    code, _, err = play.call("import", tmp_path / name)
    assert code == 2 and said in err and err.count("\n") == 1


def test_other_people_cannot_join_a_round(play):
    play.export()
    code, _, err = play.call("export", "--annotators", "A1", "A2", "A9", "--arbitrator", "B1")
    assert code == 2 and "the round has other people" in err
