"""The vocabularies of profiles and priors: the counts of the paper, and descriptors that differ in content."""

import itertools
import re
from collections import Counter

from schemas.records import term_ids, vocabulary

STOP = frozenset(
    [
        "a",
        "about",
        "after",
        "all",
        "an",
        "and",
        "any",
        "are",
        "as",
        "at",
        "be",
        "before",
        "but",
        "by",
        "each",
        "every",
        "for",
        "from",
        "had",
        "has",
        "have",
        "how",
        "in",
        "is",
        "it",
        "its",
        "most",
        "no",
        "not",
        "of",
        "on",
        "one",
        "or",
        "other",
        "others",
        "out",
        "own",
        "than",
        "that",
        "the",
        "their",
        "them",
        "themselves",
        "they",
        "this",
        "to",
        "until",
        "up",
        "what",
        "when",
        "where",
        "while",
        "who",
        "whose",
        "with",
        "without",
    ]
)


def content(text):
    return frozenset(re.findall(r"[a-z']+", text.lower())) - STOP


def overlap(first, second):
    return len(first & second) / len(first | second)


def descriptors():
    return [text for facet in vocabulary("personality_facets") for text in facet["levels"].values()]


def test_seven_traits_have_their_facets():
    per_trait = Counter(facet["trait"] for facet in vocabulary("personality_facets"))
    big_five = ("openness", "conscientiousness", "extraversion", "agreeableness", "neuroticism")
    assert per_trait == {**dict.fromkeys(big_five, 6), "honesty_humility": 1, "humor": 4}
    assert tuple(per_trait) == term_ids("personality_traits")


def test_each_of_35_facets_has_a_descriptor_for_each_of_five_levels():
    assert len(vocabulary("personality_facets")) == 35
    assert [level["value"] for level in vocabulary("facet_levels")] == [1, 2, 3, 4, 5]
    assert all(tuple(facet["levels"]) == term_ids("facet_levels") for facet in vocabulary("personality_facets"))
    assert len(descriptors()) == 175


def test_descriptors_differ_in_their_content_words():
    words = [content(text) for text in descriptors()]
    closest = max(itertools.combinations(range(175), 2), key=lambda pair: overlap(words[pair[0]], words[pair[1]]))
    assert overlap(words[closest[0]], words[closest[1]]) < 0.3, [descriptors()[place] for place in closest]


def test_the_overlap_sees_the_repetition_in_the_papers_own_table():
    low_mid, low = "Is not easily amused and seldom jokes around.", "Seldom jokes around and is not easily amused."
    assert overlap(content(low_mid), content(low)) == 1


def test_descriptors_say_something_that_can_be_observed():
    assert all(5 <= len(text.split()) <= 20 and text.endswith(".") for text in descriptors())
    # "Sometimes anxious but occasionally calm" names degrees of a trait instead of what is done.
    assert not [text for text in descriptors() if re.search(r"\b(?:occasionally|sometimes)\b", text)]


def test_nine_style_dimensions_have_the_papers_52_options():
    assert Counter(option["dimension"] for option in vocabulary("style_options")) == {
        "directness": 7,
        "formality": 6,
        "conversation_length": 6,
        "reference": 7,
        "initiative": 3,
        "clarification": 6,
        "structure": 5,
        "recap": 5,
        "feedback": 7,
    }
    assert len(vocabulary("style_options")) == 52
    assert term_ids("style_dimensions") == tuple(dict.fromkeys(o["dimension"] for o in vocabulary("style_options")))
    assert len({option["text"] for option in vocabulary("style_options")}) == 52


def test_archetypes_of_both_types_tilt_known_facets_and_favour_known_options():
    archetypes = vocabulary("profile_archetypes")
    assert Counter(each["type"] for each in archetypes) == {"social": 6, "antisocial": 6}
    for each in archetypes:
        tilts = {tilt["facet"]: tilt["tilt"] for tilt in each["facets"]}
        assert tilts.keys() <= set(term_ids("personality_facets"))
        assert set(tilts.values()) <= {-2, -1, 1, 2}
        assert {option["option"] for option in each["options"]} <= set(term_ids("style_options"))
        assert 0 < each["strength"] < 1
        way = 1 if each["type"] == "social" else -1
        assert tilts["trust"] * way > 0 and tilts["cooperation"] * way > 0 and tilts["friendliness"] * way > 0


def test_archetypes_named_in_the_paper_are_there():
    named = {each["id"] for each in vocabulary("profile_archetypes") if each["named"].startswith("LikeBench")}
    assert named == {
        "cooperative_teammate",
        "supportive_mentor",
        "empathetic_advisor",
        "people_pleaser",
        "contrarian_expert",
        "technical_purist",
        "skeptical_philosopher",
        "authority_challenger",
    }


def test_interests_are_a_tree_of_three_levels_with_over_400_leaves():
    fields = {field["id"]: field for field in vocabulary("interest_fields")}
    areas = {area["id"]: area for area in vocabulary("interest_areas")}
    leaves = vocabulary("interests")
    assert len(leaves) >= 400 and len({tuple(leaf["path"]) for leaf in leaves}) == len(leaves)
    for leaf in leaves:
        field = fields[leaf["field"]]
        assert leaf["path"] == [areas[field["area"]]["label"], field["label"], leaf["label"]]
    facets = set(term_ids("personality_facets"))
    assert all(draw["facet"] in facets for field in fields.values() for draw in field["affinities"])


def test_ages_run_from_the_late_teens_to_the_late_sixties_without_gap():
    bands = vocabulary("age_bands")
    assert bands[0]["from_age"] == 17 and bands[-1]["to_age"] == 69
    assert all(after["from_age"] == before["to_age"] + 1 for before, after in itertools.pairwise(bands))


def test_seven_metrics_have_five_levels_and_a_rule_for_not_applicable():
    metrics = vocabulary("likability_metrics")
    assert term_ids("likability_metrics") == (
        "emotional_adaptation",
        "formality_matching",
        "knowledge_adaptation",
        "reference_understanding",
        "conversation_length",
        "humor_fit",
        "callback",
    )
    for metric in metrics:
        assert [level["score"] for level in metric["levels"]] == [5, 4, 3, 2, 1]
        assert metric["not_applicable"]
    never = {metric["id"] for metric in metrics if metric["not_applicable"].startswith("Never")}
    assert never == {"formality_matching", "conversation_length"}
