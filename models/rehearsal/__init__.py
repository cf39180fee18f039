"""A Messages server on loopback, for rehearsing a run before it costs anything, and for the tests.

    python -m models.rehearsal --port 8765 --latency 0.2 --faults storm.toml
    ANTHROPIC_BASE_URL=http://127.0.0.1:8765 ANTHROPIC_API_KEY=rehearsal \\
        python -m builders.memories --char CHAR_04 --backend messages

It speaks the API as the real one does where a client can tell: it checks requests (``checks``), counts
tokens and caches prefixes, runs batches (``api``), and misbehaves as told (``faults``). What it writes is
invented (``answers``), or composed by a function of ours that ``--composer`` names. ``GET /_stats`` says what
it answered. It listens on 127.0.0.1 only.
"""
