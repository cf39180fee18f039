"""Published datasets as workspace tables, without losing a value, and back again.

- ``archives``            reads a folder, ``.tar.*`` or ``.zip`` that nobody vouches for
- ``documents``           JSON as it was published: strict, and compared to the letter
- ``staging``             rows, findings and rejects of an import, written only when all is read
- ``heart_items``         one published HEART-BENCH item <-> one row; ``heart``: files <-> tables
- ``heart_anomalies``     what is wrong across the tables of HEART-BENCH
- ``personalens_items``, ``personalens``, ``personalens_anomalies``  the same for PersonaLens
- ``persturn_items``, ``persturn``  the same for PersTurnBench
- ``codes`` and ``codes.toml``  every finding an import can make, what it means, its source
- ``export``              the published files again, from the tables

    python -m builders.importers heart --from PATH
"""
