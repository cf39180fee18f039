"""``python -m builders.mcqs``: see ``builders.mcqs.command``."""

from builders.mcqs.command import main

if __name__ == "__main__":
    raise SystemExit(main())
