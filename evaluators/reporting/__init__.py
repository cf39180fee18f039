"""The report: one self-contained page about runs, for people who were not there.

- ``command``       the verb
- ``page``          puts chapters together; ``page.html``, ``page.css`` and ``page.js`` are what it is made of
- ``parts``         sections, tables, and items as data for the page's script
- ``choice``        the chapter of multiple choice
- ``scored``        the chapter of judged texts; ``judges`` who judged and how far to trust it, ``texts`` every text to
                    read, ``dialogues`` curves and every dialogue to read, ``lines`` the same figures on a terminal
- ``satisfaction``, ``task_dialogues``   the chapters of judges of satisfaction and of dialogues about tasks
- ``charts``        dots with intervals, lines, radar, matrix, strips
- ``leaderboard``   all results in ranked tables
"""
