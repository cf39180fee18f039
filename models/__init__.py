"""The one door to language models. Knows no builder.

A builder plans requests and consumes replies; what answers is chosen once, by ``--backend``, and by role.

- ``request``   what is asked (Request), what comes back (Reply), and a chain of both
- ``dialogue``  whole conversations of two or three speakers, as a chain
- ``prompts``   prompt files: front matter, fixed parts, variables
- ``remedies``  what a chain does about a reply it cannot use, a bounded number of times
- ``backends``  the arguments of a command, and ``run``: many chains, side by side, results in order
- ``estimate``  what a run would ask and cost, without asking
- ``offline``   the backend without a model: every request composes its own answer
- ``roles``, ``servers`` and ``prices``  which model plays which role, where it is asked, what it costs (data files)

Under ``--backend messages``, from the chain down to the wire:

- ``running``   chains driven, their results in order, drained when something ends the run
- ``driving``   an event loop for all chains of a process, and the processes that share them
- ``asking``    one request answered: from the journal, else from its model's server
- ``batches``   the same through the Message Batches API, in rounds
- ``journal``   every request before it is sent, every reply before it is used
- ``budget``    the guard of ``--max-cost``
- ``pacing``    requests in flight at a server, waits and retries: the one place for them
- ``probing``   whether a server heeds a schema
- ``wire``      a Request as a body, a reply as an answer, one attempt over HTTP, for each API
- ``progress``  what is shown meanwhile

``python -m models journal`` inspects a journal; ``python -m models.rehearsal`` is a server to rehearse with.
"""
