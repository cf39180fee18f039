"""Our speed against peers, as ratios measured in one run. For developers; not part of the wheel.

``harness`` runs cases in fresh processes and prints medians and ratios; every other module is a
command that measures one part of the house: ``python -m perf.validation``.
"""
