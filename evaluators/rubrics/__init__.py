"""How answers are judged: rubrics as TOML files, one folder a benchmark, and what is made of them.

- ``loading``    a file as a Rubric, checked when read
- ``judging``    a Rubric and an item as a request: prompt and output schema; pairs in both orders
- ``verdicts``   what a judge's reply says, strictly: a value of the scale, not applicable, or nothing
"""
