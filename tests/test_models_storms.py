"""A build in a storm of faults: pieces by id, in windows, as a builder of memories asks for them."""

import functools
from dataclasses import replace

import pytest
from test_models_remedies import REQUEST as PLAIN

from models.backends import BackendSettings, run
from models.journal import read_only
from models.journal.accounts import accounts
from models.prices import read_prices
from models.rehearsal.faults import Fault, Faults
from models.remedies import Kept, ask_pieces
from models.roles import read_roles


def pieces(window, count=12, size=4):
    """A chain as a builder of memories has it: several pieces a request, by id, the last ones in the next prompt."""
    recent = []

    def make(ids, reason):
        listing = " ".join(f"==={item}===" for item in ids)
        prompt = f"Write {listing}. Recent: {' '.join(recent[-6:])}. {reason}"
        return PLAIN._replace(id=f"w/{window}/{ids[0]}", prompt=prompt, parse=parsed)

    def keep(reply, ids):
        found = parsed(reply.text, strict=False) if reply.status == "truncated" else reply.answer
        good = {item: text for item, text in found.items() if item in ids and text == whole(item)}
        recent.extend(good)
        return Kept(good, {item: f"not as asked: {found[item][-20:]}" for item in found if item not in good})

    ids = [f"MEM_{window:02}_{number:04}" for number in range(count)]
    return (yield from ask_pieces(ids, make, keep, size))


def whole(item):
    return f"\nText of {item}.\nEnd.\n"


def parsed(text, strict=True):
    parts = text.split("===")[1:]
    if strict and (len(parts) % 2 or not parts):
        raise ValueError("no ===ID=== header")
    found = {}
    for item, content in zip(parts[::2], parts[1::2], strict=False):
        if strict and item in found:
            raise ValueError(f"{item} occurs twice")
        found[item] = content
    return found


def compose(body):
    asked = body["messages"][0]["content"].split("Recent:")[0]
    return "".join(f"==={item}==={whole(item)}" for item in asked.split("===")[1::2])


STORM = [
    Fault("limited", 0.2),
    Fault("overloaded", 0.05),
    Fault("drop", 0.05),
    Fault("malformed", 0.05),
    Fault("truncated", 0.02),
    Fault("refusal", 0.02),
    Fault("short", 0.05),
    Fault("duplicate", 0.05),
    Fault("forbidden", 0.05),
]


@pytest.mark.parametrize("seed", [1, 2])
def test_in_a_storm_of_faults_every_piece_comes_or_is_listed_and_no_request_is_answered_twice(
    rehearse, tmp_path, monkeypatch, seed
):
    monkeypatch.setattr("models.pacing.FIRST_WAIT", 0.01)
    settings = BackendSettings(
        "messages", read_roles(), read_prices(), tmp_path / "journal.sqlite", concurrency=8, quiet=True
    )
    api = rehearse(faults=Faults(STORM, seed=seed), compose=compose)
    windows = [functools.partial(pieces, window) for window in range(16)]
    results = list(run(windows, settings))
    for window, (good, failures) in enumerate(results):
        named = [*good, *(failed.item for failed in failures)]
        assert sorted(named) == [f"MEM_{window:02}_{number:04}" for number in range(12)]
        assert all(text == whole(item) for item, text in good.items())
    stats = api.stats()
    assert stats["answered_twice"] == 0
    assert len(stats["faults"]) >= 6
    with read_only(settings.journal) as read:
        (account,) = accounts(read, settings.prices)
    assert account.answered == stats["answered"]
    assert account.usage.output_tokens == stats["tokens"]["claude-sonnet-4-6"]["output_tokens"]
    assert list(run(windows, settings)) == results
    assert api.stats()["answered"] == stats["answered"]
    rehearse(faults=Faults(STORM, seed=seed), compose=compose)
    alone = replace(settings, journal=tmp_path / "alone.sqlite", concurrency=1)
    assert list(run(windows, alone)) == results
