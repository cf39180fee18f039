"""``python -m builders.activations``: see ``builders.activations.step``."""

from builders.activations.step import main

if __name__ == "__main__":
    raise SystemExit(main())
