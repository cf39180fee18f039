"""``python -m builders.users``: see ``builders.users.step``."""

from builders.users.step import main

if __name__ == "__main__":
    raise SystemExit(main())
