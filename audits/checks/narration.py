"""Whether a decision is told from outside instead of by the character; the words are in ``narration.toml``.

A decision without any word of the first person is told from outside if somebody else is who acts: he,
she, they, a name, a trade. One with such words is if it speaks of "the character", or opens with what
he or she chooses. Of an inner trace only "the character" counts.

HEART-BENCH appendix G.4.3 (rules 1 and 6). Used by ``audits.checks.decisions``.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from audits.text.names import given_names
from audits.text.quotations import Quotations, Span
from schemas.text.sentences import sentences

FIRST = re.compile(r"\b(?:I|[Mm]e|[Mm]y|[Mm]ine|[Mm]yself|[Ww]e|[Uu]s|[Oo]ur|[Oo]urs|[Oo]urselves)\b")

_ABOUT_SELF = re.compile(r"\b(?:I|[Mm]e|[Mm]y|[Mm]ine|[Mm]yself)\b")
_PART = re.compile(r"\{([a-z]+)\}")
_WORDS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))["words"]


def _compiled(expression: str) -> re.Pattern[str]:
    """An expression with the words for ``{role}`` and the like, which match in any case."""
    return re.compile(_PART.sub(lambda part: f"(?i:{'|'.join(_WORDS[part[1]])})", expression))


# "She tells them: I won't sign" is speech, too.
_TOLD = re.compile(
    r"\b(?i:he|she|they|and|then) (?:\w+ly )?"
    r"(?:say|tell|ask|answer|repl|whisper|shout|writ|add|explain|announc|murmur|call|text)\w*"
    r"(?: (?!I\b)[\w'\u2019]+){0,6}: [^.!?]*"
)
_STRANGER = _compiled(
    r"[*#_>\s\"(\[-]*"
    r"(?:(?i:(?:final |step \d+\W*|the )?(?:decision|choice|action|answer|response|output|result))"
    r"\]?[ *_]*[:\u2013\u2014-][ *_]*)?"
    r"{opening}?(?:"
    r"(?i:he|she|they)(?:['\u2019](?:d|s|ll|re|ve)|,| (?!(?:is|are) (?:right|wrong|enough)\b)[a-z]+)"
    r"|(?i:his|her|their) (?:\w+ ){0,2}{choice}\b"
    r"|(?i:the|this|our|an?|that) (?:[\w-]+,? ){0,3}{person}{aside}?"
    r"(?:['\u2019]s (?:\w+ )?{choice}\b| (?:{adverb} ){0,2}(?:{acts}|\w{3,}s)\b)"
    r"|[A-Z]\w+(?: [A-Z]\w+)?(?:['\u2019]s (?:\w+ )?{choice}\b| (?:{adverb} ){0,2}{decides})"
    r"|(?P<name>[A-Z][a-z]+)(?: [A-Z]\w+)?{aside}? (?:{adverb} ){0,2}{acts}\b"
    r"|(?i:one|you) (?:{adverb} ){0,2}{decides}"
    r")"
)
_DONE_BY = _compiled(
    r"\b(?:is|are|was|were|gets|got|been|be) (?:\w+ ){0,2}?\w+(?:ed|en|de|d|t|n) by "
    r"(?:him|her|them|(?:the|this) (?:{role}|{person}))\b"
)
_SOMEBODY = _compiled(
    r"\b(?i:he|she|they)(?:['\u2019](?:d|s|ll|re|ve))?\b(?= \w)|\b(?i:it is (?:his|her|their)) \w+"
    r"|\b{choice} of (?:the|this|our) (?:[\w-]+ ){0,2}(?:{role}|{person})\b"
    r"|\b(?:the|this) (?:[\w-]+ ){0,2}{person} (?:{adverb} ){0,2}(?:{acts}|\w{3,}s)\b"
)
_ORDER = _compiled(r"\W*(?:(?i:not|no|never|just|politely|calmly|quietly|directly|first|then) )?{order}\b")
_CHOOSES = _compiled(
    r"[*#_>\s\"(\[-]*(?:(?i:he|she|they)(?:, [^.!?]{1,60},)?|(?i:the|this|our) (?:[\w-]+ ){0,2}{person}{aside}?)"
    r" (?:{adverb} ){0,2}{decides}"
)
_CHARACTER = _compiled(
    r"\b(?i:the|this|our|my|said) {role}(?:['\u2019]s\b|,"
    r"| (?!(?:of|and|or|on|from|for|at|to|with|assassination|witness|reference|limit|count)\b)\w)"
    r"|\[?{id}|\b(?:Role|Character|Person|Persona|Agent|Participant|Subject) (?:[A-Z]|\d+)\b(?!['\u2019](?!s))"
    r"|\{\{?name\}\}?|\[[Nn](?:ame|AME)\]"
)
_FEELS = _compiled(r"\b(?i:the|this|our) {role}(?:['\u2019]s (?:\w+ )?{choice}\b| (?:{adverb} ){0,2}{feels}\b)")


def told_from_outside(quoted: Quotations, decision: bool) -> Span | None:
    """The words that tell a decision, or else a field of its inner trace, from outside."""
    text = quoted.text
    found = _unquoted(_FEELS, quoted, 0, len(text))
    if found or not decision:
        return found
    alone = not FIRST.search(_TOLD.sub("", quoted.outside()))
    for number, (start, end) in enumerate(sentences(text, quoted.spans)):
        # "They laughed, and I left": others may open a sentence as long as the narrator is in it.
        about_self = _ABOUT_SELF.search(Quotations(text[start:end]).outside())
        found = None if about_self else _unquoted(_CHARACTER, quoted, start, end)
        if alone:
            found = found or _stranger(quoted, start, end)
            if number == 0 and not _ORDER.match(text, start, end):
                found = found or _unquoted(_SOMEBODY, quoted, start, end)
        elif number == 0 and not about_self and (chosen := _CHOOSES.match(text, start, end)):
            found = found or chosen.span()
        if found:
            return found
    return None


def _stranger(quoted: Quotations, start: int, end: int) -> Span | None:
    """Who acts in a sentence, at its beginning or behind a quotation, and is not the narrator."""
    places = [start, *(after for _, after in quoted.spans if start < after < end)]
    for found in (_STRANGER.match(quoted.text, place, end) for place in places):
        if found and (not found["name"] or found["name"].lower() in given_names()):
            return found.span()
    return _unquoted(_DONE_BY, quoted, start, end)


def _unquoted(pattern: re.Pattern[str], quoted: Quotations, start: int, end: int) -> Span | None:
    found = (each.span() for each in pattern.finditer(quoted.text, start, end))
    return next((span for span in found if quoted.around(span[0]) is None), None)
