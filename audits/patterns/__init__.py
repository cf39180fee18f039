"""Criteria as data (``*.toml``: expressions with hits and misses) and the matcher that finds them."""
