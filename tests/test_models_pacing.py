"""Pacing on a virtual clock: what lowers the number in flight, what ends a run, what a minute allows."""

import asyncio
import itertools

import pytest
from virtual_clock import VirtualClock, VirtualLoop

from models.pacing import ATTEMPTS, Allowance, Pace, ServerFailedError, StoppedError
from models.wire.problems import UnansweredError


def on_a_virtual_clock(work):
    loop = VirtualLoop(VirtualClock())
    try:
        return loop.run_until_complete(work(loop))
    finally:
        loop.close()


async def nothing(error):
    pass


def sender(loop, outcomes, seconds=1.0):
    """A server that answers, or does not, in this order; when each attempt began is noted."""
    began = []

    async def send():
        began.append(loop.time())
        await asyncio.sleep(seconds)
        outcome = outcomes.pop(0) if outcomes else "answer"
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    return send, began


@pytest.mark.parametrize("kind", ["limited", "overloaded", "broken"])
def test_limits_overloads_server_errors_and_timeouts_lower_the_number_in_flight(kind):
    async def work(loop):
        pace = Pace(16)
        send, _ = sender(loop, [UnansweredError(kind, "x", doubt=kind == "broken")])
        await pace.attempt(send, nothing)
        return pace.limit

    assert 11 < on_a_virtual_clock(work) < 12


def test_a_refused_request_does_not():
    async def work(loop):
        pace = Pace(16)
        send, _ = sender(loop, [UnansweredError("rejected", "400")])
        with pytest.raises(UnansweredError):
            await pace.attempt(send, nothing)
        return pace.limit

    assert on_a_virtual_clock(work) == 16


def test_many_failures_at_once_cut_the_number_once_a_round_trip():
    async def work(loop):
        pace = Pace(64)
        send, _ = sender(loop, [UnansweredError("limited", "429")] * 64)
        await asyncio.gather(*(pace.attempt(send, nothing) for _ in range(64)))
        return pace.retries

    assert on_a_virtual_clock(work) == 64


def test_a_server_that_answers_nothing_ends_the_run_after_the_last_attempt():
    async def work(loop):
        send, began = sender(loop, [UnansweredError("broken", "500")] * ATTEMPTS)
        with pytest.raises(ServerFailedError, match="500"):
            await Pace(1).attempt(send, nothing)
        return began

    assert len(on_a_virtual_clock(work)) == ATTEMPTS


def test_a_request_that_fails_while_others_are_answered_fails_alone():
    async def work(loop):
        pace = Pace(4)
        bad, _ = sender(loop, [UnansweredError("broken", "500")] * ATTEMPTS)
        good, _ = sender(loop, [])
        failing = asyncio.ensure_future(pace.attempt(bad, nothing))
        while not failing.done():
            await pace.attempt(good, nothing)
        with pytest.raises(UnansweredError):
            await failing

    on_a_virtual_clock(work)


def test_a_wrong_address_shows_after_three_attempts_while_nothing_was_ever_answered():
    async def work(loop):
        send, began = sender(loop, [UnansweredError("unreachable", "x")] * 9)
        with pytest.raises(ServerFailedError):
            await Pace(1).attempt(send, nothing)
        return began

    assert len(on_a_virtual_clock(work)) == 3


def test_the_wait_is_what_the_server_asks_for_but_no_more_than_two_minutes():
    async def work(loop):
        send, began = sender(loop, [UnansweredError("limited", "429", 7.0), UnansweredError("limited", "429", 4e6)])
        await Pace(1).attempt(send, nothing)
        return [later - earlier for earlier, later in itertools.pairwise(began)]

    assert on_a_virtual_clock(work) == pytest.approx([8.0, 121.0], abs=0.01)


def test_a_run_that_is_stopped_repeats_nothing():
    async def work(loop):
        pace = Pace(1)

        async def send():
            pace.stop()
            raise UnansweredError("broken", "500")

        with pytest.raises(StoppedError):
            await pace.attempt(send, nothing)
        with pytest.raises(StoppedError):
            await pace.attempt(send, nothing)

    on_a_virtual_clock(work)


@pytest.mark.parametrize(
    ("requests", "per_minute", "waits"),
    [(60, None, [0, 1, 2, 3]), (None, 6000, [0, 2, 4, 6]), (60, 6000, [0, 2, 4, 6]), (None, None, [0, 0, 0, 0])],
)
def test_requests_and_tokens_a_minute_are_spread_evenly(requests, per_minute, waits):
    allowance = Allowance(requests, per_minute)
    assert [allowance.wait(100.0, 200) for _ in range(4)] == pytest.approx(waits)


def test_tokens_that_were_not_counted_beforehand_are_waited_for_afterwards():
    allowance = Allowance(None, 6000)
    allowance.wait(0.0, 200)
    allowance.used_more(100)
    assert allowance.wait(0.0, 200) == pytest.approx(3.0)
