"""The text form of memories: read back as written, strict inside, tolerant around."""

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.memories.delimited import FIELDS, parse, render, without_last

word = st.text(st.characters(categories=["L", "N"], exclude_characters="\n"), min_size=1, max_size=8)
line = st.lists(word, min_size=1, max_size=6).map(" ".join)
body = st.lists(line, min_size=1, max_size=5).map("\n\n".join)
rows = st.fixed_dictionaries(
    {
        "id": st.integers(1, 9999).map(lambda number: f"MEM_04_{number:04d}"),
        "context": line,
        "content_summary": line.map(lambda text: f"{text}: and then"),
        "triggers": st.lists(word, min_size=4, max_size=4),
        "relevance_tags": st.lists(line, min_size=4, max_size=4),
        "psych_conclusion": line,
        "behavior_policy": line,
        "emotion_signature": st.fixed_dictionaries({"primary": word, "secondary": word}),
        "ledger_refs": st.lists(st.integers(1, 200).map(lambda n: f"LED_04_{n:03d}"), max_size=4, unique=True),
        "content_full": body,
    }
)
several = st.lists(rows, min_size=1, max_size=5, unique_by=lambda row: row["id"])
TWO = """===MEM_04_0001===
context: Kitchen, a wet Tuesday
content_summary: The soup boils over
triggers: lid; steam; gas; bell
relevance_tags: home; cooking; hurry; plain day
psych_conclusion: A pot wants watching.
behavior_policy: Turn the gas down first.
emotion_primary: alarm
emotion_secondary: amusement
facts: LED_04_012, LED_04_044
--content_full--
The lid rattles.

"Is something burning?" somebody calls.
===MEM_04_0002===
context: Bus stop, first frost
content_summary: The bus does not come
triggers: frost; bench; breath; lamp
relevance_tags: travel; waiting; cold; friend
psych_conclusion: Waiting is company too.
behavior_policy: Bring gloves for two.
emotion_primary: boredom
emotion_secondary: warmth
facts:
--content_full--
My breath stands in front of me.
===END===
"""
IDS = ("MEM_04_0001", "MEM_04_0002")


@settings(max_examples=40)
@given(several)
def test_what_is_rendered_is_read_back(memories):
    found = parse(render(memories), [row["id"] for row in memories])
    assert found.bad == {}
    assert found.good == {row["id"]: {name: row[name] for name in FIELDS} for row in memories}


@settings(max_examples=40)
@given(several, line, line)
def test_words_around_the_blocks_change_nothing(memories, before, after):
    ids = [row["id"] for row in memories]
    text = f"{before}\n\n```\n{render(memories)}```\n{after}\n"
    assert parse(text, ids) == parse(render(memories), ids)


@settings(max_examples=40)
@given(several)
def test_memories_in_json_are_read_too(memories):
    ids = [row["id"] for row in memories]
    for text in (orjson.dumps(memories).decode(), orjson.dumps({"memories": memories}).decode()):
        assert parse(f"Here they are:\n{text}\nDone.", ids).good == parse(render(memories), ids).good


@settings(max_examples=40)
@given(several, st.sampled_from(["context", "triggers", "emotion_signature", "content_full"]))
def test_a_single_field_is_rendered_and_read_alone(memories, name):
    fields = (name, "ledger_refs") if name == "content_full" else (name,)
    found = parse(render(memories, fields), [row["id"] for row in memories], fields)
    assert found.good == {row["id"]: {part: row[part] for part in fields} for row in memories}


def test_example_reads_as_it_looks():
    found = parse(TWO, IDS)
    assert found.bad == {}
    assert found.good["MEM_04_0001"]["triggers"] == ["lid", "steam", "gas", "bell"]
    assert found.good["MEM_04_0001"]["content_full"].endswith("somebody calls.")
    assert found.good["MEM_04_0002"]["ledger_refs"] == []


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ("===MEM_04_0002===", "===MEM_04_0001===", "is given 2 times"),
        ("context: Kitchen, a wet Tuesday\n", "", "lacks context"),
        ("context: Kitchen, a wet Tuesday\n", "context:\n", "lacks context"),
        ("emotion_secondary: amusement\n", "", "lacks emotion_secondary"),
        ("triggers: lid", "tiggers: lid", "a line that is not a field: 'tiggers"),
        ("triggers: lid", "context: lid", "has context twice"),
        ("--content_full--\nThe", "The", "no --content_full-- line"),
        ("The lid rattles.", "--content_full--\nThe lid rattles.", "--content_full-- twice"),
    ],
)
def test_broken_block_is_bad_with_the_reason_and_the_other_is_good(before, after, reason):
    assert before in TWO
    found = parse(TWO.replace(before, after, 1), IDS)
    assert reason in found.bad["MEM_04_0001"]
    assert set(found.good) == set(IDS) - set(found.bad)


def test_missing_and_unasked_blocks_are_reported_by_id():
    found = parse(TWO, ["MEM_04_0002", "MEM_04_0003"])
    assert found.bad == {"MEM_04_0001": "was not asked for", "MEM_04_0003": "is missing"}
    assert list(found.good) == ["MEM_04_0002"]


def test_fields_that_the_plan_knows_may_be_repeated():
    text = TWO.replace("context: Bus", "timeline: Adolescence (15)\nintensity: 0.4\ncontext: Bus")
    assert parse(text, IDS).bad == {}


def test_markup_around_headers_is_forgiven():
    text = TWO.replace("===MEM_04_0001===", "**===MEM_04_0001===**").replace("context: Kit", "- **context:** Kit")
    assert parse(text, IDS) == parse(TWO, IDS)


@pytest.mark.parametrize("text", ["", "I cannot write this.", "{", '{"id": ', "[1, 2]"])
def test_answer_without_a_block_raises(text):
    with pytest.raises(ValueError, match="no ===MEM"):
        parse(text, IDS)


def test_block_that_was_cut_off_is_left_out():
    cut = TWO[: TWO.index("stands in front")]
    assert list(parse(without_last(cut), IDS).good) == ["MEM_04_0001"]
    assert without_last("nothing yet") == ""
