"""The questionnaire as an interview: each statement put as a question, answered in the character's own words.

What is said is judged by a rubric (how far does the answer agree with the statement, 1 to 5), so that what a model
shows can be held against what it claims by choice. InCharacter (Wang et al. 2024) found the two to differ.

    python -m evaluators run --release heart@2.0.0 --protocol interview --setting recent --model NAME
    python -m evaluators judge build/evaluations/heart@2.0.0/said.interview.NAME.recent.json --judge NAME
"""

from __future__ import annotations

import argparse

from evaluators.protocols.plan import Plan
from evaluators.psychometrics import statements, subjects
from evaluators.psychometrics.questionnaire import planned
from releases import Release

NEEDS = statements.NEEDS
OFFLINE = subjects.SUBJECTS
ARGUMENTS = ("setting", "k", "embedder", "manager", "limit", "max_tokens", "wordings")

_ROOM = 512


def add_arguments(made: argparse.ArgumentParser) -> None:
    """Those of the questionnaire, which adds them."""


def plan(release: Release, parsed: argparse.Namespace, offline: str | None) -> Plan:
    """The run that the arguments ask for."""
    return planned(release, parsed, offline, "interview", _ROOM)
