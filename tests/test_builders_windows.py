"""One window of memories: what a reply must bring, what is asked again, and what a finished window remembers."""

from dataclasses import replace

import pytest
from builder_samples import HEART, streams

from builders.life.ledgers import ledger, valid_at
from builders.memories.delimited import Blocks, render
from builders.memories.plan import plan
from builders.memories.windows import BATCH, Window, read_part, write_window
from builders.personas import load_characters
from builders.rehearsal import _PIECE, _plan
from models.request import Reply
from schemas.benchmarks import benchmark
from validators.records import failures

CHARACTER = load_characters()[3]
LEDGER = ledger(CHARACTER, HEART)
PLANS = tuple(one for one in plan(CHARACTER, HEART, 100) if one.stage == "settling_down")[:7]
NOUNS = ("harbour", "lantern", "window", "kettle", "ladder", "copper", "meadow", "wagon", "candle", "velvet")


@pytest.fixture
def window(tmp_path):
    """A window of seven memories that a model is to write."""
    return Window(
        character=CHARACTER,
        ledger=LEDGER,
        stage="settling_down",
        plans=PLANS,
        kept=(),
        streams=HEART,
        backend="messages",
        model="some-model",
        file=tmp_path / "settling_down.json",
    )


def fields(one, **more):
    """What a reply holds of a memory: sound, and unlike any other."""
    end = "".join("abcdefghij"[int(digit)] for digit in str(one.number))
    nouns = [noun + end for noun in NOUNS]
    heard = '"Is it you?" somebody calls. I think: not now. My heart is quick and my hands are cold. '
    seen = " ".join(f"I see {nouns[step % 10]}, {nouns[step * 3 % 10]}, {nouns[step * 7 % 10]}." for step in range(70))
    return {
        "context": f"Yard of the works, day {one.number}",
        "content_summary": f"A wagon of gravel comes late ({one.number})",
        "triggers": ["wagon", "gravel", "frost", "gate"],
        "relevance_tags": ["work", "waiting", "cold", "plain day"],
        "psych_conclusion": "Waiting costs less than shouting.",
        "behavior_policy": "Wait, and count the planks.",
        "emotion_signature": {"primary": "impatience", "secondary": "calm"},
        "ledger_refs": [],
        "content_full": f"{heard}{seen} That evening I sit by the stove. The next day it smells of rain.",
        **more,
    }


def wanted(request):
    return [one for one in PLANS if f"- {one.id}:" in request.prompt]


def sound(request):
    return Reply("answered", Blocks({one.id: fields(one) for one in wanted(request)}), model="some-model-2")


def asked(window, answer=sound):
    """Drive a window; what was asked, and the part it left."""
    chain, requests, reply = write_window(window), [], None
    while True:
        try:
            request = chain.send(reply)
        except StopIteration:
            return requests, read_part(window)
        requests.append(request)
        reply = answer(request)


def writing(requests):
    return [request for request in requests if "Write these memories:" in request.prompt]


def test_memories_are_asked_for_in_order_a_few_at_a_time(window):
    requests, part = asked(window)
    batches = [[one.id for one in wanted(request)] for request in writing(requests)]
    assert [memory_id for batch in batches for memory_id in batch] == [one.id for one in PLANS]
    assert max(map(len, batches)) == BATCH
    assert [row["id"] for row in part.rows] == [one.id for one in PLANS]


def test_finished_rows_fit_the_schema_and_say_what_wrote_them(window):
    _, part = asked(window)
    assert failures(benchmark("heart").table("memories"), part.rows) == []
    origin = part.rows[0]["provenance"]
    assert (origin["backend"], origin["model"], origin["prompt"]) == ("messages", "some-model-2", "heart.memory@1")
    assert [row["emotion_signature"]["intensity"] for row in part.rows] == [one.intensity for one in PLANS]


def test_the_request_names_contexts_of_earlier_memories_to_avoid(window):
    requests, _ = asked(window)
    assert "(none yet)" in requests[0].prompt
    for one in PLANS[:BATCH]:
        assert f"- {fields(one)['context']}\n" in requests[1].prompt


def test_fixed_parts_are_the_same_in_every_request_of_a_window(window):
    requests, _ = asked(window)
    assert len({request.fixed for request in writing(requests)}) == 1
    rules, character, stage = requests[0].fixed
    assert CHARACTER["occupation"] in character and all(text in character for text in CHARACTER["core_patterns"])
    assert CHARACTER["occupation"] not in rules
    for fact in valid_at(LEDGER, 35):
        assert fact["fact_id"] in stage


def test_prompt_shows_neither_archetype_nor_id_of_the_character(window):
    requests, _ = asked(window)
    for text in (*requests[0].fixed, requests[0].prompt):
        assert CHARACTER["character_id"] not in text and CHARACTER["archetype"] not in text


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"ledger_refs": ["LED_04_999"]}, "facts not in the ledger"),
        ({"ledger_refs": [next(f["fact_id"] for f in LEDGER if f["to_age"] < 20)]}, "facts not in the ledger"),
        ({"triggers": ["one"]}, "triggers has fewer than 4 items"),
        ({"psych_conclusion": "x" * 401}, "psych_conclusion is longer than 400"),
    ],
)
def test_memory_that_cannot_be_used_is_asked_for_again_with_the_reason(window, change, reason):
    def answer(request):
        first = "They are asked for again" not in request.prompt
        good = {one.id: fields(one, **(change if first and one == PLANS[1] else {})) for one in wanted(request)}
        return Reply("answered", Blocks(good), model="some-model")

    requests, part = asked(window, answer)
    (again,) = [request for request in requests if "They are asked for again" in request.prompt]
    assert [one.id for one in wanted(again)] == [PLANS[1].id]
    assert reason in again.prompt
    assert len(part.rows) == len(PLANS) and part.failures == []


def test_context_that_was_used_is_asked_for_again(window):
    def answer(request):
        first = "They are asked for again" not in request.prompt
        same = {"context": fields(PLANS[0])["context"].upper()} if first else {}
        good = {one.id: fields(one, **(same if one == PLANS[2] else {})) for one in wanted(request)}
        return Reply("answered", Blocks(good), model="some-model")

    requests, _ = asked(window, answer)
    assert any("context was used before" in request.prompt for request in requests)


def test_whole_blocks_of_a_reply_that_was_cut_off_are_kept(window):
    def answer(request):
        text = render({"id": one.id, **fields(one)} for one in wanted(request))
        if len(wanted(request)) == BATCH:
            return Reply("truncated", text=text[: text.rindex("That evening")], reason="cut off")
        return Reply("answered", request.parse(text), text, model="some-model")

    requests, part = asked(window, answer)
    assert [row["id"] for row in part.rows] == [one.id for one in PLANS]
    assert [one.id for one in wanted(requests[1])] == [PLANS[2].id]


def test_memory_that_never_comes_is_listed_and_the_others_are_kept(window):
    def answer(request):
        return Reply("answered", Blocks({one.id: fields(one) for one in wanted(request) if one != PLANS[4]}), model="m")

    _, part = asked(window, answer)
    assert [failure.item for failure in part.failures] == [PLANS[4].id]
    assert len(part.rows) == len(PLANS) - 1


def test_ids_of_rows_do_not_stay_in_the_text(window):
    def answer(request):
        marked = {one.id: fields(one, behavior_policy="As CHAR_04 does (MEM_04_0001).") for one in wanted(request)}
        return Reply("answered", Blocks(marked), model="some-model")

    _, part = asked(window, answer)
    assert {row["behavior_policy"] for row in part.rows} == {"As Role D does."}


def test_memories_the_stage_has_already_are_neither_changed_nor_repeated(window):
    _, part = asked(window)
    own = {**part.rows[0], "provenance": None, "id": "MEM_04_0900"}
    requests, again = asked(replace(window, kept=(own,), file=window.file.with_name("again.json")))
    assert f"- {own['context']}\n" in requests[0].prompt
    assert own["id"] not in [row["id"] for row in again.rows]


def test_part_is_read_only_when_all_its_inputs_are_the_same(window):
    _, part = asked(window)
    assert read_part(replace(window)) == part
    changed = [
        {"streams": streams(8)},
        {"backend": "offline"},
        {"model": "another"},
        {"plans": PLANS[1:]},
        {"ledger": LEDGER[1:]},
        {"character": {**CHARACTER, "occupation": "Baker"}},
        {"kept": (part.rows[0],)},
        {"stage": "adolescence"},
    ]
    assert [change for change in changed if read_part(replace(window, **change)) is not None] == []


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b'{"digest": "x"}', b"\xff\xfe"])
def test_part_that_is_damaged_counts_as_not_there(window, content):
    window.file.write_bytes(content)
    assert read_part(window) is None


def test_rehearsal_reads_every_plan_back_from_the_prompt(window):
    requests, _ = asked(window)
    read = [_plan(CHARACTER, found) for request in writing(requests) for found in _PIECE.finditer(request.prompt)]
    assert read == list(PLANS)
