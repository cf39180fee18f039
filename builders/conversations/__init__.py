"""Conversations of planted raters with an assistant: plan, words, scores, split and replay items."""
