"""The one door to language models. Knows no builder.

A builder plans requests and consumes replies; what answers is chosen once, by ``--backend``.

- ``request``   what is asked (Request), what comes back (Reply), and a chain of both
- ``prompts``   prompt files: front matter, fixed parts, variables
- ``remedies``  what a chain does about a reply it cannot use, a bounded number of times
- ``backends``  the arguments of a command, and ``run``: many chains, side by side, results in order
- ``offline``   the backend without a model: every request composes its own answer
- ``messages``  the backend with one: the Messages API, paced, journalled, within a budget
- ``roles`` and ``prices``  which model plays which role, and what it costs (data files, user-editable)
"""
