"""Audits of tables that no process holds whole: shard by shard, on an engine of ``schemas.engines``.

- ``audit``    every audit of a table; ``command`` prints it
- ``windows``  near-duplicates within windows that many shards have rows of
"""
