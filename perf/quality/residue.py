"""Traces a composer leaves in a text: slots, doubled words, wrong articles, unbalanced quotes, small letters.

HEART-BENCH appendix B.4 (natural language). Counted over all memories by

    python -m perf.quality.text_quality
"""

from __future__ import annotations

import re

# Words that may follow themselves.
_TWICE = (
    "had|that|is|so|again|very|no|yes|sorry|wait|please|round|well|look|here|you|it|dear"
    "|beep|tap|drip|bump|knock|thump|clack|click|drop|tick|la|ha|ding|honk|ping|tut|hush|there|now|ever|her|blah|not|chunk|swish|pop|plop|bang|ring"
)
_RESIDUE = {
    "slot": re.compile(r"[{}\[\]|\ue000\ue001]|<|>"),
    "space": re.compile(r"  | [,.;:?!]|\n\n\n"),
    "article": re.compile(r"\b[Aa] (?=[aeio]\w)(?!(?:one|once|eu\w+)\b)|\b[Aa]n (?=[bcdfgjklmnpqrstvwxyz][a-z])"),
    "doubled": re.compile(rf"(?<![\w-])(?!(?:{_TWICE})\b)([a-z]{{2,}}) \1\b"),
    "stops": re.compile(r"(?<!\.)\.\.(?!\.)|[,;:]\.|\?\?|[?!]\.|,,"),
    "lower": re.compile(r"(?:^|(?<!\d)(?<!\b[A-Z])(?<!\.\.)[.!?] |\n)[a-z]"),
}  # fmt: skip


def residue(text: str) -> list[str]:
    """What a composer left behind: kind and place of each trace."""
    found = [
        f"{kind}: {text[max(0, hit.start() - 25) : hit.end() + 25]!r}"
        for kind, pattern in _RESIDUE.items()
        for hit in pattern.finditer(text)
    ]
    for paragraph in text.split("\n\n"):
        if paragraph.count('"') % 2 or paragraph.count("\u201c") != paragraph.count("\u201d"):
            found.append(f"quotes: {paragraph[:60]!r}")
        if not paragraph.rstrip('"\u201d)').endswith((".", "!", "?", "\u2026")):
            found.append(f"end: {paragraph[-40:]!r}")
    return found
