"""Where work on the parts of a table is done: processes of this machine, or the workers of a Ray cluster.

An engine maps a function over items (shards of a table, partitions of a group-by) and yields the results in the order
of the items, whatever the order in which workers finish. What is computed is the function's alone, so the results of
all engines are the same to the byte. ``docs/scale.md`` says what was compared and measured.

- ``local``    processes of this machine
- ``on_ray``   tasks of a Ray cluster; the extra ``scale``
- ``choice``   ``--engine`` of a command
- ``stores``   local folders, ``s3://`` and ``gs://``
- ``shards``   a table as many Parquet or JSON Lines files, read a part at a time
- ``groups``   group-by over shards
"""
