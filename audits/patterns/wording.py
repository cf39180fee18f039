"""Words and expressions that stand in TOML beside the code that looks for them.

``[words]`` are alternatives: a list, or a text with ``|`` between them, which may begin a line. ``[expressions]`` are
expressions, or lists of which any may match; those of ``[in_any_case]`` ignore case. ``{name}`` in an expression, or
among words, stands for the words of that name, of this file or of the one it is read ``with_words_of``.

    WORDS = Wording(Path(__file__).with_suffix(".toml"), with_words_of=scenes.WORDS)
    WORDS.says("my_child", before, after)
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_PART = re.compile(r"\{([a-z_]+)\}")


class Wording:
    """The words and expressions of a TOML file; what is asked for is compiled once."""

    def __init__(self, path: Path, with_words_of: Wording | None = None) -> None:
        self.data: Mapping[str, Any] = tomllib.loads(path.read_text("utf-8"))
        own = {name: _alternatives(words) for name, words in self.data.get("words", {}).items()}
        self.words: Mapping[str, str] = {**(with_words_of.words if with_words_of else {}), **own}
        self._compiled: dict[str, re.Pattern[str]] = {}

    def __getitem__(self, name: str) -> re.Pattern[str]:
        """The expression of a name, or what any of its list finds."""
        known = self._compiled.get(name)
        if known is None:
            blind = name in self.data.get("in_any_case", ())
            source = self.data["in_any_case" if blind else "expressions"][name]
            every = [source] if isinstance(source, str) else source
            known = self._compiled[name] = self.made("|".join(every), re.IGNORECASE if blind else 0)
        return known

    def says(self, name: str, *texts: str) -> bool:
        """Whether one of some texts has what is looked for under a name."""
        return any(map(self[name].search, texts))

    def made(self, source: str, flags: int = 0) -> re.Pattern[str]:
        """An expression with its words filled in, compiled."""
        return re.compile(self.filled(source), flags)

    def filled(self, source: str) -> str:
        """An expression with its words for ``{name}``."""
        return _PART.sub(lambda part: f"(?:{self.filled(self.words[part[1]])})", source)


def _alternatives(words: str | list[str]) -> str:
    return words.replace("\n", "") if isinstance(words, str) else "|".join(words)
