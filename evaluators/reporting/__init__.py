"""The report: one self-contained page about the runs of one release, for people who were not there.

- ``command``   the verb
- ``page``      puts the parts together; ``page.html``, ``page.css`` and ``page.js`` are what it is made of
- ``opening``   the first screen: the task, the answer, how sure, what it cannot show
- ``sections``  what was measured, tables, comparisons, the release's audits
- ``charts``    dots with intervals, lines, radar, matrix, strips
- ``scored``    judged texts: figures, ranks, judges examined; ``told`` the same as lines
- ``drill``     every question as data for the page's script
"""
