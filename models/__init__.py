"""The one door to language models. Knows no builder.

A builder plans requests and consumes replies; what answers is chosen once, by ``--backend``.

- ``request``   what is asked (Request), what comes back (Reply), and a chain of both
- ``prompts``   prompt files: front matter, fixed parts, variables
- ``remedies``  what a chain does about a reply it cannot use, a bounded number of times
- ``backends``  the arguments of a command, and ``run``: many chains, side by side, results in order
- ``estimate``  what a run would ask and cost, without asking
- ``offline``   the backend without a model: every request composes its own answer
- ``messages``  the backend with one: chains driven in an event loop, drained when something ends the run
- ``roles`` and ``prices``  which model plays which role, and what it costs (data files, user-editable)

Under ``messages``, from the chain down to the wire:

- ``asking``    one request answered: from the journal, else from the server
- ``batches``   the same through the Message Batches API, in rounds
- ``journal``   every request before it is sent, every reply before it is used (``reserve``: for full disks)
- ``budget``    the guard of ``--max-cost``; ``bookkeeping``: what a journal adds up to
- ``pacing``    requests in flight, waits and retries: the one place for them
- ``wire``      a Request as a body, a message as a Reply; ``client``: one attempt; ``server``: where, with which key
- ``progress``  what is shown meanwhile

``python -m models journal`` inspects a journal; ``python -m models.rehearsal`` is a server to rehearse with.
"""
