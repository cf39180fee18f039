"""The released files of atomic persona fidelity: responses split into sentences, scores, figures.

    results/<model>/<task>/<dimension>/<level>/persona_<dimension>_<level>_<prompt>_<time>.json
    atomic_scores/<model>/<task>/<dimension>/<level>/atomic_scores.txt
    fidelity_scores/<model>/<task>/<dimension>/<level>/fidelity_scores.json

Scores are a Python literal, one list an iteration, question and sentence; iterations are in the order in which files
happened to be listed and cannot be matched to prompts, and no figure depends on it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from evaluators.scoring.fidelity import LEVELS
from schemas.errors import RequestError, unknown

RESULTS, SCORES, FIGURES = "results", "atomic_scores", "fidelity_scores"
TASKS = ("essay", "questionnaire", "smp")
DIMENSIONS = ("O", "C", "E", "A", "N")

_FILE = re.compile(r"persona_[OCEAN]_[a-z]+_(\d+)_[\d-]+\.json")
_VALID = "1 to 5, 9, 99 or 999"
_CHECK = "Check that these are the released files"


@dataclass(frozen=True)
class Setting:
    """Whose files these are."""

    model: str
    task: str
    dimension: str
    level: str

    @property
    def name(self) -> str:
        """Model, task, dimension and level, as in the path."""
        return "/".join((self.model, self.task, self.dimension, self.level))


@dataclass(frozen=True)
class Response:
    """One answer to one question; ``sentences`` as the authors split it."""

    setting: Setting
    prompt: str
    probe: str
    question: str | None
    text: str
    sentences: tuple[str, ...]


def settings_of(folder: Path, kind: str) -> list[tuple[Setting, Path]]:
    """The settings that a folder has files of a kind for, with their folders, in order of name.

    Raises RequestError for a folder without any and for a path that names no task, dimension or level.
    """
    found = []
    for path in sorted((folder / kind).glob("*/*/*/*")):
        model, task, dimension, level = path.relative_to(folder / kind).parts
        level = "neutral" if level == "medium" else level
        for name, value, known in (
            ("task", task, TASKS),
            ("dimension", dimension, DIMENSIONS),
            ("level", level, LEVELS),
        ):
            if value not in known:
                raise unknown(name, value, known, path)
        found.append((Setting(model, task, dimension, level), path))
    if not found:
        raise RequestError("no released files", folder / kind, fix="Name the folder that holds results, atomic_scores")
    return found


def responses(folder: Path) -> Iterator[Response]:
    """All released responses, in order of setting, prompt and question."""
    for setting, path in settings_of(folder, RESULTS):
        for file in sorted(path.glob("*.json")):
            named = _FILE.fullmatch(file.name)
            if named is None:
                raise RequestError("unknown file", file, expected="persona_<dimension>_<level>_<prompt>_<time>.json")
            for probe, item in _json(file).items():
                yield _response(setting, named[1], str(probe), item, file)


def scores(path: Path) -> list[list[list[int]]]:
    """The scores of a setting: iteration, question, sentence. Raises RequestError for what is no such list."""
    file = path / "atomic_scores.txt"
    try:
        found = ast.literal_eval(file.read_text("utf-8"))
    except FileNotFoundError:
        raise RequestError("missing file", file, fix=_CHECK) from None
    except (ValueError, SyntaxError, UnicodeDecodeError) as error:
        raise RequestError("no Python literal", file, expected=str(error), fix=_CHECK) from None
    for run, questions in enumerate(_list(found, file, "iterations")):
        for probe, sentences in enumerate(_list(questions, file, f"iteration {run}")):
            for place, score in enumerate(_list(sentences, file, f"iteration {run}, question {probe}")):
                if type(score) is not int or score not in (1, 2, 3, 4, 5, 9, 99, 999):
                    where = f"{run}/{probe}/{place}"
                    raise RequestError(f"score {score!r}", file, row=where, expected=_VALID, fix=_CHECK)
    return found  # type: ignore[no-any-return]


def figures(path: Path) -> dict[str, float]:
    """The released figures of a setting."""
    document = _json(path / "fidelity_scores.json")
    for name, value in document.items():
        if not isinstance(value, float | int) or isinstance(value, bool):
            raise RequestError(f"figure {value!r}", path / "fidelity_scores.json", field=name, expected="a number")
    return document


def _response(setting: Setting, prompt: str, probe: str, item: Any, file: Path) -> Response:
    try:
        text, sentences = item["raw_response"], item["atomic_response"]
    except (KeyError, TypeError):
        expected = "raw_response and atomic_response"
        raise RequestError("malformed response", file, row=probe, expected=expected, fix=_CHECK) from None
    if not isinstance(text, str) or not isinstance(sentences, list) or not all(isinstance(s, str) for s in sentences):
        raise RequestError("malformed response", file, row=probe, expected="a text and a list of texts", fix=_CHECK)
    return Response(setting, prompt, probe, item.get("question"), text, tuple(sentences))


def _json(file: Path) -> dict[str, Any]:
    try:
        found = orjson.loads(file.read_bytes())
    except FileNotFoundError:
        raise RequestError("missing file", file, fix=_CHECK) from None
    except orjson.JSONDecodeError as error:
        raise RequestError("malformed JSON", file, expected=str(error), fix=_CHECK) from None
    if not isinstance(found, dict):
        raise RequestError("not an object", file, expected="one JSON object", fix=_CHECK)
    return found


def _list(value: Any, file: Path, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise RequestError("no list", file, row=where, expected="lists of lists of scores", fix=_CHECK)
    return value
