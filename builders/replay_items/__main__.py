"""``python -m builders.replay_items``: see ``builders.replay_items.step``."""

from builders.replay_items.step import main

if __name__ == "__main__":
    raise SystemExit(main())
