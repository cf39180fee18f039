"""What a round of review shows: how far it is, how far people agree, how much they changed, what they dropped.

Judgements that count are the last of every person on every text. Agreement is over the annotators; the
arbitrator is no fourth opinion.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from schemas.tables import Row
from validators.agreement import (
    Level,
    Rating,
    cohen_kappa,
    edit_rate,
    fleiss_kappa,
    kendall_tau,
    krippendorff_alpha,
    pairwise,
    tau_of_pairs,
    unanimous_share,
)
from validators.review.consensus import STATES, TIERS, Outcome, outcome
from validators.review.rounds import Round, latest

Read = Callable[[Row], Rating | None]

SCALES: Mapping[str, tuple[str, tuple[Rating, ...], Level]] = {
    "suitable": ("suitable", (0, 1), "nominal"),
    "verdict": ("verdict", TIERS, "ordinal"),
    "trace": ("trace_verdict", TIERS, "ordinal"),
    "preference": ("preference", ("second", "first"), "nominal"),
    "rating": ("rating", (1, 2, 3, 4, 5), "ordinal"),
}
_OF_KIND = {"decisions": ("suitable", "verdict", "trace"), "pairs": ("preference",), "ratings": ("rating",)}


def figures(agreed: Round, judged: Sequence[Row], waiting: int) -> dict[str, Any]:
    """The document of ``status`` for one kind; ``waiting`` items nobody has judged yet."""
    texts = latest(judged)
    counted = [row for people in texts.values() for row in people.values()]
    document: dict[str, Any] = {
        "kind": agreed.kind,
        "annotators": list(agreed.annotators),
        "arbitrator": agreed.arbitrator,
        "items_without_a_judgement": waiting,
        "texts_judged": len(texts),
        "judgements": dict(sorted(Counter(row["annotator"] for row in counted).items())),
        "revised": len(judged) - len(counted),
        "agreement": {scale: _agreement(agreed, list(texts.values()), scale) for scale in _OF_KIND[agreed.kind]},
    }
    if agreed.kind == "decisions":
        return {**document, **_outcomes(agreed, list(texts.values()))}
    return {**document, "kendall_tau": _tau(agreed, list(texts.values()))}


def _outcomes(agreed: Round, texts: Sequence[Mapping[str, Row]]) -> dict[str, Any]:
    found = [(people, outcome(people.values(), len(agreed.annotators))) for people in texts]
    states = Counter(each.state for _, each in found)
    gold = [(_text(people), each) for people, each in found if each.text is not None]
    changed = [(text, str(each.text)) for text, each in gold if each.text != text]
    survived = states["unanimous"] + states["arbitrated"]
    return {
        "outcomes": {state: states[state] for state in STATES},
        "unanimous_share_of_survivors": states["unanimous"] / survived if survived else None,
        "edit_rate": {
            "survivors": edit_rate([(text, str(each.text)) for text, each in gold]),
            "edited": edit_rate(changed),
            "texts_edited": len(changed),
        },
        "drops": _drops([each for _, each in found]),
    }


def _drops(outcomes: Sequence[Outcome]) -> dict[str, int]:
    return dict(sorted(Counter(str(each.reason) for each in outcomes if each.state == "dropped").items()))


def _text(people: Mapping[str, Row]) -> str:
    return str(next(iter(people.values()))["text"])


def _agreement(agreed: Round, texts: Sequence[Mapping[str, Row]], scale: str) -> dict[str, Any]:
    name, order, level = SCALES[scale]

    def read(people: Mapping[str, Row], person: str) -> Rating | None:
        return rating(people[person][name]) if person in people else None

    table = [[read(people, person) for person in agreed.annotators] for people in texts]
    over = sorted(
        str(next(iter(people.values()))["row_id"])
        for people, row in zip(texts, table, strict=True)
        if sum(said is not None for said in row) > 1
    )
    by_person = {person: [row[place] for row in table] for place, person in enumerate(agreed.annotators)}
    return {
        "items": len(over),
        "over": over,
        "fleiss_kappa": fleiss_kappa(table),
        f"krippendorff_alpha_{level}": krippendorff_alpha(table, order, level),
        "cohen_kappa": pairwise(cohen_kappa, by_person),
        "unanimous_share": unanimous_share(table),
    }


def rating(said: Any) -> Rating | None:
    """What a person said on a scale, as agreement is measured over it: of yes and no, 1 and 0."""
    return int(said) if isinstance(said, bool) else said


def _tau(agreed: Round, texts: Sequence[Mapping[str, Row]]) -> dict[str, Any]:
    """People against the scores that came with the items, and, for ratings, people among each other."""
    scored = [people for people in texts if next(iter(people.values()))["expected"] is not None]
    measure = tau_of_pairs if agreed.kind == "pairs" else kendall_tau
    expected = [float(next(iter(people.values()))["expected"]) for people in scored]
    means = [sum(map(_number, people.values())) / len(people) for people in scored]
    document: dict[str, Any] = {"items": len(scored), "people_and_expected": measure(expected, means), "by_person": {}}
    for person in agreed.annotators:
        both = [(e, _number(people[person])) for e, people in zip(expected, scored, strict=True) if person in people]
        document["by_person"][person] = measure([e for e, _ in both], [said for _, said in both])
    if agreed.kind == "ratings":
        by_person = {p: [people[p]["rating"] if p in people else None for people in texts] for p in agreed.annotators}
        document["between_people"] = pairwise(_tau_of_two, by_person)
    return document


def _tau_of_two(first: Sequence[Rating | None], second: Sequence[Rating | None]) -> float | None:
    both = [(float(a), float(b)) for a, b in zip(first, second, strict=True) if a is not None and b is not None]
    return kendall_tau([a for a, _ in both], [b for _, b in both])


def _number(row: Row) -> float:
    return float(row["rating"]) if row["rating"] else (1.0 if row["preference"] == "first" else -1.0)
