"""Scenarios: situations that force a decision, expanded from blueprints. HEART-BENCH 3.3."""
