"""Our speed against peers, as ratios measured in one run. For developers; not part of the wheel.

``harness`` runs cases in fresh processes and prints medians and ratios; every other module is a
command that measures one part of the project: ``python -m perf.validation``. Rooms hold what belongs together:
``models`` (asking), ``evaluators`` (evaluations, judges, scores), ``quality`` (how right audits and texts are).
"""
