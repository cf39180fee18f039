"""Activations: which memories a situation calls up. HEART-BENCH 3.4."""
