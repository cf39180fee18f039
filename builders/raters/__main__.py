"""``python -m builders.raters``: see ``builders.raters.step``."""

from builders.raters.step import main

if __name__ == "__main__":
    raise SystemExit(main())
