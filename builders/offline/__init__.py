"""The offline writer: deterministic English, composed from phrase banks, so that the product runs without a model.

What it writes is rehearsal text: for trying the pipeline, for load tests and for controlled experiments.
It is not data about people, and for narrative research one builds with a model.

- ``memories``   the Writer: composes a memory from a plan, and rewrites one field of it
- ``story``      one memory being told: which beats, in which order, cut to length
- ``scenes``     which scene a plan is told as
- ``cast``       who and what of the life ledger is in it, and how they are named
- ``moments``    when it happens, and how that is said
- ``grammar``    the template language of the banks
- ``banks``      the banks: plot frames (``banks/scenes``), voices (``banks/voices``) and shared wordings
- ``lint``       checks of the banks themselves
"""
