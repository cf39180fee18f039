"""Remedies: bounded, keeping what is good, asking for the rest; what still fails is listed with its reply."""

from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.offline import drive
from models.remedies import Kept, ask, ask_pieces, ask_together, failure, write_failures
from models.request import Reply, Request

REQUEST = Request("r", "memory", (), "Write.", "p", "d", compose=lambda: {"a": 1})


def play(chain, replies):
    """Send the replies one after the other; returns the chain's result and the requests it made."""
    requests = [next(chain)]
    try:
        for reply in replies:
            requests.append(chain.send(reply(requests[-1]) if callable(reply) else reply))
    except StopIteration as done:
        return done.value, requests
    raise AssertionError(f"the chain still asks: {requests[-1].id}")


def test_an_answer_that_passes_is_returned_at_once():
    reply, requests = play(ask(REQUEST), [Reply("answered", {"a": 1})])
    assert (reply.answer, requests) == ({"a": 1}, [REQUEST])


def test_an_answer_that_fails_the_check_is_asked_for_again_with_the_reason():
    reply, requests = play(
        ask(REQUEST, check=lambda answer: None if answer["a"] > 1 else "a is too small"),
        [Reply("answered", {"a": 1}), Reply("answered", {"a": 2})],
    )
    assert reply.answer == {"a": 2}
    assert requests[1].id == "r#2"
    assert requests[1].prompt.startswith("Write.") and "a is too small" in requests[1].prompt


def test_a_chain_gives_up_after_the_last_try_and_says_why():
    reply, requests = play(ask(REQUEST, tries=3), [Reply("refused", reason="declined")] * 3)
    assert (reply.status, reply.reason, len(requests)) == ("refused", "declined", 3)


def test_a_reply_that_was_cut_off_is_asked_for_again_with_twice_the_room():
    _, requests = play(ask(REQUEST), [Reply("truncated", text='{"a"'), Reply("answered", {"a": 1})])
    assert requests[1].max_tokens == 2 * REQUEST.max_tokens


def test_a_reply_that_never_came_is_not_asked_for_again_by_the_chain():
    reply, requests = play(ask(REQUEST), [Reply("failed", reason="500")])
    assert (reply.status, len(requests)) == ("failed", 1)


@pytest.mark.parametrize("status", ["unparsable", "invalid"])
def test_an_answer_that_is_not_to_the_schema_is_asked_for_again_with_the_reasons_and_the_schema_in_words(status):
    request = REQUEST._replace(schema={"type": "object", "required": ["a"]})
    _, requests = play(ask(request), [Reply(status, reason="no a"), Reply("answered", {"a": 1})])
    assert (requests[0].in_words, requests[1].in_words) == (False, True)
    assert "no a" in requests[1].prompt


def test_a_third_try_for_the_same_reason_is_another_question_than_the_second():
    _, requests = play(ask(REQUEST), [*[Reply("unparsable", reason="no")] * 2, Reply("answered", {"a": 1})])
    assert [request.attempt for request in requests] == [1, 2, 3]
    assert requests[1].prompt == requests[2].prompt


def test_requests_asked_together_are_asked_again_together_until_each_is_done():
    others = [REQUEST._replace(id=name) for name in "abc"]
    replies, asked = play(
        ask_together(others),
        [
            [Reply("answered", 1), Reply("refused", reason="x"), Reply("unparsable", reason="y")],
            [Reply("answered", 2), Reply("unparsable", reason="z")],
            [Reply("answered", 3)],
        ],
    )
    assert [reply.answer for reply in replies] == [1, 2, 3]
    assert [[request.id for request in each] for each in asked] == [["a", "b", "c"], ["b#2", "c#2"], ["c#3"]]


def test_a_conversation_is_asked_again_under_its_last_turn():
    talk = REQUEST._replace(messages=(("user", "Hi."), ("assistant", "Yes?"), ("user", "Write.")), prompt="")
    _, requests = play(ask(talk), [Reply("refused", reason="no"), Reply("answered", {"a": 1})])
    assert requests[1].messages == (("user", "Hi."), ("assistant", "Yes?"))
    assert requests[1].prompt.startswith("Write.\n\n")


def make(ids, reason):
    prompt = " ".join(ids) + reason
    return REQUEST._replace(id=f"pieces/{ids[0]}", prompt=prompt, compose=lambda: {item: item.upper() for item in ids})


def keep(reply, ids):
    return Kept(reply.answer or {})


def test_pieces_come_back_by_id_in_the_order_asked():
    good, failures = drive(ask_pieces("dacb", make, keep, size=3))
    assert list(good.items()) == [("d", "D"), ("a", "A"), ("c", "C"), ("b", "B")]
    assert failures == []


def test_only_the_missing_pieces_are_asked_for_again_with_the_reason():
    (good, failures), requests = play(
        ask_pieces("abc", make, lambda reply, ids: Kept(reply.answer, {"c": "too long"} if "c" in ids else {}), size=3),
        [Reply("answered", {"a": 1}), Reply("answered", {"b": 2, "c": 3})],
    )
    assert (good, failures) == ({"a": 1, "b": 2, "c": 3}, [])
    assert requests[1].prompt == "b cb: missing from the reply; c: too long"


def test_what_a_cut_off_reply_holds_is_kept_and_the_rest_is_asked_for_in_halves():
    (good, _), requests = play(
        ask_pieces("abcde", make, lambda reply, ids: Kept({"a": 1} if reply.text else reply.answer), size=5),
        [Reply("truncated", text="===a==="), *[lambda asked: Reply("answered", asked.compose())] * 2],
    )
    assert good == {"a": 1, "b": "B", "c": "C", "d": "D", "e": "E"}
    assert [request.id for request in requests] == ["pieces/a", "pieces/b", "pieces/d"]


def test_pieces_nobody_asked_for_are_not_kept():
    good, failures = drive(ask_pieces("a", make, lambda reply, ids: Kept({"a": 1, "z": 2}), size=1))
    assert (good, failures) == ({"a": 1}, [])


@given(
    bad=st.sets(st.sampled_from("abcdefgh")),
    statuses=st.lists(st.sampled_from(["answered", "truncated", "refused", "unparsable", "invalid", "failed"])),
    size=st.integers(1, 8),
)
def test_every_piece_is_either_good_or_failed_and_asked_at_most_three_times(bad, statuses, size):
    asked: dict[str, int] = {}
    pending = list(statuses)

    def counting(ids, reason):
        for item in ids:
            asked[item] = asked.get(item, 0) + 1
        return make(ids, reason)

    chain = ask_pieces("abcdefgh", counting, keep, size)
    try:
        request = next(chain)
        while True:
            status = pending.pop(0) if pending else "answered"
            answer = {item: 1 for item in request.prompt.split(":")[0].split() if item not in bad}
            request = chain.send(Reply(status, answer if status == "answered" else None, reason="because"))
    except StopIteration as done:
        good, failures = done.value
    assert sorted([*good, *(failed.item for failed in failures)]) == list("abcdefgh")
    assert max(asked.values()) <= 3


def test_failures_are_written_in_order_with_the_reply_and_a_clean_run_removes_the_file(tmp_path: Path):
    path = tmp_path / "failed.jsonl"
    failures = [
        failure(REQUEST._replace(id=name), Reply("refused", text="no", reason="declined", model="m")) for name in "ba"
    ]
    assert write_failures(path, failures) == 2
    lines = [orjson.loads(line) for line in path.read_bytes().splitlines()]
    assert [line["item"] for line in lines] == ["a", "b"]
    assert lines[0] == {
        "item": "a",
        "request": "a",
        "role": "memory",
        "status": "refused",
        "reason": "declined",
        "model": "m",
        "text": "no",
    }
    assert write_failures(path, []) == 0
    assert not path.exists()


def test_zero_tries_are_refused():
    with pytest.raises(ValueError, match="at least 1"):
        next(ask(REQUEST, tries=0))
