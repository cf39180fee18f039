"""Our speed against peers, as ratios measured in one run. For developers; not part of the wheel.

- ``harness``      runs cases in fresh processes and prints a table of medians and ratios
- ``validation``   records beside the ``jsonschema`` package, table rules beside a plain loop
"""
