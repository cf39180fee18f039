"""Near-duplicates are scikit-learn's pairs, to the last one, and each names the row to drop and the one to keep."""

import json
import random
import re
import sys

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics.pairwise import cosine_similarity

from audits import audit
from audits.duplicates import command, near_duplicates, neighbours
from audits.duplicates.neighbours import cosine_pairs, cosines
from audits.duplicates.tfidf import weights
from schemas.errors import RequestError
from schemas.rows import write_jsonl

WORDS = [f"{a}{b}" for a in "bcdfglmnprst" for b in ("ane", "elt", "ing", "oom", "urst", "y", "ilken")]


def sklearn_cosines(texts):
    try:
        return cosine_similarity(TfidfVectorizer().fit_transform(texts))
    except ValueError:  # no text has a word
        return np.zeros((len(texts), len(texts)))


def sklearn_pairs(texts, threshold=0.85):
    return {(int(i), int(j)) for i, j in np.argwhere(np.triu(sklearn_cosines(texts) > threshold, 1))}


def pairs(texts, threshold=0.85, workers=1):
    return {(i, j) for i, j, _ in cosine_pairs(texts, threshold, workers)}


def narratives(count, seed, length=120):
    """Texts of which every fifth is an edited copy of an earlier one, so that cosines lie on both sides of 0.85."""
    rng, made = random.Random(seed), []
    for number in range(count):
        words = rng.choices(WORDS, [1 / (k + 1) for k in range(len(WORDS))], k=length)
        if number % 5 == 4:
            words = rng.choice(made).split(" ")
            for place in rng.sample(range(len(words)), rng.randrange(len(words) // 2)):
                words[place] = rng.choice(WORDS)
        made.append(" ".join(words))
    return made


def findings(rows, processes=1, across=False):
    return near_duplicates.findings(rows, near_duplicates.scope_of("memories"), processes, across)


def memory(number, text, *, age=10, stage="school_age", character="CHAR_01", intensity=0.5):
    return {
        "id": f"MEM_{character[-2:]}_{number:04d}",
        "content_full": text,
        "age": age,
        "stage": stage,
        "character_id": character,
        "emotion_signature": {"primary": "fear", "secondary": "hope", "intensity": intensity},
    }


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("threshold", [0.2, 0.5, 0.85, 0.99])
def test_the_pairs_are_those_of_scikit_learn(seed, threshold):
    texts = narratives(80, seed)
    assert pairs(texts, threshold) == sklearn_pairs(texts, threshold)


def test_the_planted_copies_straddle_the_threshold():
    texts = narratives(80, 0)
    values = sklearn_cosines(texts)[np.triu_indices(80, 1)]
    assert ((values > 0.7) & (values < 0.85)).any() and ((values > 0.85) & (values < 0.999)).any()


@hypothesis.settings(max_examples=300)
@hypothesis.given(
    st.lists(st.text(max_size=40) | st.text("aAbB_ '—İΣß\0\ud800漢½", max_size=20), min_size=1, max_size=8)
)
def test_any_unicode_text_is_weighed_as_by_scikit_learn(texts):
    mine = weights(texts)
    expected = sklearn_cosines(texts)
    assert np.allclose((mine @ mine.T).toarray(), expected, rtol=0, atol=1e-12)
    assert pairs(texts) == sklearn_pairs(texts)


def test_every_character_of_unicode_is_read_as_by_scikit_learn():
    texts = ["".join(f" {chr(point)}a{chr(point)} {chr(point)}" for point in range(start, start + 0x1000))
             for start in range(0, sys.maxunicode, 0x1000)]  # fmt: skip
    expected = TfidfVectorizer().fit_transform(texts)
    mine = weights(texts)
    assert mine.shape == expected.shape
    assert sorted(np.diff(mine.indptr)) == sorted(np.diff(expected.tocsc().indptr))
    assert abs(mine @ mine.T - expected @ expected.T).max() < 1e-12


def test_a_pair_that_lies_on_the_threshold_falls_on_the_side_scikit_learn_puts_it():
    texts = narratives(30, 3)
    values = sklearn_cosines(texts)
    for one, other in [(0, 4), (1, 9), (5, 14)]:
        for threshold in (values[one, other], np.nextafter(values[one, other], 0)):
            assert pairs(texts, threshold) == sklearn_pairs(texts, threshold)


def test_tiles_and_chunks_do_not_change_the_pairs(monkeypatch):
    texts = narratives(70, 4)
    whole = cosine_pairs(texts, 0.6)
    monkeypatch.setattr("audits.duplicates.neighbours._TILE", 16)
    monkeypatch.setattr("audits.duplicates.neighbours._CHECKED", 3)
    monkeypatch.setattr("audits.duplicates.tfidf._CHUNK", 1000)
    assert (
        {(i, j) for i, j, _ in whole} == pairs(texts, 0.6) == pairs(texts, 0.6, workers=2) == sklearn_pairs(texts, 0.6)
    )


@pytest.mark.parametrize(
    "texts",
    [[], [""], ["one text"], ["", ""], ["a b", "c d"], ["", "some words here", "some words here"], ["same words"] * 9],
    ids=["none", "one empty", "one", "two empty", "no words", "some empty", "all the same"],
)
def test_short_empty_and_equal_texts_are_compared(texts):
    assert pairs(texts) == (sklearn_pairs(texts) if texts else set())


def test_a_text_of_a_megabyte_is_compared():
    long = " ".join(f"word{number}" for number in range(120_000))
    unbroken = "x" * 1_000_000
    assert pairs([long, long + " more", unbroken, unbroken, "short text"]) == {(0, 1), (2, 3)}


def test_too_many_pairs_end_in_a_clear_error(monkeypatch):
    monkeypatch.setattr(neighbours, "MOST_PAIRS", 100)
    with pytest.raises(RequestError, match="more than 100 near-duplicate pairs among 50 texts"):
        cosine_pairs(["the same words again"] * 50, 0.85)


@pytest.mark.parametrize("tile", [5, 2048])
def test_cosines_are_the_upper_triangle_row_by_row(tile, monkeypatch):
    monkeypatch.setattr("audits.duplicates.neighbours._TILE", tile)
    texts = narratives(12, 5)
    assert np.allclose(cosines(texts), sklearn_cosines(texts)[np.triu_indices(12, 1)], rtol=0, atol=1e-6)
    assert cosines(["one"]).shape == cosines([]).shape == (0,)


def pairs_of(found):
    """(dropped, kept or other) of every pair that messages tell."""
    named = re.compile(r"MEM_\w+")
    return {(finding.row_id, other) for finding in found for other in named.findall(finding.message)}


def test_windows_are_weighed_by_themselves_and_not_compared_with_each_other():
    texts = narratives(40, 6)
    rows = [
        memory(n, text, stage="school_age" if n < 20 else "adolescence", character=f"CHAR_0{n % 2}")
        for n, text in enumerate(texts)
    ]
    expected = set()
    for half in (range(20), range(20, 40)):
        for parity in (0, 1):
            members = [n for n in half if n % 2 == parity]
            expected |= {(members[i], members[j]) for i, j in sklearn_pairs([texts[n] for n in members])}
    found = findings(rows)
    ids = [row["id"] for row in rows]
    assert pairs_of(found) == {(ids[j], ids[i]) for i, j in expected} != set()
    assert len(found) == len({j for _, j in expected})


def test_across_makes_one_window_of_all_rows():
    texts = narratives(20, 7)
    rows = [memory(n, text, stage=f"stage {n}", character=f"CHAR_0{n % 9}") for n, text in enumerate(texts)]
    assert findings(rows) == []
    assert len(pairs_of(findings(rows, across=True))) == len(sklearn_pairs(texts)) > 0


def test_the_earlier_is_kept_then_the_more_intense_then_the_lower_id():
    text = "we walked along the river until the light was gone"
    later = findings([memory(1, text, age=11), memory(2, text, age=10)])
    assert [f.row_id for f in later] == ["MEM_01_0001"] and "MEM_01_0002, which is kept as the earlier" in later[
        0
    ].message
    weaker = findings([memory(1, text, intensity=0.2), memory(2, text, intensity=0.7)])
    assert [f.row_id for f in weaker] == ["MEM_01_0001"] and "as the more intense" in weaker[0].message
    higher = findings([memory(2, text), memory(1, text)])
    assert [f.row_id for f in higher] == ["MEM_01_0002"] and "as the lower id" in higher[0].message


def test_a_row_is_found_once_and_kept_is_one_that_is_not_dropped_itself():
    narrative = "the river rose over the bank behind the mill and took our boat with both oars and the long rope"
    one, two, three = (
        narrative,
        narrative.replace("rope", "chain"),
        narrative.replace("rope", "chain").replace("both", "all"),
    )
    rows = [memory(2, two, age=11), memory(3, three, age=12), memory(1, one, age=10), memory(4, "of hens and dogs")]
    found = findings(rows)
    texts = [one, two, three, "of hens and dogs"]
    assert pairs_of(found) == {(rows_id(j), rows_id(i)) for i, j in sklearn_pairs(texts)}
    assert [finding.row_id for finding in found] == [rows_id(1), rows_id(2)]
    assert all(finding.message.startswith(f"nearly the same as {rows_id(0)}, ") for finding in found)


def rows_id(place):
    return f"MEM_01_{place + 1:04d}"


def test_a_text_that_stands_there_a_thousand_times_is_a_finding_a_copy():
    found = findings([memory(n, "the same few words again and again") for n in range(1000)])
    assert len(found) == 999
    assert "978 more" in found[-1].message
    assert max(len(finding.message) for finding in found) < 800


def test_a_missing_stage_is_that_of_the_age():
    text = "we walked along the river until the light was gone"
    rows = [memory(1, text, age=8), memory(2, text, age=40), memory(3, text, age=9)]
    for row in rows:
        row["stage"] = None
    found = audit("memories", rows, only=["duplicate"])
    assert [(finding.row_id, "None" in finding.message) for finding in found] == [("MEM_01_0003", False)]


def test_a_finding_spans_the_text_and_tells_the_cosine():
    texts = narratives(30, 8)
    expected = sklearn_cosines(texts)
    for finding in findings([memory(n, text) for n, text in enumerate(texts)]):
        dropped, kept = (int(i[-4:]) for i in (finding.row_id, finding.message.split(",")[0]))
        assert finding.text == texts[dropped][slice(*finding.span)] == texts[dropped]
        assert f"{expected[kept, dropped]:.4f} > 0.85" in finding.message
        assert (finding.code, finding.field, finding.severity) == ("duplicate.semantic", "content_full", "error")


@pytest.mark.parametrize("across", [False, True])
def test_the_number_of_processes_does_not_change_the_findings(across):
    rows = [memory(n, text, character=f"CHAR_0{n % 3}") for n, text in enumerate(narratives(90, 9))]
    assert findings(rows, 1, across) == findings(rows, 2, across) != []


def test_rows_of_one_id_are_told_apart_by_their_place_in_the_table():
    text = "we walked along the river until the light was gone"
    found = findings([memory(1, text), memory(1, text), memory(2, text)])
    assert [finding.message.split(", which")[0] for finding in found] == [
        "row 2: nearly the same as MEM_01_0001 (row 1)",
        "nearly the same as MEM_01_0001 (row 1)",
    ]
    assert "also as MEM_01_0001 (row 2) 1.0000" in found[1].message


def test_rows_without_text_are_not_compared():
    rows = [memory(1, "the same words"), {"id": "MEM_01_0002"}, memory(3, None), memory(4, "the same words")]
    assert [f.row_id for f in findings(rows)] == ["MEM_01_0004"]


def test_the_command_reads_a_file_of_users_and_exits_1_when_it_finds(tmp_path, capsys):
    file = tmp_path / "mine.jsonl"
    write_jsonl(file, [memory(n, text) for n, text in enumerate(narratives(25, 10))])
    assert command.main(["--benchmark", "heart", "--rows", str(file), "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["rows"] == 25
    assert document["counts"] == {"duplicate.semantic": len(document["findings"])}
    assert document["findings"][0].keys() == {
        "code", "table", "row_id", "field", "severity", "span", "text", "message", "source", "also"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--benchmark", "hart"], "Did you mean: heart"),
        (["--benchmark", "heart", "--table", "memory"], "Did you mean: memories"),
        (["--benchmark", "heart"], "no rows of heart in"),
        (["--benchmark", "heart", "--rows", "absent.jsonl"], "missing file"),
        (["--benchmark", "heart", "--rows", "FILE", "--field", "story"], "field story"),
        (["--benchmark", "heart", "--rows", "FILE", "--window", "stage,nope"], "unknown column 'nope' in --window"),
        (["--benchmark", "heart", "--rows", "EMPTY"], "no rows in"),
        (["--benchmark", "heart", "--threshold", "1.5"], "from 0 to below 1"),
        (["--benchmark", "heart", "--processes", "0"], "from 1 to 256"),
    ],
)
def test_a_wrong_request_is_one_line_and_exits_2(arguments, message, tmp_path, capsys):
    file = tmp_path / "mine.jsonl"
    write_jsonl(file, [memory(1, "some text"), memory(2, "some text")])
    (tmp_path / "none.jsonl").touch()
    words = [{"FILE": str(file), "EMPTY": str(tmp_path / "none.jsonl")}.get(word, word) for word in arguments]
    assert command.main([*words, "--workspace", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ") and error.count("\n") == 1 and message in error
