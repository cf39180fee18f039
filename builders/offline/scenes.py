"""Which scene a plan is told as, and everything about it that is settled before a word is written.

All choices are functions of the character, the seed and the plan (above all of its number), never of
what other memories chose: windows of one character are written in separate processes.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from builders.offline.banks import LANGUAGES, Pattern, Scene, bank, scenes, voice
from builders.offline.cast import Cast, Member
from builders.offline.moments import Moment, moment
from builders.plan import MemoryPlan
from schemas.errors import RequestError
from schemas.randomness import rng_for
from schemas.tables import Row

# Kinds of settings that are a fact of the ledger: the present home, school or job.
_GROUNDS = ("home", "school", "job")


# How many stages of the same language come before one, and how often a scene comes round in a stage.
_EARLIER = {
    "school_age": 0, "adolescence": 0, "early_adult_transition": 0, "entering_adult_world": 1,
    "age_30_transition": 2, "settling_down": 3, "midlife_transition": 4, "entering_midlife": 5,
}  # fmt: skip
_ROUNDS = 3


@dataclass(frozen=True)
class Frame:
    """A memory before it is told: scene, handles, cast and moment, and whose voice tells it."""

    plan: MemoryPlan
    scene: Scene
    handles: Mapping[str, str]
    members: Mapping[str, Member]
    moment: Moment
    weather: str
    archetype: str
    stance: str
    use: int

    @property
    def language(self) -> str:
        """child, teen or adult."""
        return language(self.plan.age)

    @property
    def pattern(self) -> Pattern | None:
        """The core pattern the memory turns on; None in plain life."""
        return None if self.plan.pattern is None else voice(self.archetype).patterns[self.plan.pattern]


def language(age: int) -> str:
    """The language of an age in years: child to 12, teen to 18, adult."""
    return LANGUAGES[(age > 12) + (age > 18)]


def frame(character: Row, ledger: Sequence[Row], plan: MemoryPlan, seed: int) -> Frame:
    """The frame of one memory. Raises RequestError when the banks have no scene for it."""
    cast = Cast(ledger, plan.age, language(plan.age))
    rng = rng_for(seed, "heart", "frame", plan.id)
    scene, rounds = _scene(character["character_id"], plan, cast, seed)
    use = _EARLIER[plan.stage] * _ROUNDS + rounds
    when = moment(plan, scene)
    handles = {name: rng.choice(values) for name, values in scene.once.items()}
    handles |= scene.variants[use % len(scene.variants)]
    handles = {**_trade(cast, plan.age, rng), **handles}
    weather = rng.choice(scene.weather or tuple(bank("weather")["season"][when.season]))
    who = archetype(character)
    stance = _stance(who, plan, rng)
    return Frame(plan, scene, handles, _members(scene, cast, rng), when, weather, who, stance, use)


def archetype(character: Row) -> str:
    """The voice a character speaks with: its archetype's; for a user's own, that of its most extreme trait."""
    named = str(character["archetype"])
    if named != "Custom":
        return named
    trait, value = max(character["big_five"].items(), key=lambda item: (abs(item[1] - 0.5), item[0]))
    if abs(value - 0.5) < 0.2:
        return "Neutral"
    return f"{trait}-{'High' if value > 0.5 else 'Low'}"


def _scene(who: str, plan: MemoryPlan, cast: Cast, seed: int) -> tuple[Scene, int]:
    """The scene of a memory, all fitting scenes in turn, and how often they have all been told in its stage."""
    told_in = language(plan.age)
    kind = [scene for scene in scenes() if scene.domain == plan.domain and scene.language == told_in]
    order = rng_for(seed, "heart", "scenes", f"{who}/{plan.stage}/{plan.domain}").sample(kind, len(kind))
    fitting = [
        scene
        for scene in order
        if plan.tier in scene.tiers
        and scene.ages[0] <= plan.age <= scene.ages[1]
        and all(cast.can(query) for query in scene.cast.values())
    ]
    if not fitting:
        raise RequestError(
            f"no scene for {plan.domain} at age {plan.age}, tier {plan.tier}",
            "builders/offline/banks/scenes",
            row=plan.id,
            mend="Add a scene whose cast the ledger can fill",
        )
    rounds, place = divmod(plan.turn, len(fitting))
    return fitting[place], rounds


def _stance(who: str, plan: MemoryPlan, rng: random.Random) -> str:
    """Whether the protagonist faces the matter or not, in the measure of the voice's lines; plain life is faced."""
    if plan.pattern is None:
        return "face"
    act = voice(who).patterns[plan.pattern].act
    lines = {stance: len(by_language[language(plan.age)]) for stance, by_language in act.items()}
    return rng.choices(list(lines), weights=list(lines.values()))[0]


def _members(scene: Scene, cast: Cast, rng: random.Random) -> dict[str, Member]:
    members: dict[str, Member] = {}
    for slot, query in scene.cast.items():
        taken = {name for member in members.values() for name in (member.fact, member.later) if name}
        member = cast.member(query, taken, rng)
        if member is None:
            # Asked for twice (two friends) and there is but one: anybody else who is around.
            member = cast.member("friend|classmate|stranger", taken, rng)
        assert member is not None
        members[slot] = member
    ground = _ground(scene, cast, rng)
    if ground is not None:
        members["ground"] = ground
    return members


def _ground(scene: Scene, cast: Cast, rng: random.Random) -> Member | None:
    """The fact of the ledger that a scene's setting is: the home, the school, the job, or a place often visited."""
    setting = bank("settings")[scene.setting]
    for kind in _GROUNDS:
        if kind == setting.get("ground"):
            fact = cast.one(kind)
            return cast.known(fact) if fact and fact["name"] else None
    return cast.place(setting.get("places", ()), rng)


def _trade(cast: Cast, age: int, rng: random.Random) -> Mapping[str, str]:
    """The words of the work a character does at an age: what is made, with what, where."""
    trades = bank("trades")
    job = max(filter(None, (cast.one("job"), cast.one("school"))), key=lambda fact: fact["from_age"], default=None)
    if age < 19 or job is None:
        return {}
    words = {**trades["any"], **trades.get(job["role"], {})}
    return {name: rng.choice(options) for name, options in words.items()}
