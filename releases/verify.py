"""Is a release exactly what its manifest says? Every byte, every row, and nothing besides.

Found, each with its place: a changed, missing, extra, renamed or linked file; rows that are not the
declared ones, in a table whose bytes fit a manifest that was adapted to them; a card, a description or a
count that the rows do not bear out; a manifest that was edited; a path that leaves the folder; with
``--signature`` a manifest that the key did not sign; with ``--expect`` a release other than the one that
was cited. Another release that agrees with itself under the same name is only found by these two.

    python -m releases verify heart@2.0.0
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

from releases.checking.derived import derived_problems, file_list_problems, is_word_for_word
from releases.checking.files import file_problems, misnamed, read_manifest
from releases.checking.tables import Counted, table_problems
from releases.manifest import Manifest, Problem
from releases.publishing.sign import signature_problem
from schemas.command import DONE, FINDINGS, add_processes, print_json, say
from schemas.engines.choice import Engine, add_engine, engine
from schemas.engines.local import Local
from schemas.release_names import MANIFEST, add_release, locate

HELP = "check every byte and row of a release"
EXAMPLE = "python -m releases verify heart@2.0.0"


@dataclass(frozen=True)
class Verified:
    """What was looked at and what was found; ``manifest`` is None when it cannot be used."""

    manifest: Manifest | None
    problems: tuple[Problem, ...]
    files: int
    size: int
    rows: int


def verify(
    folder: Path, *, public_key: Path | None = None, expect: str | None = None, engine: Engine | None = None
) -> Verified:
    """Check a release's folder against its manifest: bytes, rows, and that there is nothing else.

    ``engine`` is where rows are read (default: in this process); what is found does not depend on it.
    """
    manifest, problems = read_manifest(folder)
    if public_key is not None and (problem := signature_problem(folder, public_key)):
        problems.append(problem)
    if manifest is None:
        return Verified(None, tuple(problems), 0, 0, 0)
    if expect is not None and expect != manifest["digest"]:
        problems.append(Problem(MANIFEST, "manifest.unexpected", f"digest is {manifest['digest']}, expected {expect}"))
    problems += [*file_list_problems(manifest), *file_problems(folder, manifest)]
    broken = {problem.place for problem in problems}
    rows, counted = 0, Counted()
    for name, table in manifest["tables"].items():
        if not broken & {file["path"] for file in table["files"]}:
            rows += table["rows"]
            problems += table_problems(folder, manifest, name, counted, engine or Local(1))
    if not problems:
        problems += derived_problems(folder, manifest, counted)
    files = manifest["files"]
    return Verified(manifest, tuple(sorted(set(problems))), len(files), sum(f["bytes"] for f in files.values()), rows)


def add_arguments(made: argparse.ArgumentParser) -> None:
    """The arguments of ``verify``."""
    add_release(made)
    add_processes(made)
    add_engine(made)
    made.add_argument(
        "--signature", type=Path, metavar="PUBLIC.pem", help="also demand a signature by this Ed25519 key"
    )
    made.add_argument("--expect", metavar="DIGEST", help="also demand this digest, e.g. from a citation")


def run(args: argparse.Namespace) -> int:
    """The verb."""
    folder = locate(args.release, args.frozen)
    chosen = engine(args.engine, args.processes) if args.engine else None
    checked = verify(folder, public_key=args.signature, expect=args.expect, engine=chosen)
    problems = [*checked.problems, *misnamed(args.release, checked.manifest)]
    if args.json:
        print_json(_document(args.release, checked, problems))
        return FINDINGS if problems else DONE
    for problem in problems:
        say(str(problem))
    counts = f"{checked.files} files, {checked.size:,} bytes, {checked.rows:,} rows"
    if problems or checked.manifest is None:
        say(f"{args.release} does not verify: {len(problems)} problem{'s'[: len(problems) != 1]}")
        return FINDINGS
    say(f"{args.release} {_outcome(args)}: {counts}", quiet=args.quiet)
    words = "" if is_word_for_word(checked.manifest) else ", not its words: other code wrote them"
    compared = "descriptions, counts and curves" if checked.manifest.get("curves") else "descriptions and counts"
    say(f"files, rows, {compared} agree{words}", quiet=args.quiet)
    say(f"digest {checked.manifest['digest']}", quiet=args.quiet)
    return DONE


def _outcome(args: argparse.Namespace) -> str:
    """What was shown: that it is the release that was cited or signed, or only that it agrees with itself."""
    if args.expect or args.signature:
        return f"verifies, and {'has that digest' if args.expect else 'is signed by that key'}"
    return "verifies, but a forgery that agrees with itself does as well without --expect DIGEST or --signature KEY"


def _document(release: str, checked: Verified, problems: list[Problem]) -> dict[str, object]:
    return {
        "release": release,
        "ok": not problems,
        "digest": checked.manifest["digest"] if checked.manifest else None,
        "content_digest": checked.manifest["content_digest"] if checked.manifest else None,
        "files": checked.files,
        "bytes": checked.size,
        "rows": checked.rows,
        "problems": [{"place": p.place, "code": p.code, "message": p.message} for p in problems],
    }
