"""The frames of ``naming.toml``: what stands before a name and behind it, and words looked for round it."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from pathlib import Path

from audits.checks.identity.turns import WORDS as TALK
from audits.patterns.wording import Wording
from audits.text.names import Name

WORDS = Wording(Path(__file__).with_name("naming.toml"), with_words_of=TALK)

# The slice behind a name has no edge.
_EDGE = re.compile(r"^\\b")


@dataclass(frozen=True)
class _Frame:
    """What stands before a name and behind it."""

    before: str
    after: str
    needs: str

    @functools.cached_property
    def _ahead(self) -> re.Pattern[str]:
        return re.compile(f"(?:{self.before})$", re.IGNORECASE)

    @functools.cached_property
    def _behind(self) -> re.Pattern[str] | None:
        return None if "NAME" in self.after else re.compile(self.after)

    def holds(self, name: Name, before: str, after: str, loosely: bool) -> bool:
        """Whether a name stands in the frame; ``loosely`` a surname may, too, where a given name is needed."""
        if not (name.given if self.needs == "given" and not loosely else name.proper):
            return False
        behind = self._behind or compiled(self.after.replace("NAME", any_of(name)))
        return behind.match(after) is not None and self._ahead.search(before) is not None


def framed(when: str, name: Name, before: str, after: str, loosely: bool = False) -> bool:
    """Whether a name stands in a frame of that kind."""
    return any(frame.holds(name, before, after, loosely) for frame in _frames()[when])


def lines(what: str) -> list[str]:
    """The lines of what is avowed "near" a name, or only "far" from it."""
    return [f"(?i:{line})" for line in WORDS.data["avowed"][what].strip().splitlines()]


def any_of(name: Name) -> str:
    """An expression for any word of a name."""
    return "(?:" + "|".join(map(re.escape, name.words)) + ")"


@functools.lru_cache(maxsize=1024)
def compiled(source: str) -> re.Pattern[str]:
    """An expression, compiled once."""
    return re.compile(source)


@functools.cache
def _frames() -> dict[str, list[_Frame]]:
    """The frames by kind; those with the same words behind the name are one."""
    joined: dict[tuple[str, str, str], list[str]] = {}
    for entry in WORDS.data["frames"]:
        for line in entry["expressions"].strip().splitlines():
            before, after = WORDS.filled(line).split("NAME", 1)
            joined.setdefault((entry["when"], entry["needs"], _EDGE.sub(r"(?!\\w)", after)), []).append(before)
    frames: dict[str, list[_Frame]] = {}
    for (when, needs, after), ahead in joined.items():
        frames.setdefault(when, []).append(_Frame("|".join(ahead), f"(?i:{after})", needs))
    return frames
