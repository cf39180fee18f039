"""``python -m audits.duplicates``: see ``audits.duplicates.command``."""

from schemas.starting import start

if __name__ == "__main__":
    raise SystemExit(start("audits.duplicates.command"))
