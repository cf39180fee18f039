"""Profiles of simulated users (LikeBench 4.2): drawn facets and styles, interests, and the tiers written from them."""
