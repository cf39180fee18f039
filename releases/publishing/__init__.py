"""Copying a release to a hub or an object store, and signing it."""
