"""``python -m audits.shortcuts``: see ``audits.shortcuts.shortcuts``."""

from audits.shortcuts.shortcuts import main

if __name__ == "__main__":
    raise SystemExit(main())
