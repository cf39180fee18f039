"""``python -m audits``: see ``audits.command``."""

from schemas.starting import start

if __name__ == "__main__":
    raise SystemExit(start("audits.command"))
