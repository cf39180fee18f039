"""Planted raters: who they are, and the scale by which each of them gives scores (known truth for calibration)."""
