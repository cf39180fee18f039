"""Expert review through Label Studio: its exports say the same as sheets; a real server where one is named or may be
installed."""

import label_studio_server
import orjson
import pytest
from review_samples import Play, codes

from validators.review.labelstudio import read_export


@pytest.fixture
def play(tmp_path, small_heart, capsys):
    return Play(tmp_path, small_heart, capsys)


def annotated(task, person_id, results, cancelled=False):
    return {**task, "annotations": [{"completed_by": person_id, "was_cancelled": cancelled, "result": results}]}


def choice(name, value):
    return {"from_name": name, "to_name": "text", "type": "choices", "value": {"choices": [value]}}


def words(name, value):
    return {"from_name": name, "to_name": "text", "type": "textarea", "value": {"text": [value]}}


AS_IS = [choice("suitable", "yes"), choice("verdict", "as_is"), choice("trace_verdict", "as_is")]


def test_an_export_of_label_studio_says_the_same_as_a_sheet(play, tmp_path):
    play.export()
    tasks = orjson.loads((play.folder / "A1.tasks.json").read_bytes())
    done = [
        annotated(
            task,
            7,
            [
                choice("suitable", "yes"),
                choice("verdict", "as_is"),
                choice("trace_verdict", "as_is"),
                words("edit", task["data"]["text"]),
            ],
        )
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
    one = annotated(task, 7, AS_IS)
    one["annotations"] += annotated(task, 8, [choice("suitable", "no"), choice("reason", "age")])["annotations"]
    path = tmp_path / "export.json"
    path.write_bytes(orjson.dumps([one]))
    assert codes(play.call("import", path)[1]) == ["review.contradictory"]


def through(server, play, person, form, answer):
    """A person's tasks through a project of their own on the server; ``answer`` makes the results for a text."""

    def post(path, content):
        reply = server.post(path, json=content)
        assert reply.status_code < 300, reply.text
        return reply.json()

    config = (play.folder / f"{form}.xml").read_text("utf-8")
    project = post("/api/projects", {"title": f"review by {person}", "label_config": config})["id"]
    post(f"/api/projects/{project}/import", orjson.loads((play.folder / f"{person}.tasks.json").read_bytes()))
    asked = {"project": project, "fields": "all", "page_size": 100}
    for task in server.get("/api/tasks", params=asked).json()["tasks"]:
        post(f"/api/tasks/{task['id']}/annotations", {"result": answer(task["data"]["text"])})
    path = play.root / f"{person}-export.json"
    path.write_bytes(server.get(f"/api/projects/{project}/export", params={"exportType": "JSON"}).content)
    server.delete(f"/api/projects/{project}")
    return path


@pytest.mark.skipif(
    not label_studio_server.KNOWN, reason="no Label Studio: neither LABEL_STUDIO_URL nor LABEL_STUDIO_INSTALL is set"
)
def test_a_whole_review_through_a_label_studio_server_makes_gold(play, tmp_path):
    disputed = play.decisions()["CHAR_02"]["final_decision"]
    play.export()
    with label_studio_server.running(tmp_path / "labelstudio") as server:
        for person in ("A1", "A2", "A3"):

            def judged(text, person=person):
                refused = text == disputed and person == "A2"
                verdict = [choice("verdict", "unacceptable"), words("rationale", "Not like this.")]
                return [AS_IS[0], AS_IS[2], *verdict] if refused else AS_IS

            path = through(server, play, person, "labelling", judged)
            assert len(read_export(path)) == 4
            assert play.call("import", path)[1]["taken"] == 4
        play.again()
        ruled = [choice("ruling", "rewrite"), words("edit", "I wait. I go at six.")]
        path = through(server, play, "B1", "arbitration", lambda text: ruled)
        assert play.call("import", path)[1]["taken"] == 1
    assert play.decisions()["CHAR_02"]["final_decision"] == "I wait. I go at six."
    status = sorted(row["review"]["status"] for row in play.decisions().values())
    assert status == ["arbitrated", "unanimous", "unanimous", "unanimous"]
