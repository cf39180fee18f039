"""Phrases by which a person's answers are known: in many of its right options, and far less often in wrong ones.

A reader who learns nothing else learns these (``audits.shortcuts.transduction``). HEART-BENCH 3.4; the command is
``python -m audits.shortcuts``.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from audits.shortcuts.leaks import finding
from audits.shortcuts.questions import Question
from audits.text.word_runs import word_runs
from schemas.findings import Finding

WORDS = 4  # of a phrase
SHARE = 0.15  # of a person's questions, above which a phrase is its own
LEAST = 4  # questions, so that few questions make no phrase
TIMES = 3.0  # as often, by option, in right options as in wrong ones


def own_phrases(asked: Sequence[Question]) -> Iterator[Finding]:
    """One finding for each person that has phrases of its own, with the commonest of them."""
    people: dict[str, list[Question]] = defaultdict(list)
    for question in asked:
        people[question.character].append(question)
    for person, questions in sorted(people.items()):
        right = Counter(run for each in questions for run in word_runs(each.texts[each.answer], WORDS))
        wrong = Counter(run for each in questions for text in _wrong(each) for run in word_runs(text, WORDS))
        options = sum(len(each.texts) - 1 for each in questions)
        cap = max(LEAST, math.ceil(SHARE * len(questions)))
        over = [
            run for run, count in right.items() if count > cap and count * options > TIMES * len(questions) * wrong[run]
        ]
        if over:
            worst = min(over, key=lambda run: (-right[run], run))
            yield finding(
                "shortcut.phrase",
                person,
                f"{len(over)} phrases of {WORDS} words occur in more than {cap} right options of "
                f"{len(questions)}, first of all “{' '.join(worst)}”: in {right[worst]} right "
                f"and {wrong[worst]} of {options} wrong options",
            )


def _wrong(question: Question) -> Iterator[str]:
    return (text for place, text in enumerate(question.texts) if place != question.answer)
