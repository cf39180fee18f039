"""Releases: frozen, verifiable, queryable, comparable.

``python -m releases VERB`` freezes a workspace into ``releases/frozen/<benchmark>/<version>/``, checks,
compares, queries and publishes it. In Python:

    from releases import load, open_release
"""

from releases.opening import Release, load, open_release

__all__ = ["Release", "load", "open_release"]
