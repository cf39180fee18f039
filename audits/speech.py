"""Who speaks: the stretches of a narrative that stand in quotation marks, or are marked as thought.

A narrator who tells what happens now may quote an aunt who says what will be known years later; so
the perspective criteria listen outside quotations only, and the identity criteria inside those of
others. Which marks belong together is ``audits.marks``, who talks with whom in a scene ``audits.scenes``.

Used by ``audits.patterns``, ``audits.persons``, ``audits.rubin`` and ``audits.sentences``.
"""

from __future__ import annotations

import functools
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from audits.marks import Span as Span
from audits.marks import in_paragraph

_MARKS = re.compile("[\"'\u201c\u201d\u201e\u00ab\u00bb\u300c\u300d\u300e\u300f\u2018\u2019]")
_PARAGRAPH = re.compile(r"\n[ \t\r]*\n")
# A whole clause between asterisks or underscores is a thought; a word or two are stress.
_THOUGHT = re.compile(
    r"(?<![*\w])\*(?=\S)(?:[^*\s]+\s){3,60}[^*\s]+\*(?![*\w])|(?<![_\w])_(?=\S)(?:[^_\s]+\s){3,60}[^_\s]+_(?![_\w])"
)

SAY = (
    r"(?:say|said|says|(?:ask|answer|whisper|shout|yell|call|mumble|mutter|murmur|scream|blurt|manage|add|beg+|lie"
    r"|explain|insist|admit+|offer|suggest|repeat|snap+|type|text|announce|agree|protest|joke|promise|warn|hiss|sigh"
    r"|laugh|demand|continue|stammer|gasp|inquire|enquire|exclaim|return|remark|observe|growl|roar|bellow|groan|moan"
    r"|correct|grumble|croak|bark|chant|chirp|chuckle|declare|drawl|echo|grin|grunt|howl|interrupt|plead|pant|point out"
    r"|scold|shriek|sniff|snort|sob|splutter|stutter|squeak|wail|whine|urge|tease|reason|resume|retort|persist|pursue"
    r"|coax|concede|confess|counter|guess|recite|remind|tut|venture|wonder)(?:e?[sd]|ing)?"
    r"|repl(?:y|ied|ies)|cr(?:y|ied|ies)|t(?:old|ells?)|beg[ai]ns?|go(?:es)? on|went on|th(?:ought|inks?)"
    r"|wr(?:ote|ites?)|s[ai]ngs?|read (?:out|aloud)|put in|chim(?:es?|ed) in|br(?:oke|eaks?) in|cut(?:s)? in)"
)
_I_AFTER = re.compile(
    rf"[\s,\u2014\u2013-]*(?:I(?:['\u2019]d| had| would)? (?:\w+ly |just |finally |only |also ){{0,2}}{SAY}\b"
    rf"|{SAY} I\b)"
)
_OTHER_AFTER = re.compile(rf"[\s,\u2014\u2013-]*(?:(?:[\w'\u2019]+ ){{1,3}}{SAY}\b|{SAY} (?!I\b)\w)")
_I_BEFORE = re.compile(
    rf"\b(?:I(?:['\u2019]d| had| would)?|and|then) (?:[\w'\u2019]+ ){{0,2}}?{SAY}\b[^.!?\n]{{0,50}}$"
)
_OTHER_BEFORE = re.compile(rf"(?:^|[\s,;])(?!I\b)[\w'\u2019]+ (?:\w+ly )?{SAY}\b[^.!?\n]{{0,50}}$")
_I = re.compile(r"\bI\b")
# "I hear Mama say," and "he says,": what leads in a quotation tells who speaks it.
_LED = re.compile(
    rf"(?:.*[\s(])?(?!(?:and|but|then|to|or|who|that)\b)([\w'\u2019]+) (?:\w+ly |just |only |then )?{SAY}"
    r"(?: \w+){0,4}?[,:]\s*$",
    re.DOTALL,
)
_INVERTED = re.compile(rf"[\s,\u2014\u2013-]*{SAY} (?:(?:the|his|her|their|my|our|a|an) )?(?:\w+ly )?\w+")
_SENTENCE = re.compile(r"[.!?\n]")
PERSON = (
    r"(?:mother|father|mum|mom|dad|mama|papa|parents?|brothers?|sisters?|sons?|daughters?|twins?|child"
    r"|children|kids?|baby|babies"
    r"|toddler|uncle|aunt|auntie|cousins?|nephews?|nieces?|grand\w+|gran|grandad|wife|husband|partner"
    r"|fianc\w+|girlfriend"
    r"|boyfriend|ex|step\w+|\w+-in-law|friends?|mates?|neighbou?rs?|colleagues?|boss|chief|manager|director|headmaster"
    r"|headmistress|head|principal|teacher|pupils?|students?|class-?mate|girls?|boys?|man|men|woman|women"
    r"|lady|ladies|gentleman"
    r"|lads?|guy|guys|couple|people|person|stranger|others|dog|puppy|cat|kitten|horse|pony|parrot|rabbit|hen|goat|cow"
    r"|doctor|nurse|midwife|dentist|vet|surgeon|patient|judge|lawyer|witness|policeman|policewoman|officer"
    r"|guard|soldier"
    r"|sergeant|captain|coach|referee|umpire|goalkeeper|striker|player|team-?mate|waiter|waitress|barman"
    r"|barmaid|bartender"
    r"|barista|cook|chef|baker|butcher|grocer|barber|hairdresser|cashier|clerk|teller|receptionist|secretary|assistant"
    r"|apprentice|trainee|intern|foreman|mechanic|plumber|electrician|carpenter|driver|conductor|pilot"
    r"|steward\w*|porter"
    r"|courier|postman|postwoman|guest|visitor|customer|client|tenant|landlord|landlady|priest|imam|rabbi"
    r"|vicar|pastor|nun"
    r"|monk|actor|actress|singer|drummer|guitarist|reporter|photographer|passenger|cyclist|tourist|bride"
    r"|groom|bridesmaid"
    r"|caller|inspector|usher|vendor|seller|operator|newcomer|figure|phone)"
)
_HEARER = (
    r"(?:him|her|them|(?:the|his|her|their|my|our|a|an|another) (?!(?:whole |entire )?(?:room|point|floor"
    r"|ceiling|side|door"
    r"|phone|class|table|team|group|crowd|hall|audience|court|family|bus|assembly|microphone|whole"
    r"|two of us|three of us)\b"
    r"|surprise|relief|face|back|horror)\w+|[A-Z]\w+)"
)
_TO_OTHER = re.compile(
    rf"\b(?:(?:t(?:old|ells?)|ask(?:ed|s)?|praise[ds]|pat(?:ted|s)|scold(?:ed|s)|warn(?:ed|s)|pet(?:ted|s)|stroke[ds]"
    rf"|call(?:ed|s)|thank(?:ed|s)|greet(?:ed|s)|tease[ds]|beg(?:ged|s)|hug(?:ged|s)|remind(?:ed|s)|order(?:ed|s)"
    rf"|kiss(?:ed|es)|{SAY} (?:\w+ ){{0,2}}?(?:to|at)|about|(?:look|search|call|shout"
    rf"|wait|ask)(?:ed|ing|s)? for)"
    rf" (?:both |all )?{_HEARER}"
    rf"|(?:to|at|of|after|for) (?:him|her|them|(?:the|his|her|their|my|our|a|an|another|somebody|someone)"
    rf"(?: (?!and\b)[\w'\u2019-]+){{0,2}}? {PERSON}\b(?!['\u2019]s)|[A-Z]\w+(?<!day)))"
)
_NEAR_ME = re.compile(rf"\b(?:me|us)\b|\bmy (?!(?:\w+ )?{PERSON}\b)")
_MINE_NEAR = re.compile(r"\s+I (?!said|asked)\w")
_TO_ME = re.compile(
    r"(?<!next )(?<!close )(?<!opposite )(?<!pointing )(?<!pointed )(?<!thumb )(?<!finger )(?<!belonging )"
    r"\b(?:to|at|told|tells?|ask(?:ed|s)?|warn(?:ed|s)|order(?:ed|s)|remind(?:ed|s)|beg(?:ged|s)|call(?:ed|s)"
    r"|thank(?:ed|s)|greet(?:ed|s)|tease[ds]|praise[ds]|pat(?:ted|s)|scold(?:ed|s)|and|with|hug(?:ged|s)|kiss(?:ed|es))"
    r" (?:both of |all of |the \w+ of )?(?:me|us)\b|\bthe (?:two|three|four|five) of us\b"
)
_THEN_I = re.compile(r"\b(?:and|but|so|while|because|as|until|when) (?:\w+ )?I\b|; I\b")
_OF_ME = re.compile(
    r"\b(?:point|nod|gestur|jerk|wav|tilt|wink|indicat|present|introduc|push|pull|shov|nudg|drag|steer"
    r"|draw|drew|dedicat)\w*"
    r"(?: \w+){0,5}? (?:at |to |toward |towards |in |on |of |about |up |straight at )?(?:me"
    r"|us)\b(?! (?:that|how|his|her)\b)"
    r"|\b(?:meaning|meant|said of|says of|said about|spoke of|described|introduced|about) me\b"
    r"|\b(?:over|above|across|past|round|around|about|against) my (?:\w+ )?(?:head|mouth|chest|waist|bed|cot|pram"
    r"|crib|chart|file|drawing|knees|shoulders)\b"
    r"|\b(?:ruffl|tousl|pinch|measur|examin|weigh|prod|pok|stitch|bandag)\w+ (?:me|my)\b"
    r"|\b(?:glass|glasses|cups?|mugs?|toast) to me\b|\btoast(?:ed|ing) me\b"
    r"|\b(?:doctor|nurse|dentist|barber|tailor|hairdresser|optician)\b.*\b(?:asked|told|said to)"
    r" (?:him|her|Mum|Mom|Dad|Mama|Papa|Grand\w+|Gran|[Mm]y (?:mother|father|mum|mom|dad|aunt|uncle|grand\w+))"
    r"\b.*\bme\b"
    r"|\b(?:while|when|as|though) I (?:stood|sat|was|lay) (?:\w+ )?(?:there|beside|between|next to)\b"
    r"|\bas (?:if|though) I (?:was|were|wasn['\u2019]t|weren['\u2019]t|were not|was not)\b"
    r"|\b(?:hand|arm|hands|arms) (?:on|round|around) (?:my|me)\b"
    r"|\b(?:as|when) I (?:came|walked|stepped|entered|burst|limped|appeared|arrived|stumbled)\b"
)
_OVERHEARD = re.compile(r"\s+I (?:kept my head down|ducked|hid|blushed|went (?:red|scarlet)|pretended not to)\b")
_SERVES = re.compile(
    r"\b(?:cashier|clerk|guard|waiter|waitress|officer|policeman|policewoman|conductor|driver|receptionist|salesman"
    r"|saleswoman|assistant|courier|stranger|porter|steward|stewardess|barista|bartender|teller|attendant|inspector"
    r"|usher|vendor|seller|operator)\b"
)


class Quotations:
    """The quotations of a text; found when first asked for."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._mine: dict[int, bool] = {}

    @functools.cached_property
    def spans(self) -> list[Span]:
        """Half-open ranges, marks included, in order and disjoint."""
        return spans(self.text)

    def mine(self, number: int) -> bool:
        """Whether the narrator speaks a quotation."""
        first, told = number, self._told_once(number)
        # "Go," I said. "Now.": the second is mine, too.
        while told is None and first > 0 and self._goes_on(first):
            first -= 1
            told = self._told_once(first)
        for each in range(first, number + 1):
            self._mine[each] = bool(told)
        return bool(told)

    def around(self, place: int) -> int | None:
        """The number of the quotation a place lies in; None outside."""
        return around(self.spans, place)

    def gaps(self) -> Iterator[Span]:
        """What stands before, between and after the quotations."""
        edges = [0, *(edge for span in self.spans for edge in span), len(self.text)]
        return zip(edges[::2], edges[1::2], strict=True)

    def outside(self) -> str:
        """The text without its quotations."""
        return " ".join(self.text[start:end] for start, end in self.gaps())

    def to_another(self, number: int) -> bool:
        """Whether the words beside a quotation say that it is meant for somebody else."""
        before, after = self.beside(number)
        # In "asked the clerk" behind a quotation the clerk speaks, and what I do then is no address.
        after = _THEN_I.split(_INVERTED.sub("", after, count=1) if _INVERTED.match(after) else after)[0]
        return meant_for_another(before, after)

    def to_me(self, number: int) -> bool:
        """Whether they say that it is meant for the narrator, or that one who serves people says it."""
        told = any(_NEAR_ME.search(side) or _SERVES.search(side) for side in self.beside(number))
        told = told or _MINE_NEAR.match(self.text, self.spans[number][1]) is not None
        return told and not self.to_another(number)

    def of_me(self, number: int) -> bool:
        """Whether they say that the narrator is spoken of, or pointed at."""
        if _OVERHEARD.match(self.text, self.spans[number][1]):
            return True
        before, after = self.beside(number)
        ended = self.text[max(0, self.spans[number][1] - 2)] in ".!?" and after.lstrip()[:1].isupper()
        return _OF_ME.search("" if ended and not _OTHER_AFTER.match(after) else f"{before} {after}") is not None

    def beside(self, number: int) -> tuple[str, str]:
        """What stands before and after a quotation in its sentence and outside other quotations."""
        start, end = self.spans[number]
        low = max(start - 70, self.spans[number - 1][1] if number else 0)
        high = min(end + 70, self.spans[number + 1][0] if number + 1 < len(self.spans) else len(self.text))
        return _SENTENCE.split(self.text[low:start])[-1], _SENTENCE.split(self.text[end : max(end, high)])[0]

    def _told_once(self, number: int) -> bool | None:
        known = self._mine.get(number)
        return self.told(number) if known is None else known

    def told(self, number: int) -> bool | None:
        """Whether the words beside a quotation say that the narrator speaks it; None where they do not say who does."""
        before, after = self.beside(number)
        if led := _LED.search(before):
            return led[1] == "I"
        if _I_AFTER.match(after):
            return True
        if _OTHER_AFTER.match(after):
            return False
        if _I_BEFORE.search(before):
            return not _OTHER_BEFORE.search(before) or bool(_I.search(before))
        return None

    def _goes_on(self, number: int) -> bool:
        between = self.text[self.spans[number - 1][1] : self.spans[number][0]]
        alone = not self.beside(number)[0].strip(" ,:\u2014-")
        return alone and "\n" not in between and 0 < len(between.strip()) <= 80


def meant_for_another(*sides: str) -> bool:
    """Whether words beside a quotation say that it is said to somebody else."""
    return any(map(_TO_OTHER.search, sides)) and not any(map(_TO_ME.search, sides))


def spans(text: str) -> list[Span]:
    """Half-open ranges of quoted speech and marked thought, marks included, in order and disjoint.

    A mark that is opened and never closed counts for nothing, unless the next paragraph opens again
    (speech carried over paragraphs): then it reaches to the paragraph's end.
    """
    marks = [found.start() for found in _MARKS.finditer(text)]
    found: list[Span] = []
    if marks:
        gaps = [gap.span() for gap in _PARAGRAPH.finditer(text)] if "\n" in text else []
        starts, ends = [0, *(end for _, end in gaps)], [*(start for start, _ in gaps), len(text)]
        first = 0
        for start, end in zip(starts, ends, strict=True):
            last = bisect_right(marks, end - 1, first)
            if last > first:
                found += in_paragraph(text, marks[first:last], start, end)
                first = last
    if "*" in text or "_" in text:
        found += [thought.span() for thought in _THOUGHT.finditer(text)]
    return _merged(found)


def around(ranges: Sequence[Span], place: int) -> int | None:
    """The number of the ordered, disjoint range that a place lies in, or None."""
    number = bisect_right(ranges, place, key=lambda span: span[0]) - 1
    return number if number >= 0 and place < ranges[number][1] else None


def inside(ranges: Sequence[Span], place: int) -> bool:
    """Whether a place lies in one of the ordered, disjoint ranges."""
    return around(ranges, place) is not None


def _merged(found: list[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(found):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
