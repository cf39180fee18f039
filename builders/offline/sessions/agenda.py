"""The words of a prior's agenda, composed offline from its plan (LikeBench Tables 15 to 18).

python -m builders.priors --backend offline
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from builders.offline.sessions.banks import bank, in_running_text
from schemas.records import vocabulary
from schemas.tables import Row


def compose_agendas(profile: Row, planned: Sequence[Row], rng: Random) -> Row:
    """An agenda for every planned session, in the form a model is asked for."""
    seeded = {hook["hook"]: hook for prior in planned for hook in prior["hooks_seeded"]}
    openings = _in_turn(bank("agendas")["opening"], profile["type"], rng)
    return {
        "agendas": [
            {"session": prior["session"], "agenda": _agenda(profile, prior, seeded, openings, rng)} for prior in planned
        ]
    }


def _in_turn(banks: Mapping[str, Mapping[str, list[str]]], kind: str, rng: Random) -> dict[str, list[str]]:
    """The openings of each category in random order, so that none comes again before all have been used."""
    return {category: rng.sample(banks[category][kind], len(banks[category][kind])) for category in banks}


def _agenda(profile: Row, prior: Row, seeded: Mapping[str, Row], openings: dict[str, list[str]], rng: Random) -> str:
    leaf = next(in_running_text(each) for each in profile["subjects"] if each["set"] == prior["set"])
    slots = {"focus": prior["focus"], "leaf": leaf, "feeling": _feeling(prior["mood"])}
    order = openings[prior["category"]]
    order.append(order.pop(0))
    sentences = [order[-1].format(**slots)]
    called = {call["hook"]: call["seeded_in"] for call in prior["hooks_called"]}
    acts = bank("agendas")["acts"]
    turn = 0
    for step in prior["plan"]:
        hook = seeded.get(step["hook"] or "", {})
        sentence = rng.choice(acts[step["act"]]).format(
            **slots,
            turn=step["turn"],
            note=step["note"],
            mention=_your(hook.get("mention", "")),
            text=_your(hook.get("text", "")),
            **{"from": called.get(step["hook"])},
        )
        sentences.append(
            sentence.replace(f"In turn {turn},", "In the same turn,") if turn == step["turn"] else sentence
        )
        turn = step["turn"]
    sentences.append(rng.choice(bank("agendas")["closing"][profile["type"]]))
    return " ".join(sentences)


def _feeling(mood: str) -> str:
    return next(str(term["label"]) for term in vocabulary("session_moods") if term["id"] == mood).lower()


_SECOND_PERSON = {"my": "your", "me": "you", "I": "you", "mine": "yours", "am": "are"}


def _your(text: str) -> str:
    """First person turned to second: "my sister Nora" is "your sister Nora" to whom the agenda speaks."""
    return " ".join(_SECOND_PERSON.get(word, word) for word in text.split(" "))
