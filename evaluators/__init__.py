"""Evaluating models on a frozen release: which option, under which memory setting, with which certainty.

``python -m evaluators VERB`` reads a release by name and version, verified, and nothing of a workspace's rows.
HEART-BENCH section 4 and appendix E.

- ``bench``       what a release asks, apart from its keys
- ``embedding``, ``retrieval``, ``persona_db``, ``mem0_setting``, ``settings``   what a model gets to read
- ``prompting``, ``parsing``, ``choosing``   a question as a request, and what a reply chose
- ``baselines``, ``reader``   floors that need no model
- ``statistics``, ``figures``, ``results``   how sure a number is, and the file it stands in
- ``open_ended``, ``judging``   the second track: decisions in a model's own words, judged against the gold
- ``reporting``   the page people look at
- ``inspect_tasks``, ``lm_eval``, ``export``   the same questions in other harnesses
"""
