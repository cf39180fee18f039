"""A life narrated in order: nothing in it too often, nothing twice, and each memory as long as it should be."""

import dataclasses
import re
from collections import Counter

import pytest
from builder_samples import HEART

from builders.life.ledgers import ledger
from builders.memories.plan import plan, targets
from builders.offline import beats
from builders.offline import scenes as framing
from builders.offline.banks import bank, pieces
from builders.offline.cast import Cast, Member, mark, named
from builders.offline.chronicle import Chronicle
from builders.offline.draft import LONGEST, SHORTEST
from builders.offline.grammar import straight
from builders.offline.likeness import Likeness
from builders.offline.lines import loosened
from builders.offline.lines import sentences as parsed
from builders.offline.memories import Writer
from builders.offline.scene_files import scenes
from builders.offline.turns import Part, part
from builders.offline.uses import Uses
from builders.offline.voices import stems, suiting, voice
from builders.personas import load_characters
from perf.quality.residue import residue
from perf.quality.text_quality import LIMITS, measure
from schemas.randomness import rng_for
from schemas.text.sentences import sentences

CHARACTER = load_characters()[3]
LEDGER = ledger(CHARACTER, HEART)
TOTAL = 400  # in which a sentence may stand twice
PLANS = plan(CHARACTER, HEART, TOTAL)


def writer(plans=PLANS):
    """A writer of the life that the tests read."""
    return Writer(CHARACTER, LEDGER, HEART, plans)


@pytest.fixture(scope="module")
def life():
    """All memories of a life of four hundred."""
    desk = writer()
    return [desk.compose(one) for one in PLANS]


@pytest.fixture(scope="module")
def narrated(life):
    """The sentences of each memory."""
    return [[row["content_full"][start:end] for start, end in sentences(row["content_full"])] for row in life]


def test_hardly_a_sentence_is_in_more_than_half_a_percent_of_the_memories(narrated):
    counts = Counter(sentence for said in narrated for sentence in set(said))
    too_often = sum(count - TOTAL // 200 for count in counts.values() if count > TOTAL // 200)
    assert too_often < 0.02 * counts.total()


def test_no_two_memories_begin_alike(narrated):
    assert max(Counter(said[0] for said in narrated).values()) == 1


def test_mean_length_is_that_of_table_7_and_none_is_out_of_bounds(life):
    lengths = [len(row["content_full"]) for row in life]
    assert abs(sum(lengths) / TOTAL / targets(CHARACTER).length - 1) <= LIMITS["length_off"][1]
    assert min(lengths) >= SHORTEST and max(lengths) <= LONGEST


def test_no_two_memories_of_a_stage_are_near_duplicates(life):
    figures = measure({"CHAR_04": life}, [CHARACTER])["characters"]["CHAR_04"]
    assert figures["cosine_max"] <= 0.85


def test_no_trace_of_composing_is_left(life):
    assert [hit for row in life for hit in residue(row["content_full"])] == []


@pytest.fixture(scope="module")
def narratives():
    """The first sixty memories of the life, with the lines they are narrated in."""
    chronicle = Chronicle(CHARACTER, LEDGER, PLANS, HEART)
    return [chronicle.narrative(one) for one in PLANS[:60]]


def test_what_came_before_and_after_is_narrated_whole(narratives):
    for one in narratives:
        own = one.frame.scene.beats
        for line in set(one.lines) & {*own["earlier"], *own["later"]}:
            first = straight(re.split(r"[\[{]", loosened(line))[0])
            place = one.text.find(first) if first else 0
            assert place >= 0
            assert len(sentences(one.text[place:])) >= len(parsed(line))


def test_scene_tells_its_own_day_and_the_evening_is_narrated_once(narratives):
    for one in narratives:
        own, home = one.frame.scene.beats, one.frame.household
        assert set(one.lines) & set(own["earlier"])
        with_family = home is not None and set(one.lines) & set(pieces("home", *home.path, "evening"))
        assert len(set(one.lines) & set(own["later"])) == (0 if with_family else 1)


def test_weather_belongs_to_the_season_where_the_scene_leaves_a_choice(narratives):
    for one in narratives:
        scene, season = one.frame.scene, set(bank("weather")["season"][one.frame.moment.season])
        assert one.frame.weather in season or (scene.weather and season.isdisjoint(scene.weather))


def test_scene_is_in_no_season_that_lacks_its_weather():
    possible = bank("weather")["season"]
    for scene in scenes():
        fitting = [season for season in scene.seasons if set(possible[season]) & set(scene.weather)]
        assert fitting in ([], list(scene.seasons)), scene.id


def test_what_any_scene_could_say_is_a_small_part_of_a_memory(narratives):
    for one in narratives:
        shared = [line for line in one.lines if line in shared_lines_of(one)]
        assert len(shared) <= 5, shared


def shared_lines_of(narrative):
    """The lines of the banks that any scene may use, of the language of a memory."""
    language = narrative.frame.language
    weather = (line for kind in bank("weather").values() for lines in kind.values() for line in lines)
    places = (line for kind in bank("settings").values() for lines in kind.values() for line in lines)
    body = (line for level in bank("body")["child" if language == "child" else "older"].values() for line in level)
    return {*weather, *places, *body, *pieces("tempted", language)}


def test_memory_is_told_as_a_scene_in_which_the_voice_has_a_turn_for_its_pattern(narratives):
    turning = [one.frame for one in narratives if one.frame.pattern is not None]
    assert turning and all(frame.suited for frame in turning)
    for frame in turning:
        own = part(frame.scene.id, frame.archetype).turns[frame.pattern.tag]
        assert list(beats.lines_of(frame, "think")) == [own["think"]]
        assert list(beats.lines_of(frame, "act")) == [own["act"]]
        assert frame.stance == frame.pattern.stance
    for frame in (one.frame for one in narratives if one.frame.pattern is None):
        assert list(beats.lines_of(frame, "small")) == [part(frame.scene.id, frame.archetype).small]
        assert beats.lines_of(frame, "think") == () and frame.stance == "face"


def test_scene_without_a_turn_is_taken_where_no_scene_has_one(monkeypatch):
    """Every scene has a turn for the first pattern alone."""
    tags = [pattern.tag for pattern in voice(CHARACTER["archetype"]).patterns]
    only = Part({tags[0]: {"think": "I saw it.", "act": "I did it."}}, "I was there.")
    monkeypatch.setattr(framing, "part", lambda scene, archetype: only)
    framer = framing.Framer(CHARACTER, LEDGER, HEART, Uses(TOTAL))
    frames = [framer.frame(one) for one in PLANS[:40] if one.pattern is not None]
    assert {frame.suited for frame in frames} == {True, False}
    assert all(frame.suited == (frame.plan.pattern == 0) and bool(frame.turn) == frame.suited for frame in frames)


def test_body_is_shaken_only_where_the_scene_holds_something_shaking(narratives):
    frame = narratives[0].frame
    strong = dataclasses.replace(frame, plan=dataclasses.replace(frame.plan, intensity=0.9))
    by_kind = {
        kind: set(
            beats.lines_of(dataclasses.replace(strong, scene=dataclasses.replace(frame.scene, kinds=(kind,))), "body")
        )
        for kind in ("task", "danger")
    }
    assert by_kind["task"] == set(pieces("body", "child", "mid"))
    assert by_kind["danger"] == set(pieces("body", "child", "high"))


def test_nobody_who_is_somewhere_else_is_named_by_a_voice():
    for archetype in stems().values():
        for lines in voice(archetype).beats["week"].values():
            assert not [line for line in suiting(lines, ("alone",)) if "{second" in line.lower()]


def test_memories_asked_for_first_are_the_first_in_order(life):
    late = PLANS[200]
    assert writer().compose(late)["content_full"] == life[200]["content_full"]


def test_plan_of_no_life_is_reported_by_itself():
    alone = Writer(CHARACTER, LEDGER, HEART)
    row = alone.compose(PLANS[30])
    assert SHORTEST <= len(row["content_full"]) <= LONGEST
    assert alone.compose(PLANS[30]) == row == Writer(CHARACTER, LEDGER, HEART).compose(PLANS[30])


def test_rewriting_tells_the_same_event_in_other_sentences(life):
    desk = writer()
    row, one = life[100], PLANS[100]
    again = [desk.rewrite(row, one, "content_full", "duplicate.semantic", attempt) for attempt in (1, 2, 3)]
    assert len({row["content_full"], *again}) == 4
    assert desk.rewrite(row, one, "content_full", "duplicate.semantic", 2) == again[1]
    own = {row["content_full"][start:end] for start, end in sentences(row["content_full"])}
    for text in again:
        said = {text[start:end] for start, end in sentences(text)}
        assert len(said & own) < len(own) / 3


@pytest.mark.parametrize("field", ["context", "content_summary", "psych_conclusion", "behavior_policy", "triggers"])
def test_short_field_is_rewritten_into_another(life, field):
    desk = writer()
    values = [desk.rewrite(life[50], PLANS[50], field, "x", attempt) for attempt in (1, 2, 3)]
    assert any(value != life[50][field] for value in values)


def test_field_that_nobody_writes_is_refused(life):
    with pytest.raises(ValueError, match="no such text field"):
        writer().rewrite(life[0], PLANS[0], "timeline", "x", 1)


def test_least_used_comes_first_and_this_stage_counts_before_the_life():
    uses = Uses(1000)
    uses.enter("school_age")
    for key in ("a", "a", "b"):
        uses.use(key)
    rng = rng_for(7, "heart", "test", "x")
    assert uses.ranked(["a", "b", "c"], rng) == [2, 1, 0]
    uses.enter("adolescence")
    uses.use("c")
    assert uses.ranked(["a", "b", "c"], rng) == [1, 0, 2]


def test_sentence_is_worn_from_the_sixth_of_a_thousand_memories_on():
    uses = Uses(1000)
    for place in range(5):
        assert uses.worn([f"I woke at {place}.", "It rained."], place) == []
        uses.count_sentences([f"I woke at {place}.", "It rained."], place)
    assert uses.worn(["I woke at nine.", "It rained."], 5) == [1]
    assert uses.worn(["I woke at 3.", "It was dry."], 5) == [0]


def test_likeness_is_one_for_the_same_text_and_none_where_nothing_is_shared():
    likeness = Likeness()
    likeness.add(["scene a", "Ines"], "The kettle sang on our stove.")
    likeness.add(["scene b"], "Somebody sold us a lame horse.")
    assert likeness.nearest(["scene a"], "The kettle sang on our stove.") == pytest.approx(1)
    assert likeness.nearest(["scene c", "Ines"], "The kettle sang on our stove.") == pytest.approx(1)
    assert likeness.nearest(["scene a"], "Somebody sold us a lame horse.") == 0
    assert likeness.nearest(["scene b"], "The kettle sang on our stove.") == 0
    assert likeness.nearest(["scene c"], "The kettle sang on our stove.") == 0


def test_a_role_keeps_the_capital_of_a_proper_name_and_loses_any_other():
    fact = {"fact_id": "LED_01_001", "kind": "teacher", "name": "Ms Okoro", "from_age": 12, "to_age": 18, "detail": ""}
    fact |= {"ends_by": "parting", "linked_to": []}
    cast = Cast([], 14, "teen")
    said = [cast.known({**fact, "role": role}).first for role in ("English teacher", "Maths teacher")]
    assert ["English teacher" in said[0], "maths teacher" in said[1]] == [True, True]


@pytest.mark.parametrize(
    ("first", "later", "said"),
    [
        ("my friend Ines", "Ines", "I carried my friend Ines's bag. Ines came."),
        ("my friend Ines from the choir", "Ines", "I carried my friend Ines's bag. Ines came."),
        ("Ines from my class", "Ines", "I carried Ines's bag. Ines from my class came."),
        ("a woman in a hurry", "the woman", "I carried the woman's bag. A woman in a hurry came."),
    ],
)
def test_who_comes_in_by_what_is_theirs_is_introduced_by_the_name_or_later(first, later, said):
    ines = Member(first, later, "", "they", "friend", "", None)
    assert named(f"I carried {mark('other')}'s bag. {mark('Other')} came.", {"other": ines})[0] == said


@pytest.mark.parametrize(("end", "word"), [(", as I saw", "hers"), (" was blue", "hers"), (" voice was low", "her")])
def test_what_is_theirs_stands_alone_where_no_noun_follows(end, word):
    ines = Member("Ines", "Ines", "", "she", "friend", "", None)
    text = f"{mark('Other')} came, and the bag I saw and {mark('other')}'s{end}."
    assert named(text, {"other": ines})[0] == f"Ines came, and the bag I saw and {word}{end}."
