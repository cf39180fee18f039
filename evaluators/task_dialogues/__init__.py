"""Dialogues in which a simulated user brings a task to an assistant that may know the user (PersonaLens 3).

- ``protocol``   a talk a situation, as ``python -m evaluators run`` wants it
- ``speakers``   what the user agent and the assistant are told, and who plays them without a model
- ``known``      profile, situation and task in words
- ``lexical``    how varied the words are: Dist-n, Ent-4, Self-BLEU
- ``figures``    the figures of a run beside those of its judges
- ``paper``      what the paper reports, and which of it can be computed again
"""
