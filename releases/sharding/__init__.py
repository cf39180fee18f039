"""Tables too large for one process: cut into pieces, each written by whatever worker has time, with the same bytes.

- ``pieces``  rows of working files as Arrow batches and canonical rows, a piece at a time; what is finished stays
- ``files``   the Parquet files of a table from the batches of its pieces
- ``tables``  a whole table: what ``releases.parquet.write_table`` writes, on an engine
"""
