"""Dialogues once they were held, whatever the benchmark.

- ``rows``    what was said, as tables: turns, dialogues, sessions, notes, and what was asked afterwards
- ``items``   what judges are shown of them: turns, prefixes, sessions, whole dialogues
"""
