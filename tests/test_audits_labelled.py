"""The audits agree with a careful reader: labelled sentences, written before the patterns were looked at."""

import copy
from pathlib import Path

import orjson
import pytest

from audits import audit, rubin, scenarios
from audits.reading import Subject
from audits.speech import Quotations

FOLDER = Path(__file__).parent / "cases/audits"
SOUND = orjson.loads((FOLDER.parent / "sound_rows.json").read_bytes())
LEAST = 0.97

FIELDS = {
    "anchor.identity": ("scenarios", "context_text", {"anchor.identity"}),
    "decisions.clinical": ("decisions", "final_decision", {"vocabulary.clinical"}),
    "decisions.citation": ("decisions", "final_decision", {"citation.memory", "format.residue"}),
    "decisions.third": ("decisions", "final_decision", {"person.third"}),
}
"""Whose sentences are no memory's: table, field and the codes that raise them."""

LEADS = {
    "rubin.sensory": "It smelled of tar. ",  # two signs are needed
    "rubin.aftermath": "He came in and put the box on the shelf, and we both sat down and counted what was in it. ",
}
"""What stands before a sentence that alone could not show a dimension."""


def labelled(path):
    """The sentences of a file by set: (whether a reader finds something, sentence)."""
    sets = {}
    for line in path.read_text("utf-8").splitlines():
        if line.startswith("# "):
            now = sets.setdefault(line[2:], [])
        else:
            now.append((line[0] == "+", line[2:]))
    return sets


def is_found(code, sentence):
    if code == "urgency.missing":
        return scenarios.presses([sentence])
    if code.startswith("rubin."):
        read = [Subject("memories", "MEM_04_0001", {"content_full": LEADS.get(code, "") + sentence})]
        return code not in {finding.code for finding in rubin.audit(read, [Quotations(read[0].text("content_full"))])}
    table, field, wanted = FIELDS.get(code, ("memories", "content_full", {code}))
    row = {**copy.deepcopy(SOUND[table]), field: sentence}
    if table == "memories":
        row |= {"age": 9, "emotion_signature": {"primary": "worry", "secondary": "relief", "intensity": 0.2}}
    return any(finding.code in wanted for finding in audit(table, [row], only=wanted))


def judged(code, sentences):
    """Precision, recall and the sentences on which audit and reader disagree."""
    found = [(wanted, is_found(code, sentence), sentence) for wanted, sentence in sentences]
    right = sum(1 for wanted, hit, _ in found if wanted and hit)
    wrong = [f"{'missed' if wanted else 'false'}: {sentence}" for wanted, hit, sentence in found if wanted != hit]
    precision = right / max(1, sum(1 for _, hit, _ in found if hit))
    return precision, right / sum(1 for wanted, _, _ in found if wanted), wrong


CASES = [
    pytest.param(path.stem, sentences, id=f"{path.stem}-{name}")
    for path in sorted(FOLDER.glob("*.txt"))
    for name, sentences in labelled(path).items()
]


@pytest.mark.parametrize(("code", "sentences"), CASES)
def test_a_criterion_finds_what_a_reader_finds_and_little_else(code, sentences):
    precision, recall, wrong = judged(code, sentences)
    assert precision >= LEAST, wrong
    assert recall >= LEAST, wrong
