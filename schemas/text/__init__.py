"""Texts as they are read everywhere: quotations and sentences as spans. Knows no table and no language model."""
