"""The one door to language models. Knows no builder.

A builder plans requests and consumes replies; what answers is chosen once, by ``--backend``.

- ``request``   what is asked (Request), what comes back (Reply), and a chain of both
- ``offline``   the backend without a model: every request composes its own answer
"""
