"""``python -m builders.activations``: see ``builders.activations.command``."""

from builders.activations.command import main

if __name__ == "__main__":
    raise SystemExit(main())
