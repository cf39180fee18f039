"""Releases made of a release: without its keys, and parted into one that is published and one that never is."""
