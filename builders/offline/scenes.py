"""Which scene a plan is told as, and everything about it that is settled before a word is written.

Of the scenes that fit a plan, and suit the pattern it turns on, the one told least so far is taken, in a variant told
least, with those people of the life ledger who were in the fewest memories (``builders.offline.uses``); chance decides
between equals.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from builders.memories.plan import MemoryPlan
from builders.offline.banks import LANGUAGES, Scene, bank
from builders.offline.cast import Cast, Member
from builders.offline.households import Household, household
from builders.offline.moments import Moment, moment
from builders.offline.scene_files import scenes_of
from builders.offline.turns import turn
from builders.offline.uses import Uses
from builders.offline.voices import Pattern, suiting, voice
from builders.pipeline.streams import Streams
from schemas.errors import RequestError
from schemas.tables import Row

# Kinds of settings that are a fact of the ledger: the present home, school or job.
_GROUNDS = ("home", "school", "job")

# How many variants of a scene are tried before another scene is.
_VARIANTS = 2


@dataclass(frozen=True)
class Frame:
    """A memory before it is told: scene, handles, cast and moment, and whose voice tells it."""

    plan: MemoryPlan
    scene: Scene
    variant: int
    handles: Mapping[str, str]
    members: Mapping[str, Member]
    moment: Moment
    weather: str
    archetype: str
    stance: str
    household: Household | None

    @property
    def keys(self) -> tuple[str, ...]:
        """By what other memories may resemble it: its scene and its people."""
        return (self.scene.id, *(member.key for member in self.members.values() if member.said != "it" or member.fact))

    @property
    def language(self) -> str:
        """child, teen or adult."""
        return language(self.plan.age)

    @property
    def pattern(self) -> Pattern | None:
        """The core pattern the memory turns on; None in plain life."""
        return None if self.plan.pattern is None else voice(self.archetype).patterns[self.plan.pattern]

    @property
    def turn(self) -> Mapping[str, str]:
        """What the voice thinks and does here (``builders.offline.turns``); empty in plain life."""
        return turn(self.scene.id, self.archetype, self.pattern.tag) if self.pattern else {}

    @property
    def suited(self) -> bool:
        """Whether the scene is told with the pattern; plain life can be told as any."""
        return suits(self.scene, self.archetype, self.plan.pattern)


def language(age: int) -> str:
    """The language of an age in years: child to 12, teen to 18, adult."""
    return LANGUAGES[(age > 12) + (age > 18)]


class Framer:
    """Frames the plans of one character; ``uses`` says what has been told before."""

    def __init__(self, character: Row, ledger: Sequence[Row], streams: Streams, uses: Uses) -> None:
        self._ledger = ledger
        self._streams = streams
        self._uses = uses
        self._voice = archetype(character)
        self._casts: dict[int, Cast] = {}
        self._fitting: dict[tuple[int, str, str, int | None], Sequence[Scene]] = {}

    def frame(self, plan: MemoryPlan, skip: int = 0) -> Frame:
        """The frame of one memory: the least told variant of the least told scene, with the least told people.

        With ``skip`` it is another variant or scene, with other people.
        Raises RequestError when the banks have no scene for it.
        """
        uses = self._uses
        cast = self._cast(plan.age)
        rng = self._streams.rng("frame", plan.id)
        fitting = self._scenes(plan)
        ranked = uses.ranked([("scene", each.id) for each in fitting], rng)
        scene = fitting[ranked[skip // _VARIANTS % len(fitting)]]
        variants = uses.ranked([("variant", scene.id, number) for number in range(len(scene.variants))], rng)
        variant = variants[skip % _VARIANTS % len(variants)]
        when = moment(plan, scene)
        handles = {name: rng.choice(values) for name, values in scene.once.items()}
        handles = {**_trade(cast, plan.age, rng), **handles, **scene.variants[variant]}
        season = tuple(bank("weather")["season"][when.season])
        weather = rng.choice(tuple(kind for kind in scene.weather if kind in season) or scene.weather or season)
        stance = _stance(self._voice, plan, scene, rng)
        members = _members(scene, cast, uses, rng, skip) | _things(handles)
        home, drawn = household(cast, members, bank("settings")[scene.setting].get("ground") == "home", when, rng)
        return Frame(plan, scene, variant, handles, members | drawn, when, weather, self._voice, stance, home)

    def _cast(self, age: int) -> Cast:
        if age not in self._casts:
            self._casts[age] = Cast(self._ledger, age, language(age))
        return self._casts[age]

    def _scenes(self, plan: MemoryPlan) -> Sequence[Scene]:
        """The scenes that a plan can be told as: those that suit its pattern, or all where none does.

        ``builders.offline.lint`` names the patterns and domains for which none does.
        """
        key = (plan.age, plan.domain, plan.tier, plan.pattern)
        if key not in self._fitting:
            fitting = [scene for scene in scenes_of(plan.domain) if _fits(scene, plan, self._cast(plan.age))]
            turning = [scene for scene in fitting if turns(scene, self._voice, plan.pattern)]
            self._fitting[key] = (
                turning or [scene for scene in fitting if suits(scene, self._voice, plan.pattern)] or fitting
            )
        if not self._fitting[key]:
            raise RequestError(
                f"no scene for {plan.domain} at age {plan.age}, tier {plan.tier}",
                "builders/offline/banks/scenes",
                row=plan.id,
                fix="Add a scene whose cast the ledger can fill",
            )
        return self._fitting[key]


def turns(scene: Scene, who: str, pattern: int | None) -> bool:
    """Whether a scene has a turn of a voice for a pattern; plain life can be told as any."""
    return pattern is None or bool(turn(scene.id, who, voice(who).patterns[pattern].tag))


def suits(scene: Scene, who: str, pattern: int | None) -> bool:
    """Whether a memory that turns on a pattern of a voice can be told as a scene; plain life can be told as any."""
    return pattern is None or voice(who).patterns[pattern].condition.suits(scene.kinds)


def count(frame: Frame, uses: Uses) -> None:
    """Count what a frame takes: its scene, its variant and its people."""
    uses.use(("scene", frame.scene.id))
    uses.use(("variant", frame.scene.id, frame.variant))
    for member in frame.members.values():
        uses.use(member.key)


def _fits(scene: Scene, plan: MemoryPlan, cast: Cast) -> bool:
    return (
        scene.language == language(plan.age)
        and plan.tier in scene.tiers
        and scene.ages[0] <= plan.age <= scene.ages[1]
        and all(cast.can(query) for query in scene.cast.values())
        and all(cast.has(bank("needs")[need]) for need in scene.needs)
    )


def archetype(character: Row) -> str:
    """The voice a character speaks with: its archetype's; for a user's own, that of its most extreme trait."""
    named = str(character["archetype"])
    if named != "Custom":
        return named
    trait, value = max(character["big_five"].items(), key=lambda item: (abs(item[1] - 0.5), item[0]))
    if abs(value - 0.5) < 0.2:
        return "Neutral"
    return f"{trait}-{'High' if value > 0.5 else 'Low'}"


def _stance(who: str, plan: MemoryPlan, scene: Scene, rng: random.Random) -> str:
    """Whether the protagonist faces the matter or not, in the measure of the lines that suit; plain life is faced."""
    if plan.pattern is None:
        return "face"
    act = voice(who).patterns[plan.pattern].act
    lines = {stance: by_language[language(plan.age)] for stance, by_language in act.items()}
    weights = [len(suiting(each, scene.kinds)) for each in lines.values()]
    return rng.choices(list(lines), weights=weights if any(weights) else None)[0]


def _members(scene: Scene, cast: Cast, uses: Uses, rng: random.Random, skip: int) -> dict[str, Member]:
    members: dict[str, Member] = {}
    for slot, query in scene.cast.items():
        taken = {name for member in members.values() for name in (member.fact, member.later) if name}
        member = cast.member(query, taken, uses, rng, skip)
        if member is None:
            # Asked for twice (two friends) and there is but one: anybody else who is around.
            member = cast.member("friend|classmate|stranger", taken, uses, rng, skip)
        assert member is not None
        members[slot] = member
    ground = _ground(scene, cast, uses, rng)
    if ground is not None:
        members["ground"] = ground
    return members


def _things(handles: Mapping[str, str]) -> dict[str, Member]:
    """The handles that come in with "a" and are "the" after that, as members: "a plant", then "the plant"."""
    return {
        name: Member(value, f"the {value.split(' ', 1)[1]}", "", "it", "", "", None)
        for name, value in handles.items()
        if name.endswith("_np") and value.startswith(("a ", "an ")) and "{" not in value
    }


def _ground(scene: Scene, cast: Cast, uses: Uses, rng: random.Random) -> Member | None:
    """The fact of the ledger that a scene's setting is: the home, the school, the job, or a place often visited."""
    setting = bank("settings")[scene.setting]
    for kind in _GROUNDS:
        if kind == setting.get("ground"):
            fact = cast.one(kind)
            return cast.known(fact) if fact and fact["name"] else None
    return cast.place(setting.get("places", ()), uses, rng)


def _trade(cast: Cast, age: int, rng: random.Random) -> Mapping[str, str]:
    """The words of the work a character does at an age: what is made, with what, where."""
    trades = bank("trades")
    job = max(filter(None, (cast.one("job"), cast.one("school"))), key=lambda fact: fact["from_age"], default=None)
    if age < 19 or job is None:
        return {}
    words = {**trades["any"], **trades.get(job["role"], {})}
    return {name: rng.choice(options) for name, options in words.items()}
