"""What a row is: record schemas, vocabularies, benchmarks, and the files rows lie in.

The ground floor of the house: everything imports it, it imports nothing of ours.

- ``records/*.schema.json``  one JSON Schema 2020-12 a table, the only field list there is
- ``vocab/*.json``           controlled vocabularies
- ``benchmarks/*.toml``      the tables, keys, links and expected counts of a benchmark
- ``tables`` reads those three; ``arrow`` turns a record schema into an Arrow schema
- ``rows`` and ``workspace`` are how rows are read, written and kept
- ``satisfaction`` is rated turns, their calibration, and what is known of planted raters
- ``findings``, ``errors`` and ``command`` are how every command reports
"""
