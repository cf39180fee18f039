"""Conversations with known truth: a simulated user composed from a profile, and assistants of planted likability.

LikeBench 3 and 4 need a user model, a model under evaluation and a judge. These stand in for the first two
without a key, and because what an assistant does is known, the judge can be examined against an answer key.
"""
