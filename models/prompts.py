"""Prompts are text files: who they are, which parts are fixed, where the variables go.

    ---
    id: heart.memory
    version: 1
    ---
    <!-- fixed -->
    Rules that never change. A server may cache them.
    <!-- fixed -->
    What many requests share: {{character}}
    <!-- prompt -->
    What this one asks: {{plan}}

The front matter holds ``id`` and ``version``, nothing else. Parts begin at a line of their own:
``<!-- fixed -->`` parts are cached, from most to least shared, and come first; ``<!-- prompt -->`` is
the rest. A file without such lines is all prompt. A variable is ``{{name}}``; what is put in stands
as it is, braces in it too. A missing and an unused variable are errors: a prompt that silently
lost its plan is paid for, too. The digest is that of the file's text and is recorded with every row
written from it.
"""

from __future__ import annotations

import functools
import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from schemas.errors import RequestError

_FRONT = re.compile(r"---\n(?P<front>.*?)\n---\n(?P<body>.*)", re.DOTALL)
_PART = re.compile(r"^<!-- (fixed|prompt) -->\n", re.MULTILINE)
_VARIABLE = re.compile(r"\{\{([a-z][a-z0-9_]*)\}\}")


@dataclass(frozen=True)
class Rendered:
    """A prompt with its variables put in: what ``Request.fixed`` and ``Request.prompt`` want."""

    fixed: tuple[str, ...]
    prompt: str


@dataclass(frozen=True)
class Prompt:
    """A prompt file. ``text`` is what follows the front matter; ``digest`` is the SHA-256 of the whole file."""

    id: str
    version: int
    digest: str
    text: str
    path: Path

    @functools.cached_property
    def variables(self) -> tuple[str, ...]:
        """The names that ``render`` wants, in the order of their first use."""
        return tuple(dict.fromkeys(_VARIABLE.findall(self.text)))

    @functools.cached_property
    def parts(self) -> tuple[tuple[str, str], ...]:
        """The parts of the text, each with its kind: fixed ones, then the prompt."""
        return tuple(_parts(self.text))

    def render(self, **variables: object) -> Rendered:
        """Put the variables in. Raises RequestError, naming the file, for a missing or an unused one."""
        wanted = self.variables
        missing = [name for name in wanted if variables.get(name) is None]
        unused = sorted(set(variables) - set(wanted))
        if missing:
            raise self._wrong("missing variable", missing, "Give it a value, or take it out of the prompt")
        if unused:
            raise self._wrong("unused variable", unused, "Use it in the prompt, or don't pass it")
        fixed: list[str] = []
        prompt = ""
        for kind, text in self.parts:
            filled = _VARIABLE.sub(lambda found: str(variables[found[1]]), text).strip()
            if kind == "fixed":
                fixed.append(filled)
            else:
                prompt = filled
        return Rendered(tuple(fixed), prompt)

    def _wrong(self, what: str, names: list[str], fix: str) -> RequestError:
        return RequestError(what, self.path, field=", ".join(names), fix=fix)


@functools.cache
def load(path: Path) -> Prompt:
    """Read a prompt file. Raises RequestError, naming the file, for one that is missing or malformed."""
    try:
        whole = path.read_text("utf-8")
    except FileNotFoundError:
        raise RequestError("missing prompt", path, fix="Check the path") from None
    except UnicodeDecodeError:
        raise RequestError("prompt in another encoding", path, expected="UTF-8", fix="Save it as UTF-8") from None
    found = _FRONT.fullmatch(whole)
    if found is None:
        raise _malformed(path, "no front matter", "a first line ---, then id and version, then ---")
    front = _front(path, found["front"])
    _check_parts(path, found["body"])
    digest = hashlib.sha256(whole.encode()).hexdigest()
    return Prompt(front["id"], int(front["version"]), digest, found["body"], path)


def _front(path: Path, text: str) -> dict[str, str]:
    pairs = dict(line.split(": ", 1) for line in text.split("\n") if ": " in line)
    if set(pairs) != {"id", "version"} or len(text.split("\n")) != 2:
        raise _malformed(path, "malformed front matter", "the two lines `id: name` and `version: number`")
    if not re.fullmatch(r"[a-z][a-z0-9_.-]*", pairs["id"]):
        raise _malformed(path, f"malformed id {pairs['id']!r}", "lower-case letters, digits, dots and dashes")
    if not re.fullmatch(r"[1-9][0-9]*", pairs["version"]):
        raise _malformed(path, f"malformed version {pairs['version']!r}", "a whole number from 1")
    return pairs


def _parts(body: str) -> list[tuple[str, str]]:
    before, *marked = _PART.split(body)
    if not marked:
        return [("prompt", before)]
    return list(zip(marked[::2], marked[1::2], strict=True))


def _check_parts(path: Path, body: str) -> None:
    before = _PART.split(body)[0]
    parts = _parts(body)
    kinds = [kind for kind, _ in parts]
    if len(parts) > 1 and before.strip():
        raise _malformed(path, "text before the first part", "<!-- fixed --> or <!-- prompt --> first")
    if kinds.count("prompt") != 1 or kinds[-1] != "prompt":
        raise _malformed(path, "parts in another order", "<!-- fixed --> parts, then one <!-- prompt -->")
    if not all(text.strip() for _, text in parts):
        raise _malformed(path, "empty part", "text in every part")
    stray = re.search(r"\{\{(?![a-z][a-z0-9_]*\}\}).{0,20}", body)
    if stray:
        raise _malformed(path, f"malformed variable {stray[0]!r}", "{{name}} in lower case, without spaces")


def _malformed(path: Path, what: str, expected: str) -> RequestError:
    return RequestError(what, path, expected=expected, fix="Fix that file")
