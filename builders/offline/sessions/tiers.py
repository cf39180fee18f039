"""The tiers of a profile, composed offline from what was drawn (LikeBench 4.2.3).

Everything goes by the draw: work by income and age, behaviour by facet, events by age, people by age. The answer
has the form a model is asked for.

    python -m builders.profiles --backend offline
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from builders.offline.sessions.banks import article, bank, entities_of, in_running_text, listed, lower_first
from schemas.records import term_ids, vocabulary
from schemas.tables import Row

_STUDIES_UNTIL = 19
_YOUNG_UNTIL = 25
_RETIRED_FROM = 66
_GOALS = {"young": (17, 29), "middle": (30, 49), "older": (50, 69)}
_DETAILS = 4
_LABELLED = ("cultures", "economic_strata", "profile_archetypes")


def compose_tiers(drawn: Row, values: Mapping[str, int], names: Mapping[str, list[str]], rng: Random) -> Row:
    """Entities, background, knowledge, behaviours, goals, life events, relations, details and summary.

    ``drawn`` has its ``subjects``; ``values`` are its facets as numbers, ``names`` first names by gender.
    """
    entities = [
        {"set": each["set"], "items": rng.sample(entities_of(each["interest"]), drawn["entity_count"])}
        for each in drawn["subjects"]
    ]
    background = _background(drawn, rng)
    goals = _goals(drawn, entities, rng)
    return {
        "entities": entities,
        "background": background,
        "knowledge": [_knowledge(each, rng) for each in drawn["subjects"]],
        "behaviors": {name: _behavior(each, values, rng) for name, each in bank("life")["behaviors"].items()},
        "goals": goals,
        "life_events": _events(drawn["age"], rng),
        "relations": _relations(drawn, names, rng),
        "details": rng.sample(bank("people")["details"], _DETAILS),
        "persona_summary": _summary(drawn, values, background, goals, rng),
    }


def _background(drawn: Row, rng: Random) -> Row:
    life, age, income = bank("life"), drawn["age"], drawn["economics"]
    stratum = income
    if age <= _STUDIES_UNTIL:
        stratum = "late_teens"
    elif age <= _YOUNG_UNTIL and income in ("upper_middle", "high"):
        stratum = "young"
    occupation = rng.choice(life["occupations"][stratum])
    return {
        "occupation": f"retired {occupation}" if age >= _RETIRED_FROM else occupation,
        "education": rng.choice(life["education"][stratum]),
        "home": rng.choice(life["home"][drawn["geography"]]),
    }


def _knowledge(subject: Row, rng: Random) -> Row:
    level = rng.choice(term_ids("knowledge_levels"))
    text = rng.choice(bank("life")["knowledge"][level]).format(leaf=in_running_text(subject))
    return {"set": subject["set"], "level": level, "text": text}


def _behavior(kind: Mapping[str, Any], values: Mapping[str, int], rng: Random) -> str:
    value = values[kind["facet"]]
    chosen: str = rng.choice(kind["high" if value > 3 else "low" if value < 3 else "mid"])
    return chosen


def _goals(drawn: Row, entities: Sequence[Row], rng: Random) -> list[Row]:
    banks = bank("life")["goals"]
    ages = next(name for name, (low, high) in _GOALS.items() if low <= drawn["age"] <= high)
    long, short = rng.sample(banks[ages], 2)
    subject = rng.choice(drawn["subjects"])
    entity = next(each["items"][0] for each in entities if each["set"] == subject["set"])
    learn = rng.choice(banks["interest"]).format(leaf=in_running_text(subject), entity=entity)
    return [
        {"horizon": "long", "text": long},
        {"horizon": "short", "text": short},
        {"horizon": "short", "text": learn},
    ]


def _events(age: int, rng: Random) -> list[Row]:
    possible = [each for each in bank("life")["events"] if each["from"] <= age]
    chosen = rng.sample(possible, min(len(possible), rng.randint(2, 4)))
    events = [
        {"age": rng.randint(each["from"], min(each["to"], age)), "text": rng.choice(each["text"])} for each in chosen
    ]
    return sorted(events, key=lambda event: event["age"])


def _relations(drawn: Row, names: Mapping[str, list[str]], rng: Random) -> list[Row]:
    suited = [each for each in bank("people")["relations"] if each["ages"][0] <= drawn["age"] <= each["ages"][1]]
    rng.shuffle(suited)
    relations: list[Row] = []
    taken, partnered, wanted = {drawn["name"]}, False, rng.randint(2, 4)
    for each in suited:
        if len(relations) == wanted or (each.get("partner") and partnered):
            continue
        partnered = partnered or bool(each.get("partner"))
        pool = each.get("names") or names[each["gender"]]
        name = rng.choice([other for other in pool if other not in taken])
        taken.add(name)
        relations.append(
            {"relation": each["relation"], "kind": each["kind"], "name": name, "text": rng.choice(each["text"])}
        )
    return relations


def _summary(drawn: Row, values: Mapping[str, int], background: Row, goals: Sequence[Row], rng: Random) -> str:
    # What is most marked is said: the facets farthest from the middle.
    marked = sorted(drawn["facets"], key=lambda each: (-abs(values[each["facet"]] - 3), rng.random()))
    labels = {name: {term["id"]: term for term in vocabulary(name)} for name in _LABELLED}
    occupation = background["occupation"]
    income = labels["economic_strata"][drawn["economics"]]["label"]
    slots = {
        "name": drawn["name"],
        "age": drawn["age"],
        "article": article(occupation),
        "occupation": occupation,
        "culture": labels["cultures"][drawn["culture"]]["label"],
        "economics": f"{article(income)} {income}",
        "home": background["home"],
        "interests": listed([in_running_text(each) for each in drawn["subjects"]]),
        "kind": lower_first(labels["profile_archetypes"][drawn["archetype"]]["text"].rstrip(".")),
        "trait": lower_first(marked[0]["descriptor"].rstrip(".")),
        "other": lower_first(marked[1]["descriptor"].rstrip(".")),
        "goal": goals[0]["text"],
    }
    return " ".join(rng.choice(sentence).format(**slots) for sentence in bank("summary")["sentences"])
