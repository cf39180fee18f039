"""Starting a command whose imports take a while: stopped while they run, it ends as it does later on.

A package's ``__main__`` calls ``start`` and imports nothing else.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

INTERRUPTED = 130


def start(module: str, argv: Sequence[str] | None = None) -> int:
    """Import a module and run its ``main``; returns its exit code."""
    try:
        code: int = import_module(module).main(argv)
    except KeyboardInterrupt:
        sys.stderr.write("error: interrupted. Run the same command again\n")
        return INTERRUPTED
    return code
