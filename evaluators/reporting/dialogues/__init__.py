"""Sections on dialogues: curves over sessions, what was learned, and the dialogues themselves.

- ``curves``    scores session by session with bands, slopes, kinds of people, gain by memory
- ``learned``   memories that assistants listed, and how many of them are true
- ``reader``    every dialogue as a dialogue: messages, scores, evidence, what the user was after
- ``said``      the rows of what was said that score files belong to
"""
