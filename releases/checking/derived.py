"""What a release says of itself beside what its rows say: made again and compared.

Always: the files that every release has; how rows came to be and were reviewed; record schemas beside columns;
configurations beside the SELECT that gives them. Card, figures, Croissant and deposit are made again byte for byte
where the same code wrote them (``form`` of the manifest); of a release of other code they are compared in what is
counted: tables, rows, digests, review, files. Words in the card of such a release are nobody's to check.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from releases.cards import curves
from releases.cards.configs import config_problem, config_size
from releases.cards.describing import CARD, CROISSANT, ZENODO, descriptions, form, schema_path
from releases.checking.tables import Counted, canary_problems
from releases.content import schema_digest
from releases.manifest import Manifest, Problem
from releases.opening import Release
from releases.parquet import read_schema
from releases.roles import carries_canary
from schemas.arrow import arrow_schema
from schemas.errors import RequestError

_FIGURE = re.compile(r"figures/[a-z0-9-]+\.svg")
_TABLE_LINE = re.compile(r"^\| `([a-z0-9_]+)` \| ([0-9,]+) \| `", re.M)
_REVIEW_LINE = re.compile(r"^\| `([a-z0-9_]+)` \| ([a-z_]+) \| ([0-9,]+) \|$", re.M)
_SPLIT = re.compile(r'config_name: "([^"]+)"\n(?:.*\n)*?.*num_examples: (\d+)')


def file_list_problems(manifest: Manifest) -> list[Problem]:
    """Files that every release has and this one does not declare, and files that no release has."""
    tables = manifest["tables"]
    needed = {CARD, CROISSANT, *map(schema_path, tables), *([ZENODO] if manifest["manifest_version"] > 2 else [])}
    needed |= {file["path"] for entry in manifest.get("configs", {}).values() for file in entry["files"]}
    known = needed | {file["path"] for table in tables.values() for file in table["files"]}
    declared = manifest["files"].keys()
    missing = [Problem(name, "file.missing", "every release has it") for name in needed - declared]
    extra = [name for name in declared - known if not _FIGURE.fullmatch(name)]
    return [*missing, *(Problem(name, "file.unexpected", "nothing in a release is called so") for name in extra)]


def derived_problems(folder: Path, manifest: Manifest, counted: Counted) -> list[Problem]:
    """What does not follow from the rows; files and rows are already known to be the declared ones."""
    problems = [*_counts(manifest, counted), *_schemas(folder, manifest), *_roles(folder, manifest)]
    problems += [*_past(manifest), *_canary(manifest)]
    release = Release(folder, manifest)
    for name, entry in manifest.get("configs", {}).items():
        problems += _config(release, name, entry, counted)
    problems += _curves(release)
    if manifest.get("form") == form() and not problems:
        return _descriptions(release, counted)
    return [*problems, *_card_facts(folder, manifest), *_croissant_facts(folder, manifest)]


def is_word_for_word(manifest: Manifest) -> bool:
    """Whether this code can make the card and the other descriptions of a release again."""
    return bool(manifest.get("form") == form())


def _counts(manifest: Manifest, counted: Counted) -> Iterator[Problem]:
    for part, found in (("built/rows", counted.tally.built(None)["rows"]), ("review", counted.tally.review())):
        declared: Any = manifest
        for name in part.split("/"):
            declared = declared[name]
        if declared != found:
            yield Problem(f"manifest.json/{part}", "derived.counts", "not what the rows say")


def _schemas(folder: Path, manifest: Manifest) -> Iterator[Problem]:
    for name, table in manifest["tables"].items():
        path = schema_path(name)
        try:
            described = arrow_schema(orjson.loads((folder / path).read_bytes()))
            whole = read_schema(folder / table["files"][0]["path"])
            same = schema_digest(described.remove(len(whole)) if len(described) > len(whole) else described)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            yield Problem(path, "derived.schema", f"no record schema: {error}")
            continue
        if same != table["schema_digest"]:
            yield Problem(path, "derived.schema", f"describes other columns than {name} has")


def _roles(folder: Path, manifest: Manifest) -> Iterator[Problem]:
    """Roles of columns and tables that are not there."""
    for name, table in manifest["tables"].items():
        roles = table.get("roles") or {"gold": [], "metadata": [], "gold_of": None}
        columns = {*_columns(folder, table)}
        odd = [column for column in (*roles["gold"], *roles["metadata"]) if column not in columns]
        if roles["gold_of"] not in (None, *manifest["tables"]):
            odd.append(roles["gold_of"])
        if odd:
            yield Problem(f"manifest.json/tables/{name}/roles", "derived.roles", f"there is no {odd[0]}")


def _past(manifest: Manifest) -> Iterator[Problem]:
    """The parent beside the newest of the releases before this one."""
    if "history" not in manifest:
        return
    newest = [(entry["version"], entry["content_digest"]) for entry in manifest["history"][:1]]
    parent = manifest["parent"]
    if newest != ([(parent["version"], parent["content_digest"])] if parent else []):
        yield Problem("manifest.json/history", "derived.history", "its newest entry is not the parent")


def _canary(manifest: Manifest) -> Iterator[Problem]:
    """The canary beside that of the card, and its tables beside those whose roles call for one."""
    if "canary" not in manifest:
        return
    found, text = manifest["canary"] or {"text": None, "tables": []}, manifest["card"].get("canary") or None
    tables = {name for name, table in manifest["tables"].items() if text and carries_canary(table["roles"])}
    if (found["text"], {*found["tables"]}) != (text, tables):
        yield Problem(
            "manifest.json/canary", "derived.canary", "not that of the card, or of other tables than it is for"
        )


def _config(release: Release, name: str, entry: Mapping[str, Any], counted: Counted) -> Iterator[Problem]:
    path = entry["files"][0]["path"]
    if odd := [table for table in entry["needs"] if table not in release.tables]:
        yield Problem(f"manifest.json/configs/{name}/needs", "derived.config", f"there is no table {odd[0]}")
    try:
        digest = config_size([release.folder / path])
        yield from canary_problems(release.folder, release.manifest, name)
    except (KeyError, TypeError, ValueError, OSError) as error:
        yield Problem(path, "derived.config", f"unreadable: {error}")
        return
    counted.sizes[name] = digest.size
    if digest.hexdigest() != entry["content_digest"] or {digest.rows} != {entry["rows"], entry["files"][0]["rows"]}:
        yield Problem(path, "derived.config", f"rows give {digest.hexdigest()}, declared {entry['content_digest']}")
    elif is_word_for_word(release.manifest) and (problem := config_problem(release, name, entry)):
        yield Problem(path, "derived.config", problem)


def _curves(release: Release) -> Iterator[Problem]:
    try:
        yield from curves.problems(release)
    except (KeyError, TypeError, ValueError, AttributeError, RequestError) as error:
        yield Problem("manifest.json/curves", "derived.curves", f"no curves can be measured: {error}")


def _descriptions(release: Release, counted: Counted) -> list[Problem]:
    """Descriptions that are not what the code that wrote them makes of this manifest and these rows."""
    try:
        made = descriptions(release, counted.sizes)
    except (KeyError, TypeError, ValueError, AttributeError, RequestError) as error:
        return [Problem("manifest.json/card", "derived.card", f"no card can be made of it: {error}")]
    figures = {name for name in release.manifest["files"] if _FIGURE.fullmatch(name)}
    problems = [Problem(name, "file.unexpected", "the card has no such figure") for name in figures - made.keys()]
    for name, content in made.items():
        path = release.folder / name
        if not path.is_file():
            problems.append(Problem(name, "file.missing", "every release of this benchmark has it"))
        elif path.read_bytes() != content:
            problems.append(Problem(name, "derived.text", _difference(path.read_bytes(), content)))
    return problems


def _difference(found: bytes, made: bytes) -> str:
    """The first line that is another one."""
    lines = zip(found.splitlines(), made.splitlines(), strict=False)
    for number, (is_there, expected) in enumerate(lines, 1):
        if is_there != expected:
            start = next((i for i, (a, b) in enumerate(zip(is_there, expected, strict=False)) if a != b), 0)
            shown, wanted = (
                text[max(0, start - 20) : start + 40].decode("utf-8", "replace") for text in (is_there, expected)
            )
            return f"line {number} says {shown!r}; the manifest and the rows say {wanted!r}"
    return "lines are missing or too many"


def _card_facts(folder: Path, manifest: Manifest) -> Iterator[Problem]:
    text = (folder / CARD).read_text("utf-8", errors="replace")
    head, _, body = text.removeprefix("---\n").partition("\n---\n")
    rows = {name: table["rows"] for name, table in {**manifest["tables"], **manifest.get("configs", {})}.items()}
    stated = [
        ("title", re.findall(r"^pretty_name: (.*)$", head, re.M), [f'"{manifest["title"]} {manifest["version"]}"']),
        ("licence", re.findall(r"^license: (.*)$", head, re.M), [f'"{manifest["license"]}"']),
        ("content", sorted(set(re.findall(r"sha256[=:]([0-9a-f]{64})", text))), [manifest["content_digest"]]),
        ("versions", sorted(set(re.findall(r'^  version: "(.*)"$', head, re.M))), [manifest["version"]]),
        ("rows of configurations", _splits(head), {name: count for name, count in rows.items() if count}),
        ("rows of tables", _pairs(_TABLE_LINE, body), {name: rows[name] for name in manifest["tables"]}),
        ("review", _reviews(body), {(t, s): n for t, counts in manifest["review"].items() for s, n in counts.items()}),
    ]
    for what, found, declared in stated:
        if found != declared:
            yield Problem(CARD, "derived.text", f"its {what}: {_short(found)}; the manifest says {_short(declared)}")


def _short(value: object) -> str:
    return str(value)[:160]


def _splits(head: str) -> dict[str, int]:
    _, _, information = head.partition("\ndataset_info:")
    return {name: int(count) for name, count in _SPLIT.findall(information)}


def _pairs(pattern: re.Pattern[str], body: str) -> dict[str, int]:
    return {name: int(count.replace(",", "")) for name, count in pattern.findall(body)}


def _reviews(body: str) -> dict[tuple[str, str], int]:
    return {(table, status): int(count.replace(",", "")) for table, status, count in _REVIEW_LINE.findall(body)}


def _croissant_facts(folder: Path, manifest: Manifest) -> Iterator[Problem]:
    try:
        document = orjson.loads((folder / CROISSANT).read_bytes())
        listed = {
            each["@id"]: (each["contentSize"], each["sha256"])
            for each in document["distribution"]
            if each["@type"] == "cr:FileObject"
        }
        fields = {each["@id"]: [one["@id"] for one in each["field"]] for each in document["recordSet"]}
        version, cited = document["version"], document["citeAs"]
        reviews = document["rai:dataAnnotationAnalysis"]
    except (orjson.JSONDecodeError, KeyError, TypeError) as error:
        yield Problem(CROISSANT, "derived.text", f"no Croissant description: {error}")
        return
    tables = {**manifest["tables"], **manifest.get("configs", {})}
    files = {file["path"]: manifest["files"][file["path"]] for table in tables.values() for file in table["files"]}
    states = [f"{t}: {', '.join(f'{s} {n}' for s, n in counts.items())}" for t, counts in manifest["review"].items()]
    columns = {name: [f"{name}/{column}" for column in _columns(folder, table)] for name, table in tables.items()}
    stated = [
        ("files", listed, {name: (f"{file['bytes']} B", file["sha256"]) for name, file in files.items()}),
        ("columns", fields, columns),
        ("version", version, manifest["version"]),
        ("citation", manifest["content_digest"] in cited, True),
        ("review", reviews, states or ["No table records reviews."]),
    ]
    for what, found, declared in stated:
        if found != declared:
            yield Problem(CROISSANT, "derived.text", f"its {what}: not what the manifest says")


def _columns(folder: Path, table: Mapping[str, Any]) -> list[str]:
    import pyarrow.parquet as pq

    return list(pq.read_schema(folder / table["files"][0]["path"]).names)
