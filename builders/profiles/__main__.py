"""``python -m builders.profiles``: see ``builders.profiles.step``."""

from builders.profiles.step import main

if __name__ == "__main__":
    raise SystemExit(main())
