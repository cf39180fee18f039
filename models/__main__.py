"""``python -m models journal``: see ``models.journal.commands``."""

from __future__ import annotations

from models.journal.commands import main

if __name__ == "__main__":
    raise SystemExit(main())
