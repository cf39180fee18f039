"""``python -m builders.mcqs``: see ``builders.mcqs.step``."""

from builders.mcqs.step import main

if __name__ == "__main__":
    raise SystemExit(main())
