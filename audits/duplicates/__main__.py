"""``python -m audits.duplicates``: see ``audits.duplicates.command``."""

from audits.duplicates.command import main

if __name__ == "__main__":
    raise SystemExit(main())
