"""Satisfaction of raters, turn by turn: judges calibrated, baselines, metrics, replay. PersTurnBench.

Calibrations themselves are in ``schemas.satisfaction``: the cards of releases measure with them, too.
"""
