"""The same person with one thing changed, for measuring by pairs what an assistant does because of the user.

Agenda, facts and everything else stay. A pair differs in one option of style or in the level of one facet.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from schemas.errors import unknown
from schemas.records import vocabulary


def flipped(profile: Mapping[str, Any], change: str | None) -> dict[str, Any]:
    """The profile with an option of style (``formality.always_casual``) or a facet at a level (``cheerfulness=low``).

    Unchanged without a change. Raises RequestError for an unknown option, facet or level.
    """
    if change is None:
        return dict(profile)
    facet, equals, level = change.partition("=")
    return with_level(profile, facet, level) if equals else with_option(profile, change)


def with_option(profile: Mapping[str, Any], option: str) -> dict[str, Any]:
    """The profile with an option of style, named ``dimension.option``. Raises RequestError for an unknown one."""
    options = {term["id"]: term for term in vocabulary("style_options")}
    if option not in options:
        raise unknown("option of style", option, options)
    chosen = options[option]
    changed = {"dimension": chosen["dimension"], "option": option, "descriptor": chosen["text"]}
    styles = [changed if each["dimension"] == chosen["dimension"] else each for each in profile["styles"]]
    return {**profile, "styles": styles}


def with_level(profile: Mapping[str, Any], facet: str, level: str) -> dict[str, Any]:
    """The profile with a facet at a level. Raises RequestError for an unknown facet or level."""
    facets = {term["id"]: term for term in vocabulary("personality_facets")}
    if facet not in facets:
        raise unknown("facet", facet, facets)
    if level not in facets[facet]["levels"]:
        raise unknown("level", level, facets[facet]["levels"])
    changed = {"facet": facet, "level": level, "descriptor": facets[facet]["levels"][level]}
    return {**profile, "facets": [changed if each["facet"] == facet else each for each in profile["facets"]]}
