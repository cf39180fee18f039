"""Task-oriented dialogues with known truth: a composed user of a profile, and assistants of planted behaviour.

- ``slots``       what of a user's preferences a task draws on, and what would be wrong
- ``script``      what an assistant does message by message, drawn by its behaviour
- ``assistants``  the words of a script
- ``users``       what a user says, by reading the assistant; and users with a planted fault
- ``truth``       what a dialogue is worth, by what was done in it

PersonaLens 3 needs a user model, a model under evaluation and judges. These stand in for the first two without a key;
because what was done is known, the judges and the audits can be examined against an answer key.
"""
