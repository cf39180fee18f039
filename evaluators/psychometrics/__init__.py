"""Psychometrics of role play: a questionnaire answered as each character, and the Big Five that its answers show.

The release says which vector each character was written from, so the answers have a key (InCharacter, Wang et al. 2024,
had people's opinions of fictional characters instead).

- ``statements``      the 50 items of the IPIP with their keying, and two paraphrases of each
- ``questionnaire``   the protocol by choice: how accurately does a statement describe you, 1 to 5
- ``interview``       the protocol in the model's own words, judged by a rubric
- ``subjects``        subjects without a model whose answers follow the key with known noise, or a known fault
- ``figures``         recovered traits against the release's: error, correlation, ranks, reliability

    python -m evaluators run --release heart@2.0.0 --protocol questionnaire --setting recent --model NAME
    python -m evaluators judge build/evaluations/heart@2.0.0/said.questionnaire.NAME.recent.json --judge offline:stated
"""
