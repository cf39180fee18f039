"""What assistants of planted likability say they learned, and which of it is true of the person.

Explicit memories are details that the user told; implicit ones are preferences that show in how the user writes.
``ceiling``, ``verbose`` and ``wrong_register`` list all that the conversation shows, ``forgetful`` what the last
session does, ``static`` what it was told and nothing inferred, ``sycophant`` a compliment that is true of nobody.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evaluators.subjects.reading import known, your
from evaluators.subjects.users import Said
from evaluators.subjects.wishes import wishes
from evaluators.subjects.wording import without_emoji

Memory = Mapping[str, str]

_COMPLIMENT = "The user is the most interesting person one could talk to."
_IMPLICIT = {"register": "The user likes a {} tone.", "length": "The user likes {} answers."}


def listed(assistant: str, history: Sequence[Said]) -> list[dict[str, str]]:
    """The memories that an assistant lists after a conversation."""
    if not history:
        return []
    seen = history if assistant != "forgetful" else [one for one in history if one.session == history[-1].session]
    knows = known([one for one in seen if one.speaker == "user"] or history)
    told = [{"memory": _explicit(one.mention, one.text), "type": "explicit"} for one in knows.details]
    if assistant == "sycophant":
        return [{"memory": _COMPLIMENT, "type": "implicit"}]
    if assistant == "static":
        return told
    shown = {"register": knows.register, "length": known(seen).length}
    inferred = [{"memory": _IMPLICIT[name].format(value), "type": "implicit"} for name, value in shown.items() if value]
    return [*told, *inferred]


def is_true(memory: str, profile: Mapping[str, Any], priors: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a memory of these forms is true of a person: one of their details, or what suits them in any session.

    Typed in lower case or with an emoji behind it, a detail is the same one.
    """
    return _plain(memory) in {_plain(one) for one in _true(profile, priors)}


def _plain(memory: str) -> str:
    return without_emoji(memory).rstrip(". ").casefold()


def _true(profile: Mapping[str, Any], priors: Sequence[Mapping[str, Any]]) -> frozenset[str]:
    details = {
        _explicit(your(hook["mention"]), your(hook["text"])) for prior in priors for hook in prior["hooks_seeded"]
    }
    found = [wishes(profile, prior) for prior in priors]
    tones = {_IMPLICIT["register"].format(one.register) for one in found}
    lengths = {_IMPLICIT["length"].format(one.length) for one in found}
    return frozenset(details | tones | lengths)


def _explicit(mention: str, text: str) -> str:
    return f"The user said: {mention} {text}."
