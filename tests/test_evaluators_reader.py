"""The offline reader: the option in this person's words, from narratives alone, against what others remember."""

from collections.abc import Sequence

import pytest
from evaluator_samples import SPEC
from release_samples import frozen_once, small_tables

from evaluators.protocols.bench import Question, read_bench, read_keys
from evaluators.protocols.reader import Reader

WORDS = ("kettle", "ladder", "violin", "tractor")


def tables_of(narrated=lambda who, word: f"That day the {word} was all I thought of, and it rained."):
    """The small workspace; each character's memories and own decision share a word that nobody else's have."""
    tables = small_tables()
    people = sorted({row["character_id"] for row in tables["mcqs"]})
    word = dict(zip(people, WORDS, strict=True))
    for memory in tables["memories"]:
        memory["content_full"] = narrated(memory["character_id"], word[memory["character_id"]])
    for key, question in zip(tables["mcq_keys"], tables["mcqs"], strict=True):
        assert key["question_id"] == question["question_id"]
        source = {each["label"]: each["character_id"] for each in key["sources"]}
        for option in question["options"]:
            option["content"] = f"I choose to go. I take the {word[source[option['label']]]} with me."
    return tables


def opened(root, tables):
    release = frozen_once(root, SPEC, tables)
    return read_bench(release), read_keys(release)


def chosen(question: Question, scores: Sequence[float]) -> str:
    return question.labels[max(range(len(scores)), key=scores.__getitem__)]


@pytest.mark.parametrize("activated", [True, False])
def test_the_option_in_the_persons_own_words_is_taken_with_and_without_activations(tmp_path, activated):
    tables = tables_of()
    bench, keys = opened(tmp_path, tables if activated else {**tables, "activations": []})
    reader = Reader(bench)
    assert {q.id: chosen(q, reader.scores(q)) for q in bench.questions} == keys


def test_words_that_the_situation_brings_to_everybodys_mind_weigh_nothing(tmp_path):
    tables = tables_of(lambda who, word: f"Everybody had a {' and a '.join(WORDS)} on that day.")
    bench, _ = opened(tmp_path, tables)
    reader = Reader(bench)
    for question in bench.questions:
        assert reader.scores(question) == pytest.approx([reader.scores(question)[0]] * 4)


def test_only_narratives_are_read(tmp_path):
    scores = []
    for number, said in enumerate(("Keep the kettle on.", "Hold the ladder.")):
        tables = tables_of()
        for memory in tables["memories"]:
            memory["behavior_policy"] = memory["psych_conclusion"] = memory["content_summary"] = said
        bench, _ = opened(tmp_path / str(number), tables)
        scores.append([Reader(bench).scores(question) for question in bench.questions])
    assert scores[0] == scores[1]


def test_what_a_setting_retrieved_is_all_that_is_read(tmp_path):
    bench, _ = opened(tmp_path, tables_of())
    first, *rest = bench.questions
    retrieved = {first.id: ["The violin again."], **{question.id: ["It rained."] for question in rest}}
    scores = Reader(bench, retrieved).scores(first)
    assert "violin" in first.texts[max(range(4), key=scores.__getitem__)]


def test_without_anything_remembered_all_options_score_alike(tmp_path):
    bench, _ = opened(tmp_path, tables_of(lambda who, word: "Nothing of note."))
    for question in bench.questions:
        assert len(set(Reader(bench, {each.id: [] for each in bench.questions}).scores(question))) == 1
