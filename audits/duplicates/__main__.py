"""``python -m audits.duplicates``: see ``audits.duplicates.command``."""

from __future__ import annotations

from collections.abc import Sequence

from schemas.starting import start


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    return start("audits.duplicates.command", argv)


if __name__ == "__main__":
    raise SystemExit(main())
