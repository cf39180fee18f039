"""Dialogues over sessions with a simulated user who has a profile and a hidden agenda (LikeBench).

- ``protocol``     what ``python -m evaluators run`` asks: a talk a profile, and what its rows say
- ``portrait``     a profile and a prior in words, for the user's prompt and for judges
- ``speakers``     what the user and the assistant see; the offline ones
- ``preferences``  DUP: what stands in the summary that an assistant keeps (``--memory dup``); ``summaries`` renews it
- ``learned``      what the assistant says it learned, and whether it is true of the user
"""
