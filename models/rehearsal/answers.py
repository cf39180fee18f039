"""What the rehearsal server writes: an instance of the schema it is asked for, else prose.

Invented, but the same for the same request, and to the schema, the limits among them that a client moved
into descriptions. For answers that a benchmark can be built from, name a composer of that builder.
"""

from __future__ import annotations

import hashlib
import importlib
import random
import re
from collections.abc import Callable, Mapping
from typing import Any

import orjson
import rstr

from models.rehearsal.checks import REFERENCE
from schemas.errors import RequestError

Composer = Callable[[Mapping[str, Any]], str]

_WORDS: list[str] = REFERENCE["prose"].split()
_PROSE = 450  # words
_DEEPEST = 6
_DRAWS = 200  # of texts that match a pattern, until one has the length asked for
_KEYWORDS = ("minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum", "pattern", "uniqueItems")
_LIMIT = re.compile(rf"(?:^|, )({'|'.join(_KEYWORDS)}): (.*?)(?=, [a-zA-Z]+: |$)", re.DOTALL)


def invent(body: Mapping[str, Any]) -> str:
    """The text that answers a request of the Messages API."""
    chance = random.Random(hashlib.sha256(orjson.dumps(body, option=orjson.OPT_SORT_KEYS)).digest())
    output = (body.get("output_config") or {}).get("format")
    schema = output["schema"] if output else _schema_in(body["messages"][-1]["content"])
    if schema is None:
        return _sentences(chance, _PROSE)
    return orjson.dumps(_instance(schema, schema, chance, 0)).decode()


def composer(name: str) -> Composer:
    """A function of ours by ``module:function``. Raises RequestError when there is none."""
    module, _, function = name.partition(":")
    try:
        found = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError, ValueError) as error:
        raise RequestError(
            f"unknown composer {name!r}", expected="module:function", fix=f"Check --composer ({error})"
        ) from None
    made: Composer = found
    return made


def _schema_in(content: Any) -> Any:
    """The schema that a client asks for in words (see ``wording/schema.md``)."""
    text = content if isinstance(content, str) else "".join(block.get("text", "") for block in content)
    _, found, rest = text.partition("JSON Schema:\n\n")
    try:
        return orjson.loads(rest.split("\n\n")[0]) if found else None
    except orjson.JSONDecodeError:
        return None


def _sentences(chance: random.Random, words: int) -> str:
    made: list[str] = []
    while words > 0:
        length = min(words, chance.randint(6, 18))
        start = chance.randrange(len(_WORDS))
        sentence = [_WORDS[(start + step) % len(_WORDS)] for step in range(length)]
        made.append(" ".join(sentence).capitalize() + ".")
        words -= length
    return " ".join(made)


def _instance(node: Mapping[str, Any], root: Mapping[str, Any], chance: random.Random, depth: int) -> Any:
    if "$ref" in node:
        node = _target(node["$ref"], root)
    if "const" in node:
        return node["const"]
    if "enum" in node:
        return chance.choice(node["enum"])
    for group in ("anyOf", "oneOf"):
        if group in node:
            return _instance(chance.choice(node[group]), root, chance, depth)
    kind = node.get("type", "object")
    kind = chance.choice(kind) if isinstance(kind, list) else kind
    limits = _limits(node)
    if kind == "object":
        required = node.get("required", ()) if depth >= _DEEPEST else node.get("properties", {})
        return {name: _instance(node["properties"][name], root, chance, depth + 1) for name in required}
    if kind == "array":
        fewest = int(limits.get("minItems", 1))
        count = chance.randint(fewest, max(fewest, min(int(limits.get("maxItems", fewest + 2)), fewest + 2)))
        spare = 9 if "uniqueItems" in limits else 1
        made = [_instance(node.get("items", {"type": "string"}), root, chance, depth + 1) for _ in range(spare * count)]
        return list({orjson.dumps(item): item for item in made}.values())[:count] if spare > 1 else made
    return _scalar(kind, limits, chance)


def _scalar(kind: str, limits: Mapping[str, Any], chance: random.Random) -> Any:
    if kind == "null":
        return None
    if kind == "boolean":
        return chance.random() < 0.5
    if kind in ("integer", "number"):
        least = float(limits.get("minimum", 0))
        most = float(limits.get("maximum", least + 100))
        return chance.randint(int(least), int(most)) if kind == "integer" else round(chance.uniform(least, most), 3)
    least, most = int(limits.get("minLength", 1)), int(limits.get("maxLength", 2000))
    if "pattern" in limits:
        drawn = (rstr.Rstr(chance).xeger(str(limits["pattern"])) for _ in range(_DRAWS))
        return next((text for text in drawn if least <= len(text) <= most), "")
    text = _sentences(chance, max(6, least // 5))
    while len(text) < least:
        text += " " + _sentences(chance, 12)
    return text[:most]


def _limits(node: Mapping[str, Any]) -> dict[str, Any]:
    """Limits as keywords, and those that the client's library moved into the description."""
    _, moved, inner = f"\n\n{node.get('description', '')}".rpartition("\n\n{")
    said = dict(_LIMIT.findall(inner.removesuffix("}"))) if moved else {}
    return {**said, **{name: node[name] for name in node if name in _KEYWORDS}}


def _target(reference: str, root: Mapping[str, Any]) -> Mapping[str, Any]:
    node: Any = root
    for step in reference.removeprefix("#/").split("/"):
        node = node[step]
    return node  # type: ignore[no-any-return]
