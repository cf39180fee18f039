"""How a life runs: homes, schools, work, family, friends, love, pets, health, things, with their ages.

The course is drawn once per character, from the data in ``seeds/life/*.toml``, and leans with the trait: the
sociable have more friends, the restless move more often, the occupation decides the way into work.
``builders.life.ledgers`` numbers the facts; what they are for is said there.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from builders.life.casts import Cast, lists
from builders.life.drafts import LAST, Draft, role_of, stretches
from schemas.tables import Row

_SCHOOL_STARTS, _COURSE_STARTS = (6, 12), 18


class Life:
    """The facts of one life as they are drawn, in the order in which they depend on each other."""

    def __init__(self, character: Row, rng: random.Random) -> None:
        self.character = character
        self.rng = rng
        self.cast = Cast(character["character_id"], rng)
        self.facts: list[Draft] = []

    def draw(self) -> list[Draft]:
        """All facts of the life."""
        homes = self._homes()
        for home in homes:
            self._around(home)
        schools = self._schools()
        course = self._work()
        self._family()
        self._friends({"primary": schools[0], "secondary": schools[1], "course": course, "home": homes[0]})
        self._love()
        self._pets()
        self._health()
        self._possessions()
        return self.facts

    def _add(
        self,
        kind: str,
        role: str,
        ages: tuple[int, int],
        ends_by: str | None,
        name: str | None,
        detail: str,
        links: tuple[Draft, ...] = (),
    ) -> Draft:
        """Keep a fact; one that reaches the last age goes on and has no end."""
        from_age, to_age = ages[0], min(ages[1], LAST)
        fact = Draft(kind, role, name, from_age, to_age, ends_by if to_age < LAST else None, detail, links)
        self.facts.append(fact)
        return fact

    def _between(self, bounds: Sequence[int]) -> int:
        return self.rng.randint(bounds[0], bounds[1])

    def _trait(self, name: str) -> float:
        return float(self.character["big_five"][name])

    def _detail(self, what: str) -> str:
        return self.cast.one_of(f"detail-{what}", lists("people")[what])

    def _thing_detail(self, what: str) -> str:
        return self.cast.one_of(f"detail-{what}", lists("things")[what]["details"])

    # Where

    def _homes(self) -> list[Draft]:
        """One home at every age, each beginning the year after the last one ended."""
        kinds = lists("things")["homes"]
        starts = [(0, "childhood")]
        if self.rng.random() < 0.5:
            starts.append((self.rng.randint(5, 10), "childhood"))
        starts += [(_COURSE_STARTS, "student"), (self.rng.randint(21, 23), "young")]
        settled = sorted(self.rng.sample(range(27, 45), 2 + round(2 * self._trait("O"))))
        starts += [(age, "young" if age < 30 else "settled") for age in settled]
        ends = [age - 1 for age, _ in starts[1:]] + [LAST]
        return [
            self._add(
                "home",
                self.cast.one_of(f"home-{stage}", kinds[stage]),
                (start, end),
                "move",
                self.cast.name("streets"),
                self._thing_detail("homes"),
            )
            for (start, stage), end in zip(starts, ends, strict=True)
        ]

    def _around(self, home: Draft) -> None:
        """Two neighbours and two places at every age of a home; they are left when the home is."""
        for track in range(2):
            for ages in stretches(home.from_age, home.to_age, (4, 9), self.rng):
                ends = "move" if ages[1] == home.to_age else "parting"
                name = self.cast.given() if track else self.cast.titled()
                role = "neighbour across the landing" if track and "flat" in home.role else "neighbour"
                self._add("neighbour", role, ages, ends, name, self._detail("neighbour"), (home,))
            for ages in stretches(home.from_age, home.to_age, (5, 9), self.rng):
                ends = "move" if ages[1] == home.to_age else "parting"
                self._place(ages, ends, home)

    def _place(self, ages: tuple[int, int], ends: str, home: Draft) -> None:
        band = "child" if ages[0] < 11 else "teen" if ages[0] < 18 else "adult"
        places = lists("things")["places"]
        where, _, what = self.cast.one_of(f"place-{band}", places[band]).partition(" ")
        name = f"{self.cast.name('words')} {what}"
        self._add("place", what.lower(), ages, ends, name, self.cast.one_of(f"detail-{where}", places[where]), (home,))

    # School and work

    def _schools(self) -> list[Draft]:
        made = []
        for stage, start, end in (
            ("primary", _SCHOOL_STARTS[0], _SCHOOL_STARTS[1] - 1),
            ("secondary", _SCHOOL_STARTS[1], _COURSE_STARTS - 1),
        ):
            data = lists("things")["schools"]
            name = self.cast.filled(self.cast.one_of(stage, data[stage]))
            school = self._add(
                "school", f"{stage} school", (start, end), "graduation", name, self._thing_detail("schools")
            )
            for _ in range(2):
                for ages in stretches(start, end, (2, 3), self.rng):
                    role = self.cast.one_of(f"{stage}-teacher", data[f"{stage}_teachers"])
                    self._add("teacher", role, ages, "parting", self.cast.titled(), self._detail("teacher"), (school,))
            made.append(school)
        return made

    def _work(self) -> Draft:
        """The steps of the career to the last age, and a weekend job before it; returns the first course."""
        if self.rng.random() < 0.7:
            self._weekend_job()
        careers = lists("careers")
        occupation = self.character["occupation"]
        steps = careers.get(occupation, careers["any"])
        made: list[Draft] = []
        age = _COURSE_STARTS
        for step in steps:
            end = age + self._between(step["years"]) - 1 if step is not steps[-1] else LAST
            made.append(self._step(step, (age, end)))
            age = end + 1
        return made[0]

    def _step(self, step: dict[str, Any], ages: tuple[int, int]) -> Draft:
        school = step["kind"] == "school"
        name = self.cast.filled(step["name"]) if "name" in step else None
        role = step["role"].replace("{occupation}", role_of(self.character["occupation"]))
        ends = step.get("ends_by", "graduation" if school else "quitting")
        fact = self._add(step["kind"], role, ages, ends, name, self._thing_detail("schools" if school else "jobs"))
        who = "teacher" if school else "colleague"
        for track, person in enumerate(step["people"]):
            for part in stretches(*ages, (3, 6), self.rng):
                called = self.cast.titled() if school or (track == 0 and self.rng.random() < 0.5) else self.cast.given()
                self._add(who, person, part, "parting", called, self._detail(who), (fact,))
        return fact

    def _weekend_job(self) -> None:
        data = lists("things")["weekend_jobs"]
        ages = (self.rng.randint(14, 16), 17)
        name = f"{self.cast.name('surnames')}'s"
        job = self._add(
            "job", self.cast.one_of("weekend", data["role"]), ages, "quitting", name, self._thing_detail("jobs")
        )
        for person in data["people"]:
            self._add("colleague", person, ages, "parting", self.cast.given(), self._detail("colleague"), (job,))

    # People

    def _family(self) -> None:
        dies = self.rng.choice(["mother", "father", None])
        for parent in ("mother", "father"):
            end = self.rng.randint(33, 46) if parent == dies else LAST
            self._relative(parent, (0, end), None)
        self._relative("grandmother", (0, self.rng.randint(18, 30)), None)
        self._relative("grandfather", (0, self.rng.randint(9, 20)), None)
        self._relative("aunt", (0, LAST), self.cast.given("f"))
        self._relative("uncle", (0, self.rng.choice([self.rng.randint(30, 44), LAST])), self.cast.given("m"))
        self._relative("cousin", (self.rng.randint(0, 4), LAST), self.cast.given())
        for role in self.rng.sample(lists("circle")["siblings"], self.rng.choice([1, 1, 2])):
            born = 0 if role.startswith("older") else self.rng.randint(2, 5)
            sibling = self._relative(role, (born, LAST), self.cast.given("f" if role.endswith("sister") else "m"))
            if self.rng.random() < 0.6:
                young, gender = self.rng.choice([("niece", "f"), ("nephew", "m")])
                self._relative(young, (self.rng.randint(27, 36), LAST), self.cast.given(gender), (sibling,))

    def _relative(self, role: str, ages: tuple[int, int], name: str | None, links: tuple[Draft, ...] = ()) -> Draft:
        return self._add("family", role, ages, "death", name, self._detail("family"), links)

    def _friends(self, met: dict[str, Draft]) -> None:
        circle = lists("circle")
        for friend in circle["friends"]:
            start = max(self._between(friend["from_age"]), met[friend["of"]].from_age)
            end = start + self._between(friend["years"])
            if friend.get("while"):
                end = min(end, met[friend["of"]].to_age)
            if end < start:
                continue
            ends = "move" if friend["of"] == "home" else "parting"
            self._add(
                "friend",
                friend["role"],
                (start, end),
                ends,
                self.cast.given(),
                self._detail("friend"),
                (met[friend["of"]],),
            )
        grown = circle["adult_friends"]
        for _ in range(grown["least"] + round((grown["most"] - grown["least"]) * self._trait("E"))):
            start = self._between(grown["from_age"])
            role = self.cast.one_of("adult-friend", grown["role"])
            ages = (start, start + self._between(grown["years"]))
            self._add("friend", role, ages, "parting", self.cast.given(), self._detail("friend"))

    def _love(self) -> None:
        """One after the other, never two at once; children only from two years into the lasting one."""
        data = lists("circle")["partners"]
        free_from = 0
        for which in ("first", "second"):
            start = max(self._between(data[which]["from_age"]), free_from)
            ages = (start, start + self._between(data[which]["years"]))
            role = data[which].get("role", data["role"])
            self._add("partner", role, ages, "parting", self.cast.name("partners"), self._detail("partner"))
            free_from = ages[1] + 2
        start = max(self._between(data["lasting"]["from_age"]), free_from)
        end = self.rng.choice([LAST, LAST, self.rng.randint(40, 46)])
        partner = self._add(
            "partner", data["role"], (start, end), "parting", self.cast.name("partners"), self._detail("partner")
        )
        self._children(partner)

    def _children(self, partner: Draft) -> None:
        data = lists("circle")["children"]
        count = self.rng.randint(0, data["most"])
        born = partner.from_age
        for index in range(count):
            born += self._between(data["apart"] if index else data["after_years"])
            role = data["only"] if count == 1 else data["role"][index]
            self._add("child", role, (born, LAST), None, self.cast.given(), self._detail("child"), (partner,))

    # Animals, health, things

    def _pets(self) -> None:
        kinds = {pet["role"]: pet["years"] for pet in lists("things")["pets"]}
        for bounds in ((6, 9), (23, 30), (37, 42)):
            role = self.cast.one_of("pet", list(kinds))
            start = self._between(bounds)
            ages = (start, start + self._between(kinds[role]))
            self._add("pet", role, ages, "death", self.cast.name("pets"), self._detail("pet"))

    def _health(self) -> None:
        """A third of the list, more of it for those who worry."""
        states = lists("things")["health"]
        for state in states:
            if self.rng.random() < 0.3 + 0.3 * self._trait("N"):
                start = self._between(state["from_age"])
                end = start + self._between(state["years"]) if "years" in state else LAST
                self._add("health", state["role"], (start, end), "recovery", None, state["detail"])

    def _possessions(self) -> None:
        data = lists("things")["possessions"]
        for start in (5, 6, 8):
            for ages in stretches(start, LAST, (4, 8), self.rng):
                band = "child" if ages[0] < 11 else "teen" if ages[0] < 18 else "adult"
                role = self.cast.one_of(f"thing-{band}", data[band])
                self._add("possession", role, ages, "loss", None, self._thing_detail("possessions"))
        traits = lists("things")["traits"]
        for role in traits.get(self.character["archetype"], traits["Custom"]):
            start = self.rng.randint(22, 34)
            self._add("possession", role, (start, LAST), None, None, self._thing_detail("possessions"))
