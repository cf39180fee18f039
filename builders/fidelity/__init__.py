"""What persona fidelity is measured on: personas that are assigned to a model, and what they are asked.

- ``target_personas``   fifteen personas under six instructions each
- ``probes``            questionnaire items, situations and a post
"""
