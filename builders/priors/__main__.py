"""``python -m builders.priors``: see ``builders.priors.step``."""

from builders.priors.step import main

if __name__ == "__main__":
    raise SystemExit(main())
