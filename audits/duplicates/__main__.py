"""``python -m audits.duplicates``: see ``audits.duplicates.near_duplicates``."""

from audits.duplicates.near_duplicates import main

if __name__ == "__main__":
    raise SystemExit(main())
