"""The chapter of multiple-choice runs on one release.

- ``chapter``    reads the release and puts the sections together
- ``runs``       what all sections share
- ``opening``    the first screen: the task, the answer, how sure, what it cannot show
- ``tables``     results beside their floors, ranks, paired differences, order of the options
- ``plots``      by model, character, stage, situation; agreement
- ``about``      what was measured, the characters, audits of the release
- ``questions``  every question as data for the page's script
"""
