"""The journal: every request before it is sent, every reply before it is used, so that nothing is paid twice.

- ``store``     the open journal of a run: written in groups by one thread, read by the loop
- ``records``   requests and replies as rows
- ``files``     opening, creating and checking the file; reading it beside a run
- ``reserve``   room for replies when the disk is full
- ``accounts``  what it adds up to: requests, tokens, dollars, doubts
- ``trace``     requests with their prompts and replies, for people
- ``recovery``  what can be read of a damaged file
- ``merging``   one journal of several processes'
- ``commands``  ``python -m models journal``
"""

from models.journal.files import read_only
from models.journal.records import Answered, Asked
from models.journal.store import Journal, joined, opened

__all__ = ["Answered", "Asked", "Journal", "joined", "opened", "read_only"]
