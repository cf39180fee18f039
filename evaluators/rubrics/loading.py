"""Rubrics from their files: what is judged, on which scale, from which text, and how scores become a figure.

    evaluators/rubrics/<benchmark>/<name>.toml     (or any file, with --rubric)

A rubric is one call to a judge and gives one score or several (``[[scores]]``) on one scale. An unknown key, a level
that is missing or a scale that is none is one line with the file, the field and the nearest name.
docs/evaluation.md has the keys.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evaluators.rubrics.terms import digest_of, scores_of
from evaluators.scoring.metrics import KINDS, LISTS, METHODS, UNITS, Aggregation, Metric, Scale, UnitName
from schemas.errors import RequestError, unknown

FOLDER = Path(__file__).parent

_TOP = {
    "id": str,
    "version": int,
    "unit": str,
    "protocols": list,
    "stated": str,
    "released": str,
    "headline": int,
    "instructions": str,
    "max_tokens": int,
    "evidence": str,
    "scale": dict,
    "not_applicable": dict,
    "sees": list,
    "scores": list,
    "terms": str,
    "words": dict,
    "composites": list,
    "aggregation": dict,
}
_REQUIRED = ("id", "version", "unit", "instructions", "scale", "sees")
_SCALE = {"kind": str, "least": int, "most": int, "labels": list, "levels": dict}
_NA = {"when": str, "aliases": list}
_SEES = {"field": str, "heading": str}
_SCORE = {"name": str, "asks": str, "levels": dict, "aliases": list, "not_applicable": str}
_WORDS = {"gold": str, "answer": str}
_COMPOSITE = {"name": str, "of": list, "over": int}
_AGGREGATION = {
    "method": str,
    "within": list,
    "clusters": list,
    "by": list,
    "sets": list,
    "target": str,
    "only": list,
    "series": str,
    "segments": list,
}
VARIABLE = re.compile(r"\{\{([a-z][a-z0-9_]*)\}\}")
"""A field of the item in the words of a rubric."""

_NAME = re.compile(r"[a-z][a-z0-9_]*")
_CORRECT = "Correct the rubric"
_ROOM = 512


@dataclass(frozen=True)
class Part:
    """One score of a rubric. ``levels`` has words for each value; ``not_applicable`` says when it has no value."""

    name: str
    asks: str
    levels: Mapping[str, str]
    aliases: tuple[str, ...]
    not_applicable: str | None


@dataclass(frozen=True, eq=False)  # one object a file, so that what follows from it alone is made once
class Rubric:
    """A rubric file.

    ``sees`` are the fields that reach the judge, with their headings; ``evidence`` names the one that a quotation must
    occur in; ``words`` the fields that the offline judge ``words`` compares, ``stated`` the field in which an answer
    states its own score, ``released`` what the released judge of its benchmark scores alike. ``protocols`` are those
    whose answers it judges, empty for any; ``composites`` are metrics made of several scores of an item. Runs are
    ranked by the rubric of the highest ``headline``.
    """

    id: str
    version: int
    unit: UnitName
    protocols: tuple[str, ...]
    stated: str | None
    released: str | None
    headline: int
    instructions: str
    scale: Scale
    parts: tuple[Part, ...]
    sees: tuple[tuple[str, str], ...]
    evidence: str | None
    na_aliases: tuple[str, ...]
    words: Mapping[str, str] | None
    aggregation: Aggregation
    composites: tuple[tuple[str, tuple[str, ...], float], ...]
    max_tokens: int
    path: Path
    digest: str

    @property
    def name(self) -> str:
        """Id and version."""
        return f"{self.id}@{self.version}"

    @functools.cached_property
    def fields(self) -> tuple[str, ...]:
        """The fields of an item that a judge is shown, those in the rubric's words too, once each."""
        words = (self.instructions, *(text for part in self.parts for text in (part.asks, *part.levels.values())))
        named = (name for text in words for name in VARIABLE.findall(text))
        return tuple(dict.fromkeys((*named, *(field for field, _ in self.sees))))

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """What its scores are, for the header of score rows."""
        kinds = {part.name: self.aggregation for part in self.parts}
        kinds |= {name: replace(self.aggregation, of=of, over=over) for name, of, over in self.composites}
        return tuple(Metric(name, self.unit, self.scale, how, self.name, self.digest) for name, how in kinds.items())


def rubrics_of(benchmark: str) -> list[Rubric]:
    """The rubrics shipped for a benchmark or its published form (``heart-published``): the headline, then by file.

    Raises RequestError for a benchmark without any.
    """
    folder = FOLDER / benchmark.partition("-")[0]
    if not folder.is_dir():
        known = sorted(path.name for path in FOLDER.iterdir() if path.is_dir() and list(path.glob("*.toml")))
        raise RequestError(
            f"no rubrics for {benchmark}", expected=f"one of {', '.join(known)}", fix="Name a file with --rubric"
        )
    return sorted((read_rubric(path) for path in sorted(folder.glob("*.toml"))), key=lambda one: -one.headline)


@functools.cache
def read_rubric(path: Path) -> Rubric:
    """A rubric from a file. Raises RequestError, naming the file and the field, for one that is malformed."""
    text = _toml(path)
    _check(text, _TOP, path, "")
    for name in _REQUIRED:
        if name not in text:
            raise RequestError("missing key", path, field=name, fix=_CORRECT)
    if text["unit"] not in UNITS:
        raise unknown("unit", text["unit"], UNITS, f"{path}, unit")
    scale = _scale(text["scale"], path)
    na = text.get("not_applicable", {})
    _check(na, _NA, path, "not_applicable.")
    asked = scores_of(text["terms"], path) if "terms" in text else text.get("scores", [])
    parts = tuple(_part(value, scale, text, path, f"scores[{n}].") for n, value in enumerate(asked))
    if not parts or len({part.name for part in parts}) < len(parts):
        raise RequestError("scores", path, field="scores", expected="one or more, with different names", fix=_CORRECT)
    sees = tuple(_seen(value, path, f"sees[{n}].") for n, value in enumerate(text["sees"]))
    evidence = text.get("evidence")
    if evidence is not None and evidence not in dict(sees):
        raise unknown("field", evidence, dict(sees), f"{path}, evidence")
    if "words" in text:
        _check(text["words"], _WORDS, path, "words.", required=_WORDS)
    return Rubric(
        id=text["id"],
        version=text["version"],
        unit=text["unit"],
        protocols=tuple(text.get("protocols", ())),
        stated=text.get("stated"),
        released=text.get("released"),
        headline=text.get("headline", 0),
        instructions=text["instructions"].strip(),
        scale=scale,
        parts=parts,
        sees=sees,
        evidence=evidence,
        na_aliases=tuple(na.get("aliases", ())),
        words=text.get("words"),
        aggregation=_aggregation(text.get("aggregation", {}), path),
        composites=tuple(
            _composite(value, parts, path, f"composites[{n}].") for n, value in enumerate(text.get("composites", ()))
        ),
        max_tokens=text.get("max_tokens", _ROOM),
        path=path,
        digest=digest_of(path.read_bytes(), text.get("terms")),
    )


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise RequestError("missing rubric", path, fix="Check the path") from None
    except IsADirectoryError:
        raise RequestError("a folder instead of a rubric", path, fix="Name a TOML file in it") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RequestError("malformed TOML", path, expected=str(error), fix=_CORRECT) from None


def _check(
    value: Any, kinds: Mapping[str, type], path: Path, above: str, required: Sequence[str] | Mapping[str, Any] = ()
) -> None:
    """Raise for what is no table, an unknown or missing key, and a value of another type."""
    if not isinstance(value, dict):
        raise RequestError("malformed rubric", path, field=above.rstrip("."), expected="a table", fix=_CORRECT)
    for name, one in value.items():
        if name not in kinds:
            raise unknown("key", name, kinds, f"{path}, {above}{name}")
        if not isinstance(one, kinds[name]) or isinstance(one, bool):
            expected = {str: "a text", int: "a whole number", dict: "a table", list: "a list"}[kinds[name]]
            raise RequestError("malformed rubric", path, field=f"{above}{name}", expected=expected, fix=_CORRECT)
        if isinstance(one, str) and not one.strip():
            raise RequestError("empty text", path, field=f"{above}{name}", fix=_CORRECT)
    for name in required:
        if name not in value:
            raise RequestError("missing key", path, field=f"{above}{name}", fix=_CORRECT)


def _scale(value: Any, path: Path) -> Scale:
    _check(value, _SCALE, path, "scale.", required=("kind",))
    if value["kind"] not in KINDS:
        raise unknown("kind of scale", value["kind"], KINDS, f"{path}, scale.kind")
    labels = tuple(value.get("labels", ()))
    if value["kind"] == "labels" and (len(set(labels)) < 2 or not all(isinstance(one, str) for one in labels)):
        raise RequestError(
            "labels", path, field="scale.labels", expected="two or more different texts, worst first", fix=_CORRECT
        )
    if value["kind"] == "integers" and not value.get("least", 1) < value.get("most", 0):
        raise RequestError("scale", path, field="scale.most", expected="least below most", fix=_CORRECT)
    return Scale(value["kind"], value.get("least", 0), value.get("most", 1), labels)


def _part(value: Any, scale: Scale, text: Mapping[str, Any], path: Path, above: str) -> Part:
    _check(value, _SCORE, path, above, required=("name", "asks"))
    if not _NAME.fullmatch(value["name"]):
        raise RequestError(
            f"malformed name {value['name']!r}", path, field=f"{above}name",
            expected="lower-case letters, digits, _", fix=_CORRECT,
        )  # fmt: skip
    levels = {**text["scale"].get("levels", {}), **value.get("levels", {})}
    if scale.kind in ("integers", "labels"):
        wanted = list(scale.labels) or [f"{number:g}" for number in scale.values]
        for name in levels:
            if name not in wanted:
                raise unknown("level", name, wanted, f"{path}, {above}levels")
        missing = [name for name in wanted if not str(levels.get(name, "")).strip()]
        if missing:
            raise RequestError(
                "level without words", path, field=f"{above}levels.{missing[0]}",
                expected="a text for every level", fix=_CORRECT,
            )  # fmt: skip
    na = value.get("not_applicable", text.get("not_applicable", {}).get("when"))
    return Part(value["name"], value["asks"], levels, tuple(value.get("aliases", ())), na)


def _seen(value: Any, path: Path, above: str) -> tuple[str, str]:
    _check(value, _SEES, path, above, required=_SEES)
    return value["field"], value["heading"]


def _composite(value: Any, parts: Sequence[Part], path: Path, above: str) -> tuple[str, tuple[str, ...], float]:
    _check(value, _COMPOSITE, path, above, required=("name", "of"))
    names = [part.name for part in parts]
    for name in value["of"]:
        if name not in names:
            raise unknown("score", str(name), names, f"{path}, {above}of")
    if value["name"] in names:
        raise RequestError("name of a score", path, field=f"{above}name", expected="one of its own", fix=_CORRECT)
    return value["name"], tuple(value["of"]), float(value.get("over", 1))


def _aggregation(value: Any, path: Path) -> Aggregation:
    _check(value, _AGGREGATION, path, "aggregation.")
    if value.get("method", "mean") not in METHODS:
        raise unknown("method", value["method"], METHODS, f"{path}, aggregation.method")
    lists = {name: tuple(value[name]) for name in LISTS if name in value}
    made = Aggregation(**{**value, **lists})
    if made.method == "atomic" and (len(made.within) != 2 or not made.sets or made.target is None):
        raise RequestError(
            "aggregation", path, field="aggregation",
            expected="within (response and run), sets and target, as the method `atomic` wants", fix=_CORRECT,
        )  # fmt: skip
    if len(made.only) not in (0, 2) or not all(isinstance(one, str) for one in made.only):
        raise RequestError(
            "aggregation", path, field="aggregation.only", expected="a group and its value", fix=_CORRECT
        )
    if not all(type(one) is int and one > 0 for one in made.segments) or list(made.segments) != sorted(made.segments):
        raise RequestError("aggregation", path, field="aggregation.segments", expected="places in order", fix=_CORRECT)
    return made
