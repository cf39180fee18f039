"""``python -m builders.memories``: see ``builders.memories.step``."""

from builders.memories.step import main

if __name__ == "__main__":
    raise SystemExit(main())
