"""Moments of memories: a time that is said loosely is one that people measure others by."""

from builders.offline.moments import PARTS, Moment


def test_only_full_and_half_hours_have_a_shortly_before_and_a_little_after():
    moments = [Moment("summer", "Monday", part, False, False, number) for part in PARTS for number in range(60)]
    loose = [each for each in moments if each.words("about") in ("shortly before", "a little after")]
    assert loose
    assert all(
        any(word in (each.words("clock") or "") for word in ("o'clock", "half past", "noon", "midnight"))
        for each in loose
    )
