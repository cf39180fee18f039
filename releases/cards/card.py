"""The card of a release: what it is, how it was made and by which model, what was checked, where it ends.

Words come from ``cards/card.md`` and the benchmark's card (``cards.texts``), everything counted from the
manifest, so a card cannot say what the release does not hold. It is the ``README.md`` of every release; the verb
writes the one of a release, links adapted, to where a repository shows it:

    python -m releases card heart@2.0.0 --out DATASET_CARD.md
"""

from __future__ import annotations

import argparse
import os
import re
import string
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from releases.cards import curves
from releases.cards.baselines import shown
from releases.cards.figures import Bar, Figure, number
from releases.cards.texts import Texts
from releases.content import digest_of
from releases.manifest import Manifest
from releases.opening import open_release
from releases.parquet import SPLIT
from releases.query import examples
from releases.roles import records
from schemas.command import DONE, FINDINGS, print_json, say
from schemas.errors import RequestError
from schemas.release_names import FROZEN, add_release, locate
from schemas.rows import write_whole

HELP = "write the card of a release, e.g. as DATASET_CARD.md"
EXAMPLE = "python -m releases card heart@2.0.0 --out DATASET_CARD.md"

FIGURES = "figures"

Drawn = tuple[Figure, list[Bar]]
Schemas = Mapping[str, Mapping[str, Any]]

_CARDS = Path(__file__).parent

_CANARY = """## Canary

This string is here so that training corpora can be searched for it. Do not train on what carries it.

`canary GUID {}`
"""


def figures(said: Texts, tables: Iterable[str]) -> list[Figure]:
    """The figures of a card for which the tables are there."""
    made = [Figure(**{**entry, "needs": tuple(entry["needs"])}) for entry in said["figure"]]
    return [figure for figure in made if set(figure.needs) <= set(tables)]


@dataclass(frozen=True)
class Counted:
    """What a card shows that is counted from the rows: the bars of its figures, and what a model has to beat."""

    drawn: list[Drawn]
    measured: list[dict[str, Any]]


def body(manifest: Manifest, schemas: Schemas, said: Texts, counted: Counted) -> str:
    """The card without its metadata; needs what the manifest says of tables, making, checks and review."""
    release = f"{manifest['name']}@{manifest['version']}"
    words = {
        **{key: said[key].strip() for key in ("license_name", "license_url", "summary", "maintenance")},
        **{key: manifest[key] for key in ("name", "version", "title", "content_digest")},
        **{key: _list(said[key]) for key in ("deviations", "limits", "intended", "unintended")},
        "release": release,
        "follows": f"Follows: *{manifest['paper']}*." if manifest["paper"] else "Follows no paper.",
        "canary": _CANARY.format(said["canary"]) if said["canary"] else "",
        "released": manifest["released"] or "not given",
        "parent": f"{manifest['name']}@{manifest['parent']['version']}" if manifest["parent"] else "none, the first",
        "place": (FROZEN / manifest["name"] / manifest["version"]).as_posix(),
        "split": SPLIT,
        "default_table": said["default_table"],
        "example": examples(records(manifest))[0].sql,
        "honesty": _honesty(manifest, said),
        "tables": _tables(manifest, schemas),
        "schemas": digest_of(schemas)[:16],
        "configs": _configs(manifest),
        "variant": _variant(manifest),
        "doi": f"[{manifest['doi']}](https://doi.org/{manifest['doi']})" if manifest["doi"] else "none yet",
        "homepage": f"<{said['homepage']}>" if said["homepage"] else "none",
        "recipe_of_scoring": _scoring(manifest, said),
        "baselines": shown(counted.measured, said),
        "curves": curves.shown(manifest["curves"], release),
        "built": _built(manifest),
        "recipe": _recipe(manifest, release),
        "checks": _checks(manifest),
        "allowed": _allowed(manifest),
        "review": _review(manifest),
        "figures": "\n\n".join(_figure(release, figure, bars) for figure, bars in counted.drawn) or "None.",
        "changes": _changes(manifest),
        "citation": _citation(manifest, said),
    }
    return string.Template((_CARDS / "card.md").read_text("utf-8")).substitute(words)


def _honesty(manifest: Manifest, said: Texts) -> str:
    backends = {group["backend"] for group in manifest["built"]["rows"] if group["origin"] == "built"}
    kind = {("messages", "offline"): "mixed", ("offline",): "composed", ("messages",): "written"}
    parts = [said[kind[found]]] if (found := tuple(sorted(backends - {None}))) else []
    if _unreviewed(manifest):
        parts.append(said["unreviewed"])
    return "".join(f"\n{part.strip()}\n" for part in parts if part.strip())


def _unreviewed(manifest: Manifest) -> bool:
    return any(counts.get("unreviewed", 0) == sum(counts.values()) for counts in manifest["review"].values())


def _configs(manifest: Manifest) -> str:
    """The configurations that are no table, each with what it holds."""
    lines = [f"- `{name}` ({entry['rows']:,} rows): {entry['about']}" for name, entry in manifest["configs"].items()]
    return "Ready to use, made from these tables:\n\n" + "\n".join(lines) + "\n\n" if lines else ""


def _variant(manifest: Manifest) -> str:
    found = manifest["variant"]
    return f"\n**{found['what']}** Taken from `{found['of']}`, digest `{found['digest']}`.\n" if found else ""


def _scoring(manifest: Manifest, said: Texts) -> str:
    if not said["recipe"]:
        return ""
    place = (FROZEN / manifest["name"] / manifest["version"]).as_posix()
    code = string.Template(said["recipe"].strip()).substitute(place=place, split=SPLIT)
    return f"{said['recipe_about'].strip()}\n\n```python\n{code}\n```\n\n"


def _tables(manifest: Manifest, schemas: Schemas) -> str:
    lines = ["| table | rows | key | what |", "|---|---:|---|---|"]
    for name, table in manifest["tables"].items():
        what = schemas[name]["description"].split(". ")[0].split(": ")[0].rstrip(".;")
        lines.append(f"| `{name}` | {table['rows']:,} | `{'`, `'.join(table['key'])}` | {what} |")
    return "\n".join(lines)


def _built(manifest: Manifest) -> str:
    lines = ["| table | by | prompt | seed | rows | repaired |", "|---|---|---|---:|---:|---:|"]
    for group in manifest["built"]["rows"]:
        cells = [f"`{group['table']}`", _maker(group), _prompt(group)]
        seed = "" if group["seed"] is None else str(group["seed"])
        lines.append("| " + " | ".join([*cells, seed, f"{group['rows']:,}", f"{group['repaired']:,}"]) + " |")
    return "\n".join(lines)


def _maker(group: Mapping[str, Any]) -> str:
    if group["origin"] == "imported":
        return "imported from published data"
    if group["origin"] != "built":
        return "a person"
    if group["backend"] is None:
        return "the builder, by rule"
    return "the built-in writer" if group["backend"] == "offline" else f"model `{group['model']}`"


def _prompt(group: Mapping[str, Any]) -> str:
    if group["prompt"] is None:
        return ""
    return f"`{group['prompt']}`" + (f" `{group['prompt_digest'][:12]}`" if group["prompt_digest"] else "")


def _recipe(manifest: Manifest, release: str) -> str:
    recipe = manifest["built"]["recipe"]
    frozen = f"Frozen by version {manifest['built']['frozen_by']}."
    if recipe is None:
        return f"The workspace recorded no command that makes these rows again. {frozen}"
    return (
        f"Made by `python -m {' '.join(recipe['command'])}` with version {recipe['version']} (seed {recipe['seed']}, "
        f"code `{recipe['code_digest'][:12]}`). {frozen} `python -m releases rebuild {release}` makes the rows again "
        "and compares them."
    )


def _checks(manifest: Manifest) -> str:
    checks = manifest["checks"]
    named = [("validators", checks["validators"]), *((f"audits of `{t}`", c) for t, c in checks["audits"].items())]
    lines = ["| check | rows | rules that ran | findings left |", "|---|---:|---:|---|"]
    for what, checked in named:
        left = ", ".join(f"`{code}` {count:,}" for code, count in checked["findings"].items()) or "none"
        lines.append(f"| {what} | {checked['rows']:,} | {len(checked['ran'])} | {left} |")
    parts = [
        "\n".join(lines),
        "An error refuses a release: what is left are warnings and notes, but for codes named below as let pass. "
        "Which rules: `checks` in `manifest.json`. Codes and how grave each is: `docs/codes.md`.",
    ]
    if unaudited := checks.get("unaudited"):
        parts.append(f"Not audited, only checked for their shape: {', '.join(f'`{name}`' for name in unaudited)}.")
    return "\n\n".join(parts)


def _allowed(manifest: Manifest) -> str:
    allowed = manifest["checks"]["allowed"]
    if not allowed:
        return "No open error was let pass."
    return "Let pass, each with its reason:\n\n" + _list(
        f"`{entry['code']}` ({entry['findings']:,}): {entry['why']}" for entry in allowed
    )


def _review(manifest: Manifest) -> str:
    if not manifest["review"]:
        return "No table of this release records reviews."
    lines = ["| table | status | rows |", "|---|---|---:|"]
    for table, counts in manifest["review"].items():
        lines += [f"| `{table}` | {status} | {count:,} |" for status, count in counts.items()]
    return "\n".join(lines) + "\n\nRow by row: the column `review`."


def _figure(release: str, figure: Figure, bars: list[Bar]) -> str:
    values = "; ".join(f"{bar.label}: {number(bar.value)}" for bar in bars)
    return (
        f"**{figure.title}** ({figure.unit})\n\n![{figure.title}. {values}]({FIGURES}/{figure.name}.svg)\n\n"
        f'```sh\npython -m releases query {release} "{figure.sql}"\n```'
    )


def _changes(manifest: Manifest) -> str:
    parent = manifest["parent"]
    if parent is None:
        return f"{manifest['version']} is the first."
    parts = [f"{manifest['version']} against {parent['version']} ({parent['change']}):", _list(parent["reasons"])]
    if earlier := manifest["history"]:
        parts += ["Earlier:", _list(_earlier(entry) for entry in earlier)]
    return "\n\n".join(parts)


def _earlier(entry: Mapping[str, Any]) -> str:
    what = f"{entry['change']}: {'; '.join(entry['reasons'])}" if entry["change"] else "the first"
    date = f" of {entry['released']}" if entry["released"] else ""
    return f"{entry['version']}{date} (content `sha256:{entry['content_digest'][:16]}`), {what}"


def _citation(manifest: Manifest, said: Texts) -> str:
    year = f"  year    = {{{manifest['released'][:4]}}},\n" if manifest["released"] else ""
    year += f"  doi     = {{{manifest['doi']}}},\n" if manifest["doi"] else ""
    year += f"  url     = {{{said['homepage']}}},\n" if said["homepage"] else ""
    return (
        f"@misc{{{said['citation']['key']}_{manifest['version'].replace('.', '_')},\n"
        f"  author  = {{{' and '.join(f'{{{name}}}' for name in said['authors'])}}},\n"
        f"  title   = {{{said['citation']['title']}}},\n"
        f"  version = {{{manifest['version']}}},\n{year}"
        f"  note    = {{content sha256:{manifest['content_digest']}}}\n}}"
    )


def _list(items: Iterable[str]) -> str:
    return "\n".join(f"- {item}" for item in items)


def standalone(release_folder: Path, out: Path | None) -> str:
    """The card of a release as a document outside it: no metadata, links leading back to the figures."""
    readme = (release_folder / "README.md").read_text("utf-8")
    card = readme.split("\n---\n", 1)[1].lstrip("\n")
    base = Path(os.path.relpath(release_folder, out.parent if out else Path.cwd())).as_posix()
    return re.sub(rf"\]\(({FIGURES}/)", rf"]({base}/\1", card)


def add_arguments(made: argparse.ArgumentParser) -> None:
    """The arguments of ``card``."""
    add_release(made)
    made.add_argument("--out", type=Path, metavar="FILE", help="write it there (default: stdout)")
    made.add_argument("--check", action="store_true", help="only compare FILE with what would be written")


def run(args: argparse.Namespace) -> int:
    """The verb."""
    if args.check and args.out is None:
        raise RequestError("--check without --out", expected="the file to compare", fix="Add --out DATASET_CARD.md")
    open_release(args.release, args.frozen)
    card = standalone(locate(args.release, args.frozen), args.out)
    if args.out is None:
        sys.stdout.write(card)
        return DONE
    same = args.out.is_file() and args.out.read_text("utf-8") == card
    if args.check:
        say(f"{args.out} {'is' if same else 'is not'} the card of {args.release}", quiet=args.quiet and same)
        return DONE if same else FINDINGS
    write_whole(args.out, [card.encode()])
    if args.json:
        print_json({"release": args.release, "card": str(args.out)})
    else:
        say(f"{args.out}: the card of {args.release}", quiet=args.quiet)
    return DONE
