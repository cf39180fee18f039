"""Expert review, played by three annotators and an arbitrator: export, judgements, gold, and all that goes wrong."""

import csv
import io
import os
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from schemas.tables import term_ids
from schemas.workspace import Workspace
from validators.review.__main__ import main
from validators.review.labelstudio import configuration

PEOPLE = ("A1", "A2", "A3", "B1")
AS_IS = {"suitable": "yes", "verdict": "as_is"}
DECIDED = "SCN_SCHOOL_AGE_1"


class Play:
    """A workspace with the small benchmark and the four people."""

    def __init__(self, root: Path, tables, capsys) -> None:
        self.root, self.capsys = root, capsys
        self.space = Workspace(root, "heart")
        self.folder = self.space.folder / "review/decisions"
        for name, rows in tables.items():
            table = self.space.benchmark.table(name)
            for key in {table.file_of(row) for row in rows}:
                self.space.write(name, [row for row in rows if table.file_of(row) == key], key)

    def call(self, verb, *words):
        """Exit code, document, stderr."""
        self.capsys.readouterr()
        code = main([verb, "--workspace", str(self.root), "--json", *map(str, words)])
        out, err = self.capsys.readouterr()
        return code, orjson.loads(out) if out else None, err

    def export(self, *words):
        return self.call("export", "--annotators", *PEOPLE[:3], "--arbitrator", "B1", *words)

    def again(self):
        return self.call("export")

    def sheet(self, person):
        return list(csv.DictReader(io.StringIO((self.folder / f"{person}.csv").read_bytes().decode("utf-8-sig"))))

    def save(self, person, rows, delimiter=",") -> Path:
        path = self.folder / f"{person}.csv"
        with path.open("w", encoding="utf-8", newline="") as out:
            writer = csv.DictWriter(out, rows[0].keys(), delimiter=delimiter)
            writer.writeheader()
            writer.writerows(rows)
        return path

    def fill(self, person, answer: Callable[[str], dict[str, str]] | dict[str, str], delimiter=",") -> Path:
        """Answer every line; ``answer`` takes the text of the decision."""
        rows = self.sheet(person)
        for row in rows:
            row.update(answer(row["text"]) if callable(answer) else answer)
        return self.save(person, rows, delimiter)

    def judge(self, by_text: dict[str, dict[str, str]] | None = None, who="A3"):
        """All three find all acceptable, but ``who`` as ``by_text`` says; imported."""
        files = [self.fill(p, AS_IS) for p in PEOPLE[:3] if p != who]
        files.append(self.fill(who, lambda text: (by_text or {}).get(text, AS_IS)))
        return self.call("import", *files)

    def decisions(self):
        return {
            row["character_id"]: row
            for key in self.space.keys("decisions")
            for row in self.space.rows("decisions", key)
        }

    def reviews(self):
        return list(self.space.rows("reviews"))

    def bytes(self):
        kept = sorted(self.space.folder.glob("decisions/*")) + sorted(self.space.folder.glob("reviews/*"))
        return {path.name: path.read_bytes() for path in kept}


@pytest.fixture
def play(tmp_path, small_heart, capsys):
    return Play(tmp_path, small_heart, capsys)


def codes(document):
    return [found["code"] for found in document["findings"]]


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
    own = ["yes", "no", "as_is", "with_modifications", "unacceptable"]
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
    play.judge({text: {"suitable": "yes", "verdict": "with_modifications", "edit": "I wait. I walk over later."}})
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
    play.judge({text: {"suitable": "yes", "verdict": "unacceptable", "rationale": "too calm"}})
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
            texts["CHAR_02"]: {"suitable": "yes", "verdict": "with_modifications", "edit": "I wait. I go."},
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
        (lambda rows: rows[0].update(item=rows[1]["item"]), "review.edited_digest"),
        (lambda rows: rows[0].update(item="0" * 12), "review.edited_id"),
        (lambda rows: rows[0].update(item="0" * 12, digest="0" * 64), "review.unknown_item"),
        (lambda rows: rows[0].update(digest="f" * 64), "review.edited_digest"),
        (lambda rows: rows[0].update(suitable=""), "review.incomplete"),
        (lambda rows: rows[0].update(verdict=""), "review.incomplete"),
        (lambda rows: rows[0].update(verdict="fine"), "review.unknown_term"),
        (lambda rows: rows[0].update(suitable="no", reason="age"), "review.contradictory"),
        (lambda rows: rows[0].update(suitable="no", verdict=""), "review.incomplete"),
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
    changed = play.fill("A1", {"suitable": "no", "verdict": "", "reason": "age"})
    code, document, _ = play.call("import", changed)
    assert (code, document["taken"], set(codes(document))) == (1, 0, {"review.contradictory"})
    assert play.call("import", changed, "--revise")[1]["taken"] == 4
    assert sorted((row["revision"], row["suitable"]) for row in play.reviews()) == [(0, True)] * 4 + [(1, False)] * 4


def test_an_arbitrator_rules_only_on_what_is_queued(play):
    play.export()
    rows = [{**row, "annotator": "B1", "ruling": "confirm"} for row in play.sheet("A1")]
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
        (["export", "--limit", "0"], "not a number from 1"),
    ],
)
def test_a_wrong_request_is_told_in_one_line(play, words, said):
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
def test_a_malformed_file_is_told_in_one_line(play, tmp_path, name, content, said):
    play.export()
    (tmp_path / name).write_bytes(content)
    code, _, err = play.call("import", tmp_path / name)
    assert code == 2 and said in err and err.count("\n") == 1


def test_other_people_cannot_join_a_round(play):
    play.export()
    code, _, err = play.call("export", "--annotators", "A1", "A2", "A9", "--arbitrator", "B1")
    assert code == 2 and "the round has other people" in err


# Label Studio


def annotated(task, person_id, results, cancelled=False):
    return {**task, "annotations": [{"completed_by": person_id, "was_cancelled": cancelled, "result": results}]}


def choice(name, value):
    return {"from_name": name, "to_name": "text", "type": "choices", "value": {"choices": [value]}}


def words(name, value):
    return {"from_name": name, "to_name": "text", "type": "textarea", "value": {"text": [value]}}


def test_an_export_of_label_studio_says_the_same_as_a_sheet(play, tmp_path):
    play.export()
    tasks = orjson.loads((play.folder / "A1.tasks.json").read_bytes())
    done = [
        annotated(task, 7, [choice("suitable", "yes"), choice("verdict", "as_is"), words("edit", task["data"]["text"])])
        for task in tasks
    ]
    done[0] = annotated(
        tasks[0], {"id": 7}, [choice("suitable", "no"), choice("reason", "other"), words("rationale", "Odd.")]
    )
    done[1] = annotated(tasks[1], 7, [], cancelled=True)
    path = tmp_path / "export.json"
    path.write_bytes(orjson.dumps(done))
    code, document, _ = play.call("import", path)
    assert (code, document["taken"], codes(document)) == (0, 3, ["review.skipped"])
    by_item = {row["item"]: row for row in play.reviews()}
    assert by_item[tasks[0]["data"]["item"]]["rationale"] == "Odd."
    assert by_item[tasks[2]["data"]["item"]]["edit"] is None


def test_two_annotations_of_one_task_that_differ_are_a_contradiction(play, tmp_path):
    play.export()
    (task, *_) = orjson.loads((play.folder / "A1.tasks.json").read_bytes())
    one = annotated(task, 7, [choice("suitable", "yes"), choice("verdict", "as_is")])
    one["annotations"] += annotated(task, 8, [choice("suitable", "no"), choice("reason", "age")])["annotations"]
    path = tmp_path / "export.json"
    path.write_bytes(orjson.dumps([one]))
    assert codes(play.call("import", path)[1]) == ["review.contradictory"]


@pytest.mark.skipif("LABEL_STUDIO_URL" not in os.environ, reason="no Label Studio: LABEL_STUDIO_URL is not set")
def test_a_round_trip_through_a_label_studio_server(play, tmp_path):
    import httpx2

    from validators.review.labelstudio import read_export

    play.export()
    headers = {"Authorization": f"Token {os.environ['LABEL_STUDIO_TOKEN']}"}
    with httpx2.Client(base_url=os.environ["LABEL_STUDIO_URL"], headers=headers, timeout=60) as server:

        def post(path, content):
            reply = server.post(path, json=content)
            assert reply.status_code < 300, reply.text
            return reply.json()

        config = (play.folder / "labelling.xml").read_text("utf-8")
        project = post("/api/projects", {"title": "review", "label_config": config})["id"]
        post(f"/api/projects/{project}/import", orjson.loads((play.folder / "A1.tasks.json").read_bytes()))
        listed = server.get("/api/tasks", params={"project": project, "fields": "all", "page_size": 100}).json()[
            "tasks"
        ]
        assert len(listed) == 4
        for task in listed:
            post(
                f"/api/tasks/{task['id']}/annotations",
                {"result": [choice("suitable", "yes"), choice("verdict", "as_is")]},
            )
        path = tmp_path / "export.json"
        path.write_bytes(server.get(f"/api/projects/{project}/export", params={"exportType": "JSON"}).content)
        server.delete(f"/api/projects/{project}")
    assert len(read_export(path)) == 4
    assert play.call("import", path)[1]["taken"] == 4
