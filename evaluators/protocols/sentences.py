"""A response as the sentences that are judged one by one.

Typography is levelled as in the released code (U+2019 to an apostrophe, U+2014 to two hyphens); sentences are found by
``schemas.text``, which needs no data to download. How often this differs from the released lists is printed by

    python -m evaluators.scoring.golden --from FOLDER
"""

from __future__ import annotations

from schemas.text.sentences import sentences

_LEVELLED = str.maketrans({"’": "'", "—": "--"})


def split(text: str) -> list[str]:
    """The sentences of a response, in order, without the white space between them."""
    levelled = text.translate(_LEVELLED)
    return [levelled[start:end] for start, end in sentences(levelled)]
