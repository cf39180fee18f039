"""Who and what of a life is in a memory, and how the text names them.

A scene asks for roles (``other = "friend|classmate"``); the facts of the life ledger that hold at the
age answer, or, where the bank allows it, an unnamed person nobody will meet again. The text is written
with marks; ``named`` puts the names in at the end: the first mention introduces ("my friend Ines"), later
ones do not ("Ines"), and what was mentioned is what the memory refers to. Bank: ``banks/cast.toml``.
"""

from __future__ import annotations

import functools
import random
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from builders.life.ledgers import pronoun, valid_at
from builders.offline.banks import ANY_DAY, bank
from builders.offline.grammar import capital
from builders.offline.uses import Uses
from schemas.tables import Row

OPEN, CLOSE = "\ue000", "\ue001"
MARK = re.compile(rf"{OPEN}([a-zA-Z_]+)(?:\.([a-zA-Z]+))?{CLOSE}('s)?")
# A mark, and before it the verb of a speech that it tells: "said Ines" becomes "she said" where she is clear.
_NAMED = re.compile(rf"(?:(?<=\u201d )(said|asked|whispered|called|answered) )?{MARK.pattern}")
_TOLD = re.compile(r"\.|,(?! who)| and ")
# Before an object in the third person (after speech "asked" precedes its subject), and how far back and how often in
# a row a pronoun may stand for somebody.
_OBJECT = re.compile(
    r"\b(?:at|to|with|for|from|of|behind|beside|by|near|about"
    r"|told|(?<!\u201d )asked|showed|gave|handed|thanked|followed|helped) $"
)
_NEAR, _RUN = 220, 4
# Before a subject that does not begin its sentence.
_BEGUN = re.compile(
    r"[.!?\u2026]\u201d? (?:Then|But|So|Now|After that|At last) $|, (?:and|but) $"
    r"|\b(?:because|although|that|if|when|while) $"
)
# A pronoun reaches back to the sentence before, and over nobody else.
_STOPS = re.compile(r"[.!?\u2026]\u201d?\s|\n")
_OTHERS = re.compile(
    r"\b(?:he|she|him|her|man|woman|boy|girl|lady|child|somebody|someone|foreman|mother|father|mum|dad)\b",
    re.IGNORECASE,
)

_FORMS = {
    "she": {"he": "she", "him": "her", "his": "her", "hers": "hers", "himself": "herself", "was": "was", "has": "has"},
    "he": {"he": "he", "him": "him", "his": "his", "hers": "his", "himself": "himself", "was": "was", "has": "has"},
    "they": {
        "he": "they", "him": "them", "his": "their", "hers": "theirs",
        "himself": "themselves", "was": "were", "has": "have",
    },
    "it": {"he": "it", "him": "it", "his": "its", "hers": "its", "himself": "itself", "was": "was", "has": "has"},
}  # fmt: skip
PRONOUNS = frozenset(_FORMS["it"])
# After a possessive that has no noun: "and his was" and "her voice was", but "and hers was".
_ALONE = re.compile(r"[.,;!?]| (?:was|is|were|are|had|would|did|and|too)\b")
# Words that a role may begin with and that are never small.
_PROPER = frozenset({*ANY_DAY, "English", "French", "German", "Latin", "Spanish"})
_SHORT = frozenset(form for forms in _FORMS.values() for form in forms.values())
_SUBJECTS = frozenset({"he", "she"})
_DWELLINGS = ("flat", "house", "room")
_SAID = {"f": "she", "m": "he"}
# Gender words a pronoun implies, for children of the character.
_OFFSPRING = {"she": "daughter", "he": "son", "they": "child"}

# Words that follow a person's slot and a dot.
FORMS = PRONOUNS | {"call", "role", "detail"}


@dataclass(frozen=True, slots=True)
class Member:
    """Somebody or something in a memory: ``first`` and ``later`` mentions, how it is addressed, its fact."""

    first: str
    later: str
    call: str
    said: str
    role: str
    detail: str
    fact: str | None

    @property
    def key(self) -> str:
        """Who it is, for counting."""
        return self.fact or self.first

    def form(self, name: str) -> str:
        """``call``, ``role`` or ``detail``."""
        return str(getattr(self, name))


def mark(slot: str, form: str = "") -> str:
    """What stands for a member, or a pronoun for it, until it is named."""
    return f"{OPEN}{slot}.{form}{CLOSE}" if form else f"{OPEN}{slot}{CLOSE}"


class Cast:
    """The facts that hold at an age, ready to be cast in a language (child, teen, adult)."""

    def __init__(self, ledger: Sequence[Row], age: int, language: str) -> None:
        self._facts = valid_at(ledger, age)
        self._age = age
        self._language = language

    def member(
        self, query: str, taken: Collection[str | None], uses: Uses, rng: random.Random, skip: int = 0
    ) -> Member | None:
        """Somebody for ``a|b|c`` (the first that anyone answers), none of the facts or names ``taken``; or None.

        Of several, whoever has been in the fewest memories; ``skip`` passes over so many.
        """
        for name in query.split("|"):
            rule = bank("cast")["query"][name]
            answers = [fact for fact in self._facts if fact["fact_id"] not in taken and self._fits(fact, rule)]
            if answers:
                return self.known(answers[uses.ranked([fact["fact_id"] for fact in answers], rng)[skip % len(answers)]])
            if "extra" in rule:
                options = [extra for extra in bank("cast")["extra"][rule["extra"]] if extra[1] not in taken]
                if options:
                    first, later, gender = options[
                        uses.ranked([extra[0] for extra in options], rng)[skip % len(options)]
                    ]
                    return Member(first, later, "", _SAID[gender], rule["extra"].replace("_", " "), "", None)
        return None

    def can(self, query: str) -> bool:
        """Whether anyone answers a query."""
        return any(
            "extra" in (rule := bank("cast")["query"][name]) or any(self._fits(fact, rule) for fact in self._facts)
            for name in query.split("|")
        )

    def has(self, rule: Mapping[str, Any]) -> bool:
        """Whether a fact of one of the rule's kinds says one of its words in its role or detail."""
        return any(
            fact["kind"] in rule["kinds"] and any(word in f"{fact['role']} {fact['detail']}" for word in rule["words"])
            for fact in self._facts
        )

    def place(self, words: Collection[str], uses: Uses, rng: random.Random) -> Member | None:
        """A place of the ledger whose role is among ``words``, or None."""
        answers = [fact for fact in self._facts if fact["kind"] == "place" and fact["role"] in words]
        ranked = uses.ranked([fact["fact_id"] for fact in answers], rng)
        return self.known(answers[ranked[0]]) if answers else None

    def free(self, kind: str, taken: Collection[str | None], rng: random.Random) -> Row | None:
        """A fact of a kind that is none of ``taken``, by chance; or None."""
        answers = [fact for fact in self._facts if fact["kind"] == kind and fact["fact_id"] not in taken]
        return rng.choice(answers) if answers else None

    def years(self, fact: Row) -> int:
        """How many years a fact has held: the age of a child."""
        return int(self._age - fact["from_age"])

    @property
    def grown(self) -> bool:
        """Whether it is not a child who speaks."""
        return self._language != "child"

    def one(self, kind: str) -> Row | None:
        """The fact of a kind that began last (the present home, school or job), or None."""
        answers = [fact for fact in self._facts if fact["kind"] == kind]
        return max(answers, key=lambda fact: (fact["from_age"], fact["fact_id"]), default=None)

    def _fits(self, fact: Row, rule: Mapping[str, Any]) -> bool:
        if fact["kind"] not in rule.get("kinds", ()):
            return False
        role = fact["role"]
        if "roles" in rule and role not in rule["roles"]:
            return False
        if "has" in rule and not any(word in role for word in rule["has"]):
            return False
        if any(word in role for word in rule.get("without", ())):
            return False
        if rule.get("works") and role == "composer on the other end of the mail":
            return False
        low, high = rule.get("years", (0, 99))
        return bool(low <= self._age - fact["from_age"] <= high)

    def known(self, fact: Row) -> Member:
        """A fact as a member."""
        said = pronoun(fact)
        noun = next((word for word in _DWELLINGS if word in fact["role"]), "place")
        first, later, call = (
            form.format(
                name=fact["name"] or "", role=_role(fact["role"]), noun=noun, offspring=_OFFSPRING.get(said, "child")
            )
            for form in _forms(fact["kind"], fact["role"], self._language)
        )
        role, _, rest = first.partition(" from the ")
        if fact["kind"] == "friend" and rest and fact["name"] not in role:
            # "my friend from the choir Ines" reads better as "my friend Ines from the choir".
            first = f"{role} {fact['name']} from the {rest.removesuffix(' ' + fact['name'])}"
        return Member(first, later, call, said, fact["role"], fact["detail"], fact["fact_id"])


@functools.cache
def _forms(kind: str, role: str, language: str) -> tuple[str, str, str]:
    named = bank("cast")["named"]
    first, later, call = (
        named[language].get(role) or named[language].get(kind) or named["role"].get(role) or named["kind"][kind]
    )
    return first, later, call


def _role(role: str) -> str:
    """A role as it stands in a sentence: "Nurse" of a user's own ledger small, "GP trainee", "English teacher" not."""
    proper = role[:2].isupper() or role.partition(" ")[0] in _PROPER
    return role if proper else role[:1].lower() + role[1:]


def named(text: str, members: Mapping[str, Member]) -> tuple[str, list[str]]:
    """The text with names and pronouns for marks, and the facts it mentions, in order of mention.

    In speech nobody is introduced, and before a possessive only who has a name ("my friend Ines's bag"). Somebody
    named again where the sentence before spoke of nobody else becomes a pronoun, as a narrator would have it.
    """
    naming = _Naming(text, members)
    return _NAMED.sub(naming.name, text), naming.facts


class _Naming:
    """One pass over a text: who was introduced, and of whom it speaks at the moment."""

    def __init__(self, text: str, members: Mapping[str, Member]) -> None:
        self._text = text
        self._members = members
        self._met: set[str] = set()
        self._focus = ""
        self._place = -1
        self._run = 0
        self.facts: list[str] = []

    def name(self, found: re.Match[str]) -> str:
        """What stands for a mark, and for the verb of a speech before it."""
        slot, form, possessive = found[2].lower(), (found[3] or "").lower(), found[4] or ""
        member = self._members[slot]
        capital_ = found[2][0].isupper() or form != (found[3] or "")
        said = _FORMS[member.said][form] if form else self._called(found, slot, member, possessive)
        verb = found[1] or ""
        if member.said != "it":
            self._run = self._run + 1 if form or said in _SHORT else 0
            self._focus, self._place = slot, found.end()
        if verb:
            return f"{said} {verb}" if said in _SUBJECTS else f"{verb} {said}"
        return capital(said) if capital_ else said

    def _called(self, found: re.Match[str], slot: str, member: Member, possessive: str) -> str:
        if member.fact and member.fact not in self.facts:
            self.facts.append(member.fact)
        if slot in self._met and (short := self._pronoun(found, slot, member)):
            return short
        if slot in self._met or self._spoken(found.start()):
            return member.later + possessive
        if possessive:
            # "my friend Ines's bag", also of "my friend Ines from the choir"; "Ines's" of "Ines from my class".
            whose = member.first.partition(" from ")[0]
            if not whose.endswith(f" {member.later}") or ", " in whose:
                return member.later + possessive
            self._met.add(slot)
            return whose + possessive
        self._met.add(slot)
        # "the trainer, a woman with strong arms" is closed by a comma where its sentence goes on.
        goes_on = ", " in member.first and self._text[found.end() : found.end() + 1] == " "
        return f"{member.first}," if goes_on else member.first

    def _pronoun(self, found: re.Match[str], slot: str, member: Member) -> str | None:
        """A pronoun for a second mention, where it is clear who is meant and how it is declined; else None."""
        start, end = found.span()
        between = self._text[self._place : start]
        clear = slot == self._focus and len(between) < _NEAR and self._run < _RUN
        clear = clear and len(_STOPS.findall(between)) < 2 and not _OTHERS.search(between)
        if not clear or member.said not in ("he", "she") or self._spoken(start):
            return None
        if found[4]:
            return _FORMS[member.said]["hers" if _ALONE.match(self._text, end) else "his"]
        if found[1]:
            return member.said if _TOLD.match(self._text, end) else None
        after = self._text[end : end + 5]
        if found[2][0].isupper():
            return None if after.startswith((" and", ",")) or not after.startswith(" ") else member.said
        if _BEGUN.search(self._text, max(0, start - 16), start):
            return member.said if after.startswith(" ") and not after.startswith(" and") else None
        return _FORMS[member.said]["him"] if _OBJECT.search(self._text, max(0, start - 12), start) else None

    def _spoken(self, place: int) -> bool:
        return self._text.count("\u201c", 0, place) > self._text.count("\u201d", 0, place)
