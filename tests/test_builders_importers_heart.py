"""Importing HEART-BENCH: each anomaly is found where it is planted, and nowhere else."""

import importer_samples as samples
import pytest
from importer_samples import STEP_1, STEP_2

from builders.importers import heart
from builders.importers.archives import Published
from builders.importers.codes import codes
from schemas.errors import RequestError

FIRST, SECOND = samples.SCENARIOS.values()


def stage(documents):
    return heart.stage(Published("sample", samples.encoded(documents)))


def found(documents):
    """Code (without its family), row and field of every finding."""
    return [(f.code.removeprefix("published."), f.row_id, f.field) for f in stage(documents).findings]


def record(documents, step, character="CHAR_01", scenario=FIRST):
    return documents[step]["annotations"][character][scenario]


def test_a_dataset_without_a_fault_has_no_finding():
    staged = stage(samples.heart())
    assert staged.findings == []
    assert staged.counts() == {
        "scenarios": 2,
        "activations": 16,
        "decisions": 8,
        "mcqs": 8,
        "mcq_keys": 8,
        "published_files": 5,
    }


def test_questions_carry_nothing_that_gives_the_answer_away():
    for row in stage(samples.heart()).rows["mcqs"].values():
        assert {key for option in row["options"] for key in option} == {"label", "content"}
        assert row["published"] == []


def _tag(documents):
    for memory in record(documents, STEP_2)["activated_memories"]:
        memory["memory_id"] = memory["memory_id"].replace("MEM_01_", "MEM_CHAR_01_N_HIGH_")


def _duplicate(documents):
    memories = record(documents, STEP_1)["activated_memories"]
    memories[-1] = dict(memories[0])


def _shorten(documents):
    item = record(documents, STEP_2)
    item["activated_memories"] = item["activated_memories"][:49]
    item["final_activated_count"] = 49


def _shorten_both(documents):
    for step, count in ((STEP_1, "activated_count"), (STEP_2, "final_activated_count")):
        item = record(documents, step)
        item["activated_memories"] = [{**memory} for memory in item["activated_memories"]][-40:]
        item[count] = 40
    fine, coarse = record(documents, STEP_2), record(documents, STEP_1)
    fine["activated_memories"] = [{"memory_id": m["memory_id"], "type": ""} for m in coarse["activated_memories"]]
    fine |= {"stage1_activated_count": 40, "skipped_finalize": True}


def _edit(*path, value):
    def change(documents):
        *parents, last = path
        node = documents
        for step in parents:
            node = node[step]
        if value is ...:
            del node[last]
        else:
            node[last] = value

    return change


def _annotations(step, *path, value, scenario=FIRST):
    return _edit(step, "annotations", "CHAR_01", scenario, *path, value=value)


def _drop_scenario(documents):
    del documents["scenarios.json"]["scenarios"]["adolescence"]


def _drop_pair(documents):
    documents["ground_truth.json"]["pairs"] = [
        pair
        for pair in documents["ground_truth.json"]["pairs"]
        if (pair["character_id"], pair["scenario_id"]) != ("CHAR_01", FIRST)
    ]


def _drop_question(documents):
    del documents["mcq.json"]["questions"][0]
    documents["mcq.json"]["dataset_meta"]["total_questions"] -= 1


def _flag(documents):
    documents["mcq.json"]["questions"][0]["options"][1]["is_generated"] = True


FINE, COARSE = f"CHAR_01/{FIRST}/fine", f"CHAR_01/{FIRST}/coarse"
PAIR, QUESTION = f"CHAR_01/{FIRST}", f"Q_CHAR_01_{FIRST}"
OTHERS = [f"Q_CHAR_0{number}_{FIRST}" for number in (2, 3, 4)]
IDS, Q0 = "memories.memory_id", ("mcq.json", "questions", 0)
SCHOOL = ("scenarios.json", "scenarios", "school_age", 0)

PLANTED = {
    "tagged ids": (_tag, [("tagged_memory_id", FINE, IDS)]),
    "an id twice": (
        _duplicate,
        [("duplicate_memory_id", COARSE, IDS)],
    ),
    "49 of 60": (_shorten, [("not_fifty", FINE, "memories"), ("short_of_offer", FINE, "memories")]),
    "40 of 40, skipped": (
        _shorten_both,
        [("not_fifty", FINE, "memories"), ("activation_type_empty", FINE, "memories.type")],
    ),
    "an invented memory": (
        _annotations(STEP_2, "activated_memories", 7, "memory_id", value="MEM_01_0999"),
        [("not_in_coarse", FINE, IDS)],
    ),
    "a memory of another": (
        _annotations(STEP_2, "activated_memories", 7, "memory_id", value="MEM_02_0001"),
        [("memory_of_another", FINE, IDS), ("not_in_coarse", FINE, IDS)],
    ),
    "an unknown type": (
        _annotations(STEP_2, "activated_memories", 3, "type", value="EM"),
        [("activation_type_unknown", FINE, "memories.3.type")],
    ),
    "an empty type": (
        _annotations(STEP_2, "activated_memories", 3, "type", value=""),
        [("activation_type_empty", FINE, "memories.type")],
    ),
    "a wrong count": (
        _annotations(STEP_2, "final_activated_count", value=48),
        [("activated_count_differs", FINE, "activated")],
    ),
    "a wrong offer": (
        _annotations(STEP_2, "stage1_activated_count", value=77),
        [("offered_count_differs", FINE, "offered")],
    ),
    "a wrong ratio": (_annotations(STEP_1, "stage1_ratio", value=0.3), [("ratio_differs", COARSE, "ratio")]),
    "failed batches": (_annotations(STEP_1, "batch_errors", value=["9"]), [("batch_errors", COARSE, "batch_errors")]),
    "no coarse record": (_annotations(STEP_1, value=...), [("coarse_record_absent", FINE, None)]),
    "another age": (_annotations(STEP_1, "scenario_age", value=10), [("scenario_age_differs", FIRST, "age")]),
    "under another key": (
        _annotations(STEP_1, "scenario_id", value="SCN_SCHOOL_AGE_9"),
        [
            ("bucket_differs", "CHAR_01/SCN_SCHOOL_AGE_9/coarse", None),
            ("scenario_absent", "SCN_SCHOOL_AGE_9", "id"),
            ("coarse_record_absent", FINE, None),
        ],
    ),
    "a character with its archetype": (
        _annotations(STEP_1, "character_id", value="CHAR_01_N_HIGH"),
        [
            ("unmapped", COARSE, None),
            ("tagged_character_id", COARSE, "character_id"),
            ("bucket_differs", COARSE, None),
        ],
    ),
    "no scenario": (_drop_scenario, [("scenario_absent", SECOND, "id")]),
    "no action": (
        _edit(*SCHOOL, "trigger_event", "action_required", value=...),
        [("action_required_missing", FIRST, "trigger_event.action_required")],
    ),
    "no annotation": (
        _edit(*SCHOOL, "annotation_reference", value=...),
        [("annotation_not_released", FIRST, None)],
    ),
    "an age outside": (
        _edit(*SCHOOL, "age", value=12),
        [("age_outside_stage", FIRST, "age"), ("scenario_age_differs", FIRST, "age")],
    ),
    "another bucket": (
        _edit(*SCHOOL, "stage", value="settling_down"),
        [("bucket_differs", FIRST, "stage"), ("age_outside_stage", FIRST, "age")]
        + [("stage_differs", f"CHAR_0{number}/{FIRST}", "stage") for number in (1, 2, 3, 4)]
        + [("stage_differs", f"Q_CHAR_0{number}_{FIRST}", "stage") for number in (1, 2, 3, 4)],
    ),
    "an unknown field": (_edit(*SCHOOL, "setting", "weather", value="hot"), [("unmapped", FIRST, None)]),
    "no gold": (
        _drop_pair,
        [("decision_absent", PAIR, None), ("gold_absent", QUESTION, None)]
        + [("option_differs_from_gold", name, "options.A.content") for name in (QUESTION, *OTHERS)],
    ),
    "no question": (_drop_question, [("question_absent", PAIR, None)]),
    "a generated option": (_flag, [("generated_flag", QUESTION, "sources.B.is_generated")]),
    "another text": (
        _edit(*Q0, "options", 1, "content", value="Something else."),
        [("option_differs_from_gold", QUESTION, "options.B.content")],
    ),
    "another answer": (
        _edit(*Q0, "correct_answer", value="B"),
        [
            ("unmapped", QUESTION, None),
            ("correct_flag_differs", QUESTION, "answer"),
            ("answer_not_own", QUESTION, "answer"),
        ],
    ),
    "a second correct option": (
        _edit(*Q0, "options", 1, "is_correct", value=True),
        [("unmapped", QUESTION, None), ("correct_flag_differs", QUESTION, "answer")],
    ),
    "a source twice": (
        _edit(*Q0, "options", 1, "source_character", value="CHAR_03"),
        [("option_repeated", QUESTION, "options"), ("option_differs_from_gold", QUESTION, "options.B.content")],
    ),
    "another question id": (
        _edit(*Q0, "question_id", value=f"Q_CHAR_09_{FIRST}"),
        [("question_absent", PAIR, None), ("question_id_differs", f"Q_CHAR_09_{FIRST}", "question_id")],
    ),
    "another total": (
        _edit("mcq.json", "dataset_meta", "total_questions", value=9),
        [("total_differs", "mcq.json", "outline")],
    ),
}


@pytest.mark.parametrize("planted", PLANTED)
def test_a_planted_anomaly_is_found_and_nothing_else_is(planted):
    change, expected = PLANTED[planted]
    documents = samples.heart()
    change(documents)
    assert sorted(found(documents), key=str) == sorted(expected, key=str)


def test_labels_out_of_order_are_found():
    documents = samples.heart()
    documents["mcq.json"]["questions"][0]["options"].reverse()
    assert found(documents) == [("labels_out_of_order", QUESTION, "options")]


def test_every_code_about_this_benchmark_can_be_found():
    planted = {code for _, expected in PLANTED.values() for code, _, _ in expected} | {"labels_out_of_order"}
    ours = {
        name.removeprefix("published.")
        for name, code in codes().items()
        if not {"PersonaLens", "PersTurnBench"} & set(code.source.split())
    }
    assert planted == ours


REJECTED = {
    "scenarios": (_edit(*SCHOOL, "age", value="nine"), FIRST, "age", "schema.type", "scenarios.json"),
    "decisions": (
        _edit("ground_truth.json", "pairs", 0, "final_decision", value=...),
        f"CHAR_04/{SECOND}",
        "final_decision",
        "schema.required",
        "ground_truth.json",
    ),
    "mcqs": (_edit(*Q0, "options", value=[]), QUESTION, "options", "schema.min_items", "mcq.json"),
    "mcq_keys": (_edit(*Q0, "correct_answer", value="E"), QUESTION, "answer", "schema.enum", "mcq.json"),
    "activations": (
        _annotations(STEP_2, "activated_memories", 2, "memory_id", value="MEM_?"),
        FINE,
        "memories.2.memory_id",
        "schema.pattern",
        STEP_2,
    ),
}


@pytest.mark.parametrize("table", REJECTED)
def test_a_row_that_does_not_fit_is_set_aside_with_file_row_and_field_and_the_others_go_on(table):
    change, row_id, field, code, file = REJECTED[table]
    documents = samples.heart()
    change(documents)
    staged, whole = stage(documents), stage(samples.heart())
    (record,) = staged.rejected[table]
    assert (record["row_id"], record["file"], code in record["codes"]) == (row_id, file, True)
    assert any(
        (finding.table, finding.row_id, finding.field, finding.code) == (table, row_id, field, code)
        and file in finding.message
        for finding in staged.findings
    )
    assert staged.rows[table].keys() == whole.rows[table].keys() - {row_id}


def test_a_question_without_a_sound_key_is_set_aside_with_it():
    documents = samples.heart()
    _edit(*Q0, "correct_answer", value="E")(documents)
    staged = stage(documents)
    assert [record["row_id"] for name in ("mcqs", "mcq_keys") for record in staged.rejected[name]] == [QUESTION] * 2


@pytest.mark.parametrize("name", heart.NAMES)
def test_a_missing_file_is_refused_by_name(name):
    documents = samples.heart()
    del documents[name]
    with pytest.raises(RequestError, match=f"missing file in sample/{name}"):
        stage(documents)


@pytest.mark.parametrize(
    "value", [[], 1, None, "x", {}, {"scenarios": [], "questions": {}, "pairs": {}, "annotations": []}]
)
@pytest.mark.parametrize("name", heart.NAMES)
def test_a_file_of_another_shape_is_refused(name, value):
    with pytest.raises(RequestError, match=f"another shape in {name}"):
        stage(samples.heart() | {name: value})


@pytest.mark.parametrize(
    "name, path",
    [("mcq.json", ["questions"]), ("ground_truth.json", ["pairs"]), ("scenarios.json", ["scenarios", "school_age"])],
)
def test_an_id_that_occurs_twice_is_refused_by_name(name, path):
    documents = samples.heart()
    listed = documents[name]
    for step in path:
        listed = listed[step]
    listed.append(listed[0])
    with pytest.raises(RequestError, match=f"duplicate id in {name}, row "):
        stage(documents)
