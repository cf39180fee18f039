"""Asking a release in SQL: bounded in time and memory, streamed, written in the form that is wanted."""
