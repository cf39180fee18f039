"""Satisfaction of raters, turn by turn: calibration, baselines, metrics, replay. PersTurnBench."""
