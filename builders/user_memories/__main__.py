"""``python -m builders.user_memories``: see ``builders.user_memories.step``."""

from builders.user_memories.step import main

if __name__ == "__main__":
    raise SystemExit(main())
