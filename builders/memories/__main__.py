"""``python -m builders.memories``: see ``builders.memories.command``."""

from builders.memories.command import main

if __name__ == "__main__":
    raise SystemExit(main())
