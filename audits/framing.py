"""The frames of ``naming.toml``: what stands before a name and behind it, and words looked for round it."""

from __future__ import annotations

import functools
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from audits.names import Name
from audits.speech import PERSON

_FILE = Path(__file__).with_name("naming.toml")


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

    def holds(self, name: Name, before: str, after: str) -> bool:
        """Whether a name stands in the frame."""
        if not (name.given if self.needs == "given" else name.proper):
            return False
        behind = self._behind or compiled(self.after.replace("NAME", any_of(name)))
        return behind.match(after) is not None and self._ahead.search(before) is not None


def framed(when: str, name: Name, before: str, after: str) -> bool:
    """Whether a name stands in a frame of that kind."""
    return any(frame.holds(name, before, after) for frame in _frames(when))


def pattern(what: str) -> re.Pattern[str]:
    """What is looked for under that name."""
    return compiled(str(_data()[what]))


def says(what: str, *texts: str) -> bool:
    """Whether one of some texts has what is looked for under that name."""
    return any(map(pattern(what).search, texts))


def lines(what: str) -> list[str]:
    """The lines of what is avowed "near" a name, or only "far" from it."""
    return [f"(?i:{line})" for line in _data()["avowed"][what].strip().splitlines()]


def any_of(name: Name) -> str:
    """An expression for any word of a name."""
    return "(?:" + "|".join(map(re.escape, name.words)) + ")"


@functools.lru_cache(maxsize=1024)
def compiled(source: str) -> re.Pattern[str]:
    """An expression, compiled once."""
    return re.compile(source)


@functools.cache
def _frames(when: str) -> tuple[_Frame, ...]:
    """The frames of a kind; those with the same words behind the name are one."""
    every = _data()["frames"].items()
    return tuple(
        _Frame("|".join(before), f"(?i:{after})", needs) for (kind, needs, after), before in every if kind == when
    )


@functools.cache
def _data() -> dict[str, Any]:
    """``naming.toml``: frames, and what is looked for round them by name."""
    raw = tomllib.loads(_FILE.read_text("utf-8"))
    parts = {**raw["parts"], "person": PERSON, "reacts": raw["reactions"]["reacts"]}

    def full(line: str) -> str:
        return re.sub(r"\{([a-z]+)\}", lambda part: f"(?:{full(parts[part[1]])})", line)

    frames: dict[tuple[str, str, str], list[str]] = {}
    for entry in raw["frames"]:
        for line in entry["expressions"].strip().splitlines():
            before, after = full(line).split("NAME", 1)
            after = re.sub(r"^\\b", r"(?!\\w)", after)  # the slice behind a name has no edge
            frames.setdefault((entry["when"], entry["needs"], after), []).append(before)
    said = {k: "|".join(map(full, v)) if isinstance(v, list) else full(v) for k, v in raw["reactions"].items()}
    written = {k: f"(?i:{full(v)})" for k, v in raw["written"].items()}
    written["signs"] = rf"(?i:\b(?:{raw['written']['signs']})\b(?!['\u2019]| of it\b))"
    return {**said, **written, "avowed": raw["avowed"], "frames": frames}
