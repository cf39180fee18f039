"""``python -m evaluators open``: `run` with the protocol of open answers and `judge`, in one command.

    python -m evaluators open --release heart@2.0.0 --setting naive_rag --model NAME --judge NAME --ratings people.csv

What was said stays beside the scores: ``python -m evaluators judge`` has it judged again by others.
"""

from __future__ import annotations

import argparse

from evaluators.protocols import open_ended, run_command
from evaluators.rubrics import judge_command
from evaluators.running import add_model_arguments, add_release_arguments, add_setting_arguments

HELP = "ask for decisions in the model's own words, judged against the gold"
EXAMPLE = "python -m evaluators open --release heart@2.0.0 --setting naive_rag --model NAME --judge NAME"


def add_arguments(made: argparse.ArgumentParser) -> None:
    """The arguments of ``open``."""
    add_release_arguments(made)
    add_setting_arguments(made)
    add_model_arguments(made, ", ".join(f"offline:{name}" for name in open_ended.OFFLINE))
    made.add_argument(
        "--judge", default="offline:words", metavar="NAME", help="who judges (default: offline:words, words in common)"
    )
    judge_command.add_ratings_argument(made)


def run(parsed: argparse.Namespace) -> int:
    """The verb."""
    steps = {**vars(parsed), "rubric": None, "released_parsing": False, "dry_run": False}
    said = argparse.Namespace(**{**steps, "protocol": "open", "samples": 1, "out": None, "json": False, "quiet": True})
    said.default_of = {"samples": 1}.get
    path, header = run_command.asked(said)
    asked = run_command.exit_code(header, "answers")
    scored = argparse.Namespace(**{**steps, "said": path, "judge": [parsed.judge], "limit": None, "out": parsed.out})
    return max(asked, judge_command.run(scored))
