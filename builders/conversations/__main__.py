"""``python -m builders.conversations``: see ``builders.conversations.step``."""

from builders.conversations.step import main

if __name__ == "__main__":
    raise SystemExit(main())
