"""Whether somebody says the protagonist's name: calls, salutations, roll-calls, introductions.

What the narrator says or shows of the name is in ``patterns/identity.named.toml``. Here is what needs to
know whose a name is: one that the narrator uses for somebody else is not the protagonist's, nor is one
in the ledger, nor one called out that another person answers to.

HEART-BENCH 3.2 (stage 3) and appendix G.2.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Collection, Iterator
from pathlib import Path

from audits.reading import Subject, at_words
from audits.speech import PERSON, Quotations
from schemas.findings import Finding

_WORDS = Path(__file__).parent / "patterns"
_SOURCE = "HEART-BENCH 3.2 (stage 3), G.2"
_FIELD = "content_full"
_AROUND = 140

_CAPITAL = re.compile(r"\b[A-Z\u00c0-\u00de]\w*(?:['\u2019-](?!s\b)\w+)*(?!,? that['\u2019]s me)")
_JOINT = re.compile(r"['\u2019-]")
_UPPER = "[A-Z\u00c0-\u00de\u0141\u0160\u017d]"
_NEUTRAL = (
    r"(?:Dr|Doctor|Prof|Professor|Nurse|Officer|Inspector|Sergeant|Captain|Coach|Chef|Pastor|Reverend|Private"
    r"|Corporal)\.?"
)
_TITLE = (
    rf"(?P<title>(?:Mr|Mrs|Ms|Mx|Mister|Miss|Herr|Frau|Fr\u00e4ulein|Se\u00f1or(?:a|ita)?|Monsieur|Madame"
    rf"|Mademoiselle|Madam|Signor(?:a|ina)?"
    rf"|Pan|Pani|Sir|Lady|Uncle|Auntie?)\.?|{_NEUTRAL})"
)
_FULL = rf"(?:{_TITLE} )?(?P<name>{_UPPER}[\w'\u2019-]{{1,20}})"
_GREETING = (
    r"(?:Hey|Hi|Hello|Hallo|Hiya|Good (?:morning|evening|night|afternoon|luck|job|work)|Goodnight|Goodbye"
    r"|Bye|Come on|Sorry"
    r"|Thanks|Thank you|Dear|My dear|Dearest|Well done|Welcome|Welcome (?:back|home)|Congratulations|Congrats|Bravo"
    r"|[Hh]appy [Bb]irthday|Wake up|Get up|Go|Cheers|Nice one|Night|Morning|Evening|Oi|Psst|Yo|Run|To|Poor"
    r"|Little|Sweet)"
)
_CALL = (
    rf"(?:(?:{_GREETING}|Oh|Ah|Well|Now|Yes|No|Okay|OK|But|And|So|Please|Listen|Look|Stop|Wait|Right|Quick"
    rf"|Enough|Damn it"
    r"|God|What|Ha|Ssh|Shh|Er|Um|Uh|Careful|Exactly|See|Of course|You know|dear|little|sweet|my dear),? ){0,3}"
)
_END = r"(?=(?: [A-Z\u00c0-\u00de][\w'\u2019-]{1,20}){0,2}(?:[,!?:;\u2014\u2026]|\.{2,3}| ?[\u2013-] ))"
_AT_START = re.compile(rf"\W{{0,3}}{_CALL}{_FULL}(?:{_END}|(?=[.!,] (?P=name)\b))")
_GREETED = re.compile(rf"\W{{0,3}}(?:\w+,? ){{0,2}}?{_GREETING},? (?:dear |little |old )?{_FULL}(?!\w)(?=[^\w]| [a-z])")
_LATER = re.compile(
    rf"[.!?\u2026] {_CALL}{_FULL}(?=(?: {_UPPER}[\w-]{{1,20}})?(?:!|\?|, (?:you|your|please|if|would|could"
    rf"|can|will|did|do|don['\u2019]t|are"
    r"|aren['\u2019]t|is it|what|where|when|how|why|who|come|look|listen|sit|stand|stop|let|get|go|give"
    r"|take|tell|put|bring|be|I|I['\u2019]\w+"
    r"|we|it['\u2019]s|that['\u2019]s|my|no|yes|not|dear|love)\b))"
)
_AT_END = re.compile(
    rf"(?:, |(?P<bare>\b)(?:[Yy]ou|[Tt]hanks|[Tt]hank you|[Mm]orning|[Nn]ight|[Bb]ye|[Bb]irthday|[Dd]one"
    rf"|[Oo]n|[Uu]p|[Oo]ver|[Hh]ere|[Hh]ome|[Nn]ow|[Ww]elcome) )"
    r"(?:(?:my dear(?:est)?|dear|little|poor|old|young|dearest|good old|sweet|my|our) )?"
    rf"{_FULL}(?<!\W)(?=(?: {_UPPER}[\w-]{{1,20}})?(?:[.!?\u2026,;\u2014-]{{1,3}}|\s?[\u2013-]\s"
    rf"|['\u2019\"\u201d\u00bb]|$)(?:[\s\"'\u201d\u2019\u00bb]|$))"
)
_ALONE = re.compile(
    rf"\W{{0,2}}(?:(?:[Nn]umber|[Nn]ext"
    rf"|[Rr]oom) ?\w*[,:.] )?"
    rf"(?:{_UPPER}[\w'\u2019-]+, )?{_FULL}(?: {_UPPER}[\w'\u2019-]*\.?){{0,3}}[.!?,\u2026\u2014\u2013-]{{0,3}}\W?$"
)
_PRESENTED = re.compile(
    r"\b(?:[Ii]s there an?|[Aa]ny|[Ii]s|[Aa]re you|(?:[Ll]ooking|[Aa]sking|[Pp]arcel|[Pp]ackage|[Ll]etter"
    r"|[Pp]ost|[Dd]elivery|[Oo]rder|[Cc]offee"
    r"|[Ll]atte|[Tt]ea|[Pp]rescription|[Tt]able|[Cc]all|[Mm]essage|[Ss]omething|one|[Oo]ne['\u2019]s"
    r"|[Ff]lowers|[Aa]pplause|[Hh]ands?|[Cc]heers?|[Tt]axi"
    r"|[Pp]ackage|[Tt]icket|[Rr]oom|[Kk]eys?|[Vv]isitors?|[Aa]ppointment|[Ss]peak|[Ss]peaking|[Tt]alking"
    r"|[Ww]ord|thanks|owe\w*|down|over|goes|go|back) "
    r"(?:for|to|with)|[Ff]or|[Tt]o|[Pp]aging|[Ww]ho(?:['\u2019]s| is)|[Ww]hich (?:one )?(?:of you )?is"
    r"|[Dd]oes|[Dd]id|[Ll]eave|[Ll]et|[Gg]ive|[Ww]ould|[Cc]ould|[Cc]an|[Ww]ill|[Cc]alling|[Ww]elcome"
    r"|winner is|prize,|place,|(?:is|are|was|were) called|named"
    r"|[Nn]ext(?: up)?(?: is| comes)?[:,]?|[Tt]his(?: one)? is|[Tt]his is (?:my|our|the) (?:[\w-]+ ){1,3}"
    r"|[Mm]eet|[Tt]hat(?:['\u2019]s| is| was)|[Ii]t(?:['\u2019]s| is| was)"
    r"|[Hh]ere(?:['\u2019]s| is| comes)|[Tt]here(?:['\u2019]s| is| goes)|[Pp]assenger|[Pp]atient"
    r"|[Cc]andidate|[Pp]layer|[Cc]lient|[Pp]upil|[Oo]ur(?: own)?|[Mm]y|[Ww]ith|[Tt]hanks to"
    r"|[Aa]sk|[Kk]now|[Bb]y|because of|[Aa]nd|[Ll]ike|[Tt]ake|[Bb]lame|see),? (?:(?:little|young|old|poor"
    r"|dear|the great|friend|colleague|neighbou?r|assistant|new \w+|partner),? )?"
    rf"{_FULL}(?![\w'\u2019])"
)
_TOLD = re.compile(
    rf"(?:^\W{{0,3}}|[.!?:;\u2014] |\b(?:[Ww]here|[Ii]f|[Tt]hat|[Bb]ecause|[Bb]ut|[Aa]nd|[Ss]o|[Hh]ow"
    rf"|[Ww]hen) )(?:(?:Our|Little|Poor|Old|Young|Dear|Good old|My|And|So|Even|Only|If|But|Ask|With|"
    rf"Clever|Look,?|See,?|Oh,?) )?{_FULL}(?: {_UPPER}[\w-]+)? (?:is|isn['\u2019]t|was|has|hasn['\u2019]t"
    rf"|had|did|didn['\u2019]t|does|doesn['\u2019]t|can|can['\u2019]t|could|will|won['\u2019]t|would"
    r"|knows?|here|there|over here|says?|said|always|never|just|started|broke|took|made|got|found|came"
    r"|went|wants?|likes?|needs?|speaks?|plays?|sings?|works?|paints?"
    r"|wrote|writes|won|lost|saved|helped|gave|saw|spilt|spilled|drew|and I\b|\w+ed\b|\w+s\b)"
)
_ASKED = re.compile(
    r"\b(?:(?:your|the) (?:\w+ )?name|\WName(?=\?)|[Ww]ho are you|[Ww]ho['\u2019]s (?:this|there|that|calling"
    r"|speaking)|[Ww]ho is (?:this|there|that|it|calling|speaking)|[Aa]nd you are"
    r"|[Ww]hat are you called|[Ww]hat (?:do|should|shall|can|may) (?:they|people|I|we"
    r"|your friends) call you)\b[^.?!]{0,30}[?.,]"
)
_ANSWERED = re.compile(
    rf"\W?(?:(?:I['\u2019]m|I am|It['\u2019]s|It is|Just|Er|Um|Uh"
    rf"|Yes),? )?{_FULL}(?: {_UPPER}[\w'\u2019-]{{1,20}})*(?:[.,!?\u2026]|\W$)"
)
_REACTS = (
    r"(?:turn(?:s|ed)?|look(?:s|ed) (?:up|round|around|over|back)|got up|g[eo]ts? up|stands?|stood"
    r"|r[oi]ses?|rais\w+|(?:put|puts|held|lifted|stuck|shot) (?:\w+ )?(?:my|his|her|their|a|up)"
    r"|nods?|nodded|answer(?:s|ed)?|jump(?:s|ed)|step(?:s|ped)|walk(?:s|ed)|went|goes|came|comes|ran|runs"
    r"|stopped|stops|froze|blush\w+|wav(?:ed|es)|straightened|sat up|shout(?:ed|s) back"
    r"|start(?:ed|s) crying|shook|took|takes|hurried|hid|duck(?:ed|s)|rush(?:ed|es)|climb(?:ed|s)"
    r"|follow(?:ed|s)|flinched|woke|bent|smil(?:ed|es)|grinned|laughed|cried|cringed|spun|bow(?:ed|s)|ate"
    r"|wagged|barked)"
)
_ANOTHER_REACTS = re.compile(
    r"(?:^|\b(?:and|but|while|until|when|then|so)\b|[;,:\u2014.]) (?:then |so )?(?:[Aa]|[Aa]n|[Tt]he|[Mm]y"
    r"|[Hh]is|[Hh]er|[Oo]ur|[Aa]nother|[Ss]ome|[Oo]ne of the)"
    rf"(?: [\w'\u2019-]+){{0,2}}? (?:{PERSON})\b(?: [\w'\u2019-]+){{0,9}}?,? (?:\w+ly )?(?:{_REACTS}\b"
    rf"|said [Ii]t was)(?!(?: \w+){{0,3}} (?:me|my)\b)"
    r"|\b(?:he|she|it) (?:came running|looked up|wagged|turned round|turned around)\b|\b(?:was"
    r"|were) (?:calling|shouting|talking|speaking) (?:to|for) (?!me)"
)
_I_REACT = re.compile(
    r"\bI said I was\b|"
    rf"\bI(?: had to| was already| was the one who|['\u2019]d| have| had| did)?(?: \w+ly| just| only| also"
    rf"| too| half)? (?:{_REACTS}|said (?:yes|here|present|that (?:was|it was) me|it was)|said, |signed"
    rf"|opened|picked|reached|pretend\w*|knew (?:he|she|they) meant"
    r"|didn['\u2019]t (?:turn|look|answer|move)|slid|sank|bowed|raise my|was (?:next|up|called|already)"
    r"|let (?:go|him|her)|pull\w+|open|push\w+|swallow\w+|mumbl\w+|whisper\w+|scrambl\w+|shuffl\w+"
    r"|dropp\w+|collect\w+|wip\w+|tuck\w+|counted|handed)"
    r"|\b(?:passed|handed|swung|moved|turned) (?:\w+ ){0,4}?(?:to|towards?|on) me\b|\b(?:that|it) (?:was"
    r"|is) (?:me|my turn)\b|\bthat['\u2019]s me\b|\bme(?:ant|aning) me\b|\b(?:turned|looked|staring|stared"
    r"|eyes) (?:\w+ ){0,3}(?:at|to|towards?|on) me\b|\bmy (?:turn|cheeks|ears|face|hand|heart|name|legs"
    r"|knees)\b|\b(?:stopped|turned) me\b"
)
_I_ANSWER = re.compile(
    r"(?:,|\band|\bso|;) I (?:\w+ly |just |only )?(?:turned (?:round|around)|looked (?:up|round|around)"
    r"|stood|got up|rais\w+ (?:my|a)|put (?:up )?(?:my|a) hand|lifted my"
    r"|nodded|answered|said (?:yes|here|present|that was me|it was me)|jumped|stepped forward|shot up"
    r"|hurried|needed a (?:second|moment)|\w+ed back)"
)
_TITLED = re.compile(r"\b(?:heard|hear|learn\w*|sang|sing\w*|play\w*|read|song|hymn|poem|book|film|ship|boat|pub) $")
_YOU_ARE = re.compile(
    rf"\b(?:[Yy]ou must be|[Yy]ou(?:['\u2019]re| are)|[Aa]re you|[Yy]ou['\u2019]ll be|[Ii]s that you,"
    rf"|[Nn]ot) {_FULL}(?!\w)"
)
_LOOKING = re.compile(
    r"\b(?:look|star|glanc|peer|smil)(?:ed|ing|es|s) (?:\w+ ){0,2}?(?:at|towards?) me\b|\b(?:between"
    r"|in front of|beside) me\b"
    r"|\beyes on me\b"
)
_YOUNG = re.compile(rf"\W?(?:[Yy]oung|[Ll]ittle|[Oo]ld|[Bb]ig|[Oo]ur|[Gg]ood old) {_FULL}")
_CALLED_ME = re.compile(r"\bcall(?:s|ed) me\b(?! (?:over|back|in|on|at|from|to|up|out)\b)")
_READ_OUT = re.compile(
    rf"\b(?:mispronounc\w+|stumbled over|read out|called out|barked|announced|paged) {_FULL}\b[^.!?\n]{{0,60}}?"
    rf"\b(?:and|so) I (?:\w+ly )?(?:{_REACTS})"
)
_MINE = re.compile(
    r"\b(?:my|[Mm]y) (?:[\w-]+ ){0,2}(?:report|letter|desk|mirror|wiper|windscreen|phone|inbox|voicemail"
    r"|screen|locker|door|mailbox|letterbox|essay|contract|file|review|evaluation|reference|testimonial"
    r"|diploma|certificate"
    r"|passport|licence|license|card|papers?|form|application|ticket|pigeonhole|pillow|plate|lunch ?box"
    r"|bag|pocket|coat|notebook|book|photo|picture|painting|drawing|portrait|birthday|cake|cheek|head"
    r"|shoulder|hair|medal|trophy|answerphone|machine|profile|chart|x-?ray|test)\b"
)

_SIGN = re.compile(
    r"\b(?:badge|name ?tag|tag|label|sticker|place ?cards?|passport|certificate|diploma|list|register|roll"
    r"|rota|timetable|scoreboard|programme|caption|envelope|parcel|package|packet|letter"
    r"|postcard|card|cake|icing|banner|mug|cup|bracelet|wristband|cast|jersey|shirt|coat|collar|desk"
    r"|locker|door|bench|wall|blackboard|whiteboard|screen|sash|medal|trophy|ticket|contract|payslip"
    r"|folder|file"
    r"|form|note|notice|memo|e-?mail|message|subject line|invitation|plate|plaque|bell|doorbell"
    r"|letter ?box|mailbox|peg|hook|stocking|towel|bib|report|prescription|chart|receipt"
    r"|loudspeakers?|tannoy|roll-?call|announcement|photo|programme)\b(?!['\u2019]| of it\b)",
    re.IGNORECASE,
)
_WROTE = re.compile(
    r"[:\u2014\u2013=\"'\u201c\u2018]|\b(?:said|says|reads?|bore|bears|spel(?:t|led)|wr(?:ote|itten)"
    r"|printed|typed|stitched|embroidered|engraved|carved|scratched|painted|stamped|sewn|iced|piped"
    r"|addressed|labell?ed"
    r"|marked|inscribed|scribbled|scrawled|chalked|captioned|drawn|made out|announce\w*|listed|gave"
    r"|letters|capitals)\b",
    re.IGNORECASE,
)
_WORD = re.compile(
    rf"\b(?:{_TITLE} )?(?P<initial>{_UPPER}\. ?)?(?P<name>{_UPPER}[\w-]+)\b(?!['\u2019](?:t|d|ll|ve|m|re)\b)"
)
_JOINED = re.compile(
    r"(?:[:\u2014\u2013=] ?[\"'\u201c\u2018]?|[ (][\"'\u201c\u2018]|[\"'\u201c\u2018](?:[\w.,']+ ){1,4}"
    r"|(?:said|says|reads?|bore|bears|spel(?:t|led)|written|printed|typed|stitched"
    r"|embroidered|engraved|carved|scratched|painted|stamped|sewn|iced|piped|labell?ed|marked|inscribed"
    r"|scribbled|scrawled|chalked|captioned|letters,|capitals,|(?:addressed|made out) to|plate with|said To"
    r"|place by the door with)[ ][\"'\u201c\u2018]?)$"
)
_OWNED = re.compile(
    r"\b(?:his|her|their|our|your|its|whose|somebody['\u2019]s|\w+['\u2019]s"
    r"|\w+s['\u2019]) (?:[\w-]+ ){0,2}$|\b(?:dog|cat|horse|grave|war|shop|street)\b[^.!?]*$",
    re.IGNORECASE,
)
_ANOTHERS = re.compile(
    rf"\b(?:hers|his|her|him|theirs|their|previous|former|heard|learning|learnt|singing|sang|note of"
    rf"|there was|of the|of my|signed|(?:my|the|a|his"
    rf"|her) (?:\w+ )?(?:{PERSON}) (?:wrote|put|had|was|got|signed|stood|pinned|hung|opened|took)"
    rf"|(?:with|by|from|for|and|about|that|where|when|of|beside|near|than|without) {_UPPER}\w+$)\b|\w, $"
    rf"|\b(?:ring|call|phone|ask|tell|see|meet|email|text|visit|pay|thank|love from|from|for) $",
    re.IGNORECASE,
)
_HERS = re.compile(rf"\b(?:his|hers?|him|theirs?|them|{PERSON})\b", re.IGNORECASE)
_FIRST = re.compile(r"\b(?:I|[Mm]y|me|mine|[Mm]yself)\b")
_REACH = 130
_PLAIN = (
    r"(?: (?!called\b|because|when|while|until|and\b|but\b|so\b|that\b|than|from|by\b|near|next|after|before"
    r"|for\b|beside|under)[a-z'\u2019-]+)"
)
_LINK = (
    rf"{_PLAIN}{{0,9}}?(?:[,:\u2014\u2013-]+ ?| ?[\u2014\u2013] | (?:as|like|with|to|into|is|was|it|them) (?:just "
    rf"|only |simply |plain )?)[\"'\u201c\u2018(]?(?:{_UPPER}[\w.]* )?(?:{_UPPER}[\w-]+, )?"
)
_CUES = (
    (
        re.compile(
            r"\b[Mm]y (?:(?:own|full|first|last|middle|given|family|real|old|new) )?(?:name|surname"
            r"|signature|initials|nickname)\b"
        ),
        re.compile(_LINK),
    ),
    (
        re.compile(
            r"\b(?:I(?:['\u2019]d| had| have|['\u2019]ve)? (?:\w+ly |just |always )?sign(?:ed)?|introduc\w+ myself)\b"
        ),
        re.compile(_LINK),
    ),
    (
        re.compile(
            r"\bthere I (?:was|am|stood)\b|\bI found (?:it|mine|myself|my name)\b|\bthere it (?:was|stood"
            r"|is)\b|\bmine (?:was|came|stood|read)\b"
        ),
        re.compile(
            rf"[^.!?\n]{{0,70}}?[:\u2014\u2013] ?(?:\w+ [\u2014\u2013-] )?[\"'\u201c\u2018]?(?:{_UPPER}[\w-]+, )?"
        ),
    ),
)
_MEANT = re.compile(r"\b(?:mean(?:ing|t)|which is|which was|that is|namely|or rather|I mean) me\b(?! (?:to|that))")
_CAPITALS = re.compile(rf"(?<!{_UPPER} )\b(?P<name>{_UPPER}{{3,}}(?:-{_UPPER}+)?)\b(?! (?:ROAD|STREET|DRAINS|BOX|GO))")


_OTHERWISE = re.compile(
    r"['\u2019]s\b|,? (?:now |then |just |only )?(?:\w+ed|reads?|writes|has|sang|thought|ran|took|gave|had)\b|"
    r"(?: in an? \w+ mood\b|['\u2019]s (?:coat|bag|book|house|room|mother|father|birthday|name|writing"
    r"|hand\w*|voice|number"
    r"|phone)|,? (?:said|says|asked|told|did|had|has|was|were|is|wrote|put|left|gave|came|went|looked|knew"
    r"|stood|sat)\b"
    r"|,? (?:from|who|where|on the corner|street|road|school|hospital|&)\b|,? and (?:[A-Z](?!\b)|his|her)\b)"
)


def audit(subject: Subject, quoted: Quotations, others: Collection[str]) -> Iterator[Finding]:
    """Names and titles of the protagonist that stand in quotations; ``others`` are names of people of the ledger."""
    for number in range(len(quoted.spans)):
        for found in _of_quotation(quoted, number, others):
            start = quoted.spans[number][0] + 1
            title = found["title"]
            place = (start + found.start("name"), start + found.end("name"))
            yield at_words(subject, "identity.named", "error", _FIELD, place, "somebody names the protagonist", _SOURCE)
            if title and not re.fullmatch(_NEUTRAL, title) and not quoted.mine(number):
                place = (start + found.start("title"), place[1])
                message = "somebody calls the protagonist by a title for one gender"
                yield at_words(subject, "identity.gendered", "error", _FIELD, place, message, _SOURCE)
    for found in (*_inscriptions(quoted, others), *_in_capitals(quoted, others), *_told_by_me(quoted, others)):
        message = "the name of the protagonist is written or called out"
        yield at_words(subject, "identity.named", "error", _FIELD, found.span("name"), message, _SOURCE)


def _inscriptions(quoted: Quotations, others: Collection[str]) -> Iterator[re.Match[str]]:
    """Names that stand only once in the text, on something beside words of the first person."""
    text, done = quoted.text, 0
    for sign in _SIGN.finditer(text):
        limit = text.find("\n", sign.end())
        end = min(sign.end() + _REACH, limit if limit >= 0 else len(text))
        for found in _WORD.finditer(text, max(done, sign.end())):
            name = found["name"]
            if found.start() >= end:
                break
            if not _is_written(found) or name in others or len(re.findall(rf"\b{name}\b(?! {_UPPER})", text)) > 1:
                continue
            if _is_mine(quoted, sign, found):
                yield found
                done = found.end()
                break


def _is_written(found: re.Match[str]) -> bool:
    """Whether a written word is a name: a given name, or behind a title or an initial."""
    return is_given_name(found["name"]) or found["title"] is not None or found["initial"] is not None


def _in_capitals(quoted: Quotations, others: Collection[str]) -> Iterator[re.Match[str]]:
    """Names in capitals with a thing to write on and words of the first person round them."""
    for found in _CAPITALS.finditer(quoted.text):
        name, (start, end) = found["name"], found.span()
        if (
            not is_given_name(name)
            or name.title() in others
            or name.title() in _told_of(quoted)
            or "marked " in quoted.text[max(0, found.start() - 8) : found.start()]
        ):
            continue
        before = re.split(r"[.!?\n]", quoted.text[max(0, start - 160) : start])[-1]
        after = quoted.text[end : end + 100].split("\n")[0]
        around = before[-60:] + "," + re.split(r"[.!?]", after)[0][:40]
        mine = _SIGN.search(before + "," + after) and _FIRST.search(before + "," + after)
        if mine and not _OWNED.search(before) and not _HERS.search(around):
            yield found


def _told_by_me(quoted: Quotations, others: Collection[str]) -> Iterator[re.Match[str]]:
    """Names that the narrator tells: "my name on it, Katya", "I signed as I always do, Katya"."""
    text = quoted.text
    for cue, link in _CUES:
        for told in cue.finditer(text):
            spoken = quoted.around(told.start())
            if spoken is not None and not quoted.mine(spoken):
                continue
            for found in _WORD.finditer(text, told.end(), told.end() + 90):
                if not is_given_name(found["name"]):
                    continue
                if (
                    link.fullmatch(text, told.end(), found.start())
                    and not _OTHERWISE.match(text, found.end())
                    and found["name"] not in others
                ):
                    yield found
                break
    yield from (found for found in _READ_OUT.finditer(text) if _is_name(text, found) and found["name"] not in others)
    for told in _MEANT.finditer(text):
        before = re.split(r"[.!?\n\"\u201c\u201d]", text[max(0, told.start() - 60) : told.start()])[-1]
        if any(is_given_name(word["name"]) for word in _WORD.finditer(before)):
            yield from (
                word
                for word in _WORD.finditer(text, told.start() - len(before), told.start())
                if is_given_name(word["name"])
            )


def _is_mine(quoted: Quotations, sign: re.Match[str], found: re.Match[str]) -> bool:
    """Whether what is written there is evidently of the narrator."""
    text = quoted.text
    before = re.split(r"[.!?\n]", text[max(0, sign.start() - 60) : sign.start()])[-1]
    between, after = text[sign.end() : found.start()], text[found.end() : found.end() + 90].split("\n")[0]
    spoken = quoted.around(sign.start())
    if spoken is not None and spoken != quoted.around(found.start()):
        return False
    if not (_JOINED.search(between) or (found["name"].isupper() and _WROTE.search(between))) or re.search(
        r"[.!?][\"\u201d]? [\"\u201c]?[A-Z]?$|[.!?][\"\u201d]? [\"\u201c]?[A-Z]", between
    ):
        return False
    if (
        _OWNED.search(before)
        or _ANOTHERS.search(between)
        or _OTHERWISE.match(after)
        or re.search(r"\b[Mm]y (?:\w+ )?(?:" + PERSON + r")\b[^.!?]*$", before)
    ):
        return False
    number = quoted.around(found.start())
    if number is not None and (quoted.to_another(number) or _told(quoted, number)):
        return False
    return _FIRST.search(before + between + after) is not None and _ANOTHER_REACTS.search(after) is None


def _told(quoted: Quotations, number: int) -> bool:
    """Whether a quotation is spoken, and not written."""
    return (
        re.match(
            r"\W*(?:\w+ ){0,3}(?:said|asked|called|shouted|told|says|whispered|cried|added)\b", quoted.beside(number)[1]
        )
        is not None
    )


def _of_quotation(quoted: Quotations, number: int, others: Collection[str]) -> Iterator[re.Match[str]]:
    start, end = quoted.spans[number]
    body = quoted.text[start + 1 : end]
    if _CAPITAL.search(body) is None:
        return
    done: set[int] = set()
    for found in _said(quoted, number, body):
        name = found["name"].rstrip("'\u2019-")
        if found.start("name") in done or name in others or name in _told_of(quoted):
            continue
        done.add(found.start("name"))
        yield found


def _said(quoted: Quotations, number: int, body: str) -> Iterator[re.Match[str]]:
    """What may be the protagonist's name in a quotation, given who says it to whom and what comes of it."""
    if quoted.mine(number):
        if number and _is_answer(quoted, number) and (found := _ANSWERED.match(body)) and _is_name(body, found):
            yield found
        if re.search(r"\bmyself\b", " ".join(quoted.beside(number))):
            yield from _calls(body, False)
        return
    before, after = _around(quoted, number)
    if _TITLED.search(before):
        return
    another = _ANOTHER_REACTS.search(after) is not None
    reacts = not another and _I_REACT.search(after) is not None
    answers = not another and _I_ANSWER.search(after) is not None
    if not another and not quoted.to_another(number):
        yield from _calls(body, answers)
        if reacts and (found := _ALONE.match(body)) and (_is_given(found) or (answers and _is_name(body, found))):
            yield found
    of_me = quoted.of_me(number) or any(map(_LOOKING.search, quoted.beside(number)))
    shown = of_me or (not another and _MINE.search(before) is not None)
    if not another:
        yield from (found for found in _YOU_ARE.finditer(body) if _is_given(found) or found["title"])
    if (
        _CALLED_ME.search(after)
        and (found := _ALONE.match(body.rstrip(",.")) or _YOUNG.match(body))
        and _is_name(body, found)
    ):
        yield found
    if reacts or shown:
        yield from (found for found in _PRESENTED.finditer(body) if _is_given(found) or found["title"])
    if shown:
        yield from (found for found in _TOLD.finditer(body) if _is_given(found) or found["title"])


def _calls(body: str, answers: bool) -> Iterator[re.Match[str]]:
    first = _AT_START.match(body)
    if first and (
        first["title"]
        or _is_given(first)
        or (answers and first.end() < len(body) and body[first.end()] in "!?" and _is_name(body, first))
    ):
        yield first
    greeted = _GREETED.match(body)
    if greeted and _is_name(body, greeted):
        yield greeted
    yield from (found for found in _LATER.finditer(body) if found["title"] or _is_given(found))
    for found in _AT_END.finditer(body):
        if _is_given(found) if found["bare"] is not None else _is_name(body, found):
            yield found


def _around(quoted: Quotations, number: int) -> tuple[str, str]:
    """What the narrator says before and after a quotation, over the end of the sentence."""
    start, end = quoted.spans[number]
    low = quoted.spans[number - 1][1] if number else 0
    high = quoted.spans[number + 1][0] if number + 1 < len(quoted.spans) else len(quoted.text)
    before, after = quoted.text[max(low, start - _AROUND) : start], quoted.text[end : min(high, end + _AROUND)]
    return before.rsplit("\n", 1)[-1], after.split("\n", 1)[0]


def _is_answer(quoted: Quotations, number: int) -> bool:
    """ "And you are?" - "Emil," I said."""
    before, answer = quoted.spans[number - 1], quoted.spans[number]
    return _ASKED.search(quoted.text, before[0], answer[0]) is not None


def _is_given(found: re.Match[str]) -> bool:
    return is_given_name(found["name"])


def is_given_name(word: str) -> bool:
    """Whether a word, in whatever case and with or without accents, is a given name that is no common word."""
    word = word.rstrip("'\u2019-").lower()
    if word in _listed("not_names") or word.endswith(("'s", "\u2019s")):
        return False
    names = _listed("given_names")
    return word in names or _plain(word) in names or _JOINT.split(word)[0] in names


def _is_name(body: str, found: re.Match[str]) -> bool:
    name = found["name"].rstrip("'\u2019-").lower()
    if (
        name in _listed("not_names")
        or name.endswith(("'s", "\u2019s"))
        or (found["name"].isupper() and not _is_given(found))
    ):
        return False
    if _is_given(found) or found["title"]:
        return True
    # "in Paris, France", "Anna, Xan and Leo": after a comma behind another capital it is a place or a list.
    before = body[: found.start()].rsplit(" ", 1)[-1].strip("\"'\u201c\u2018")
    return not before[:1].isupper() or before.lower() in _listed("not_names")


def _told_of(quoted: Quotations) -> frozenset[str]:
    """The names (all words with a capital) that the narrator uses, which are those of others."""
    return _capitals(quoted.outside())


@functools.lru_cache(maxsize=4)
def _capitals(text: str) -> frozenset[str]:
    return frozenset(part for word in _CAPITAL.findall(text) for part in (word, *_JOINT.split(word)))


@functools.cache
def _listed(name: str) -> frozenset[str]:
    words = (_WORDS / f"{name}.txt").read_text("utf-8").lower().split()
    return frozenset(words) | frozenset(map(_plain, words))


def _plain(word: str) -> str:
    return "".join(sign for sign in unicodedata.normalize("NFD", word) if not unicodedata.combining(sign))
