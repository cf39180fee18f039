"""The offline writer: deterministic English, composed from phrase banks, so that the product runs without a model.

What it writes is rehearsal text: for trying the pipeline and for load tests.
It is not data about people, and for narrative research one builds with a model.

- ``memories``   the Writer: composes a memory from a plan, and rewrites one field of it
- ``chronicle``  the memories of one character in order, each knowing what was told before
- ``uses``       what has been told so far, counted
- ``draft``      one memory in words: cut to length, and changed until nothing in it is overused
- ``story``      its outline: which beats, in which order, by which lines
- ``beats``      the lines a beat can be told with, and what fills their slots
- ``scenes``     which scene a plan is told as
- ``cast``       who and what of the life ledger is in it, and how they are named
- ``moments``    when it happens, and how that is said
- ``grammar``    the template language of the banks
- ``banks``      the banks of shared wordings; ``scene_files`` the scenes; ``voices`` the voices, and which scenes suit
- ``slots``      the types of slots, and what may stand where
- ``choices``    what comes to mind in a scenario, and what is decided
- ``lint``       checks of the banks themselves; ``proofs`` is what it checks them by
"""
