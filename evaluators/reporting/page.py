"""The page: chapters, style and script in one HTML file that needs nothing else.

A content security policy in the page forbids it to load anything, so that a report that is passed on
cannot call home. Without scripts everything but the browsing of single items is there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from pathlib import Path

from evaluators.reporting.parts import Chapter

_HERE = Path(__file__).parent
_KINDS = ("choice/questions.js", "dialogues/dialogues.js", "texts.js")


def page(chapters: Sequence[Chapter]) -> str:
    """The whole page; with several chapters an overview leads to each."""
    prefixes = [""] if len(chapters) == 1 else [f"chapter-{number}-" for number in range(1, len(chapters) + 1)]
    titles = list(dict.fromkeys(chapter.title for chapter in chapters))
    filled = {
        "title": escape(f"{', '.join(titles)}: evaluation"),
        "style": (_HERE / "page.css").read_text("utf-8"),
        "overview": "" if len(chapters) == 1 else _overview(chapters, prefixes),
        "chapters": "\n".join(_chapter(*one) for one in zip(chapters, prefixes, strict=True)),
        "script": _script(),
    }
    pieces = (_HERE / "page.html").read_text("utf-8").split("{{")
    return pieces[0] + "".join(filled[name] + rest for name, rest in (piece.split("}}", 1) for piece in pieces[1:]))


def _script() -> str:
    """The script, with what shows each kind of item in its place."""
    kinds = "\n".join((_HERE / file).read_text("utf-8") for file in _KINDS)
    return (_HERE / "page.js").read_text("utf-8").replace("{{kinds}}", kinds)


def _overview(chapters: Sequence[Chapter], prefixes: Sequence[str]) -> str:
    """What the page holds, a line a chapter."""
    lines = "".join(
        f'<li><a href="#{prefix}top">{escape(chapter.title)}</a> <span>{escape(chapter.about)}</span></li>'
        for chapter, prefix in zip(chapters, prefixes, strict=True)
    )
    return f'<nav class="overview" aria-label="Chapters"><ol>{lines}</ol></nav>'


def _chapter(chapter: Chapter, prefix: str) -> str:
    shown = [section for section in chapter.sections if section]
    links = "".join(f'<li><a href="#{prefix}{one.name}">{escape(one.title)}</a></li>' for one in shown)
    head = re.sub('href="#', f'href="#{prefix}', chapter.head)
    body = "\n".join(section.html(prefix) for section in shown)
    return (
        f'<article id="{prefix}top"><header><p class="eyebrow">{escape(chapter.about.capitalize())}</p>'
        f"<h1>{escape(chapter.title)}</h1>{head}"
        f'<nav aria-label="Sections of {escape(chapter.title)}"><ol>{links}</ol></nav></header>\n{body}</article>'
    )
