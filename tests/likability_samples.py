"""Profiles and priors as they are built offline, for tests; a dialogue is played from them without a model."""

import functools

from builders.priors.writing import priors
from builders.profiles.draw import draw_profiles
from builders.profiles.writing import written
from models.request import Reply

BENCHMARK = "likebench"


def answered(chain, answer=lambda request: request.compose()):
    """The result of a chain whose requests are all answered, offline unless ``answer`` says otherwise."""
    try:
        request = next(chain)
        while True:
            request = chain.send(Reply("answered", answer(request)))
    except StopIteration as stopped:
        return stopped.value


@functools.cache
def profiles(count=50, seed=7, strength=None):
    drawn = draw_profiles(BENCHMARK, count, seed, strength)
    return [answered(written(BENCHMARK, each, seed, "offline")) for each in drawn]


@functools.cache
def all_priors(count=50, seed=7, sessions=10, turns=5):
    return [row for profile in profiles(count, seed) for row in priors_of(profile, seed, sessions, turns)]


def priors_of(profile, seed=7, sessions=10, turns=5):
    return answered(priors(BENCHMARK, profile, sessions, turns, seed, "offline"))
