"""``python -m audits.shortcuts``: see ``audits.shortcuts.command``."""

from audits.shortcuts.command import main

if __name__ == "__main__":
    raise SystemExit(main())
