"""Rated turns, their calibration, and what is known where raters are planted. PersTurnBench 3.4, 4.1 and 4.3.

On the ground floor because two stages measure with it: the card of a release shows its curves (``releases.cards``), and
evaluations calibrate judges (``evaluators.satisfaction``).
"""
