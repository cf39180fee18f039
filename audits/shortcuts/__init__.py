"""Whether multiple-choice questions can be answered without what they ask about.

``audit_questions(benchmark, tables)`` measures the questions of a benchmark, ``measure`` rows of questions and
keys; ``python -m audits.shortcuts`` is the command.
"""
