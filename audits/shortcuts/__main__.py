"""``python -m audits.shortcuts``: see ``audits.shortcuts.command``."""

from schemas.starting import start

if __name__ == "__main__":
    raise SystemExit(start("audits.shortcuts.command"))
