"""Priors (LikeBench 4.3): the hidden agenda of every session, planned by rule and put into words."""
