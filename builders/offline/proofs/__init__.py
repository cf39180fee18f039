"""What ``builders.offline.lint`` checks the phrase banks by.

- ``line_checks``  what can be wrong with a line before it is told
- ``proof``        every line told in its wordings, and read by the audits
- ``material``     how much a scene has to tell
- ``coverage``     which scenes suit which pattern of a voice, and what is left to say in them
"""
