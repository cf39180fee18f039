"""``python -m builders.scenarios``: see ``builders.scenarios.command``."""

from builders.scenarios.command import main

if __name__ == "__main__":
    raise SystemExit(main())
