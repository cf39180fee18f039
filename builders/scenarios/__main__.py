"""``python -m builders.scenarios``: see ``builders.scenarios.step``."""

from builders.scenarios.step import main

if __name__ == "__main__":
    raise SystemExit(main())
