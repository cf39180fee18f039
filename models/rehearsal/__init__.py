"""A server on loopback, for rehearsing a run before it costs anything, and for the tests.

    python -m models.rehearsal --port 8765 --latency 0.2 --faults storm.toml
    ANTHROPIC_BASE_URL=http://127.0.0.1:8765 ANTHROPIC_API_KEY=rehearsal \\
        python -m builders.memories --char CHAR_04 --backend messages

It speaks the Messages API and chat completions as real servers do where a client can see a difference: it checks
requests (``checks``, ``chat``), counts tokens and caches prefixes (``writing``), runs batches (``batches``), streams
(``streams``), misbehaves as it is set to (``faults``) and counts what it sent (``counts``, at ``GET /_stats``). What it
writes is invented (``answers``), reacts to a conversation (``speakers``), or is composed by functions of ours that
``--composer`` names, one for each model if need be. It listens on 127.0.0.1 only.
"""
