"""How many tokens a text is, without asking: an estimate for plans and a bound for budgets.

Anthropic's glossary gives about 3.5 English characters a token; models from Opus 4.7 on count about
30 % more for the same text. ``bytes_per_token`` in ``roles.toml`` holds the figure of each model. Real
prompts of this project have to be measured to do better; the run's own report is exact.
"""

from __future__ import annotations

import math

TURN = 4
"""What a server's template adds to each turn, about: its role and where it begins and ends."""


def estimate(text: str, bytes_per_token: float) -> int:
    """About how many tokens a text is."""
    return math.ceil(len(text.encode("utf-8", "replace")) / bytes_per_token)


def at_most(body: bytes) -> int:
    """More tokens than a request body can be: no vocabulary has tokens of less than a byte.

    What a server's template adds to each turn is less than the field names of the turn in the body.
    """
    return len(body)
