"""Publish a release: to a folder, to a dataset repository of a hub, to an object store.

Nothing is sent without ``--yes``. A published version is never changed: the same one again is nothing
to do, another one under its name is refused. What was interrupted goes on with the same command: files
that arrived are not sent again, and the release is there only once it is complete (a rename, one
commit and its tag, or the manifest as the last object).

    python -m releases publish heart@2.0.0 --to file:///srv/datasets --yes
    python -m releases publish heart@2.0.0 --to hf://organisation/name
    python -m releases publish heart@2.0.0 --to s3://bucket/datasets
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from releases.manifest import Manifest
from releases.opening import Release, open_release
from releases.publishing import hub, stores
from releases.publishing.sign import SIGNATURE
from releases.splitting.split import HELD_OUT
from releases.splitting.variants import WITHOUT_KEYS, name_of, without_keys, write_variant
from releases.verify import verify
from schemas.command import DONE, print_json, say
from schemas.errors import RequestError
from schemas.release_names import MANIFEST, add_release

HELP = "publish a release to a folder, a hub or an object store"
EXAMPLE = "python -m releases publish heart@2.0.0 --to file:///srv/datasets --yes"


@dataclass(frozen=True)
class Target:
    """Where a release goes: ``kind`` is "folder", "hub" or "store"."""

    kind: str
    url: str


def target(url: str) -> Target:
    """What a URL names. Raises RequestError for one that names nothing to publish to."""
    parts = urlsplit(url)
    if parts.scheme == "hf":
        return Target("hub", hub.repository(url))
    if parts.scheme == "file":
        if parts.netloc not in ("", "localhost") or not parts.path.startswith("/"):
            raise RequestError(f"bad target {url!r}", expected="file:///path", fix="Three slashes, then the path")
        return Target("folder", unquote(parts.path))
    if parts.scheme and parts.netloc:
        return Target("store", url)
    raise RequestError(f"bad target {url!r}", expected="file:///path, hf://organisation/name or s3://bucket/path")


def payload(release: Release) -> list[str]:
    """The files that are sent, manifest last."""
    signature = [SIGNATURE] if (release.folder / SIGNATURE).is_file() else []
    return [*sorted(release.manifest["files"]), *signature, MANIFEST]


def published(release: Release, to: Target) -> Manifest | None:
    """The manifest that stands at the target under this name, or None."""
    if to.kind == "hub":
        return hub.published(release, to.url)
    if to.kind == "folder":
        return stores.published_folder(release, Path(to.url))
    return stores.published_objects(release, to.url)


def publish(release: Release, to: Target) -> bool:
    """Send a release; False when it is there already.

    Raises RequestError when the release does not verify or another one stands under its name,
    MachineError when the target fails.
    """
    _demand_whole(release)
    if _is_there(release, to):
        return False
    if to.kind == "hub":
        hub.send(release, to.url, payload(release))
    elif to.kind == "folder":
        stores.send_folder(release, Path(to.url), payload(release))
    else:
        stores.send_objects(release, to.url, payload(release))
    return True


def _is_there(release: Release, to: Target) -> bool:
    there = published(release, to)
    if there is not None and there["digest"] != release.digest:
        raise RequestError(
            f"another {release.name} is published",
            to.url,
            expected=f"digest {release.digest}, found {there['digest']}",
            fix="A published version is never changed: freeze a new one",
        )
    return there is not None


def _without_keys(release: Release, frozen: Path) -> Release:
    """The variant of the release that has no keys, from the folder of releases or made there."""
    folder = name_of(release, WITHOUT_KEYS).folder(frozen)
    if not folder.exists():
        return write_variant(release, without_keys(release), frozen)
    made = open_release(folder)
    if (made.manifest["variant"] or {}).get("digest") != release.digest:
        raise RequestError("taken from another release", folder, expected=f"one of {release.name}", fix="Move it away")
    return made


def _demand_public(release: Release) -> None:
    if release.manifest.get("variant") and release.name.benchmark.endswith(f"-{HELD_OUT}"):
        raise RequestError(
            f"{release.name} is held out", release.folder, fix="Publish the open part, or --without-keys"
        )


def _demand_whole(release: Release) -> None:
    problems = verify(release.folder).problems
    if problems:
        raise RequestError(
            "release does not verify", problems[0], fix=f"See: python -m releases verify {release.folder}"
        )


def add_arguments(made: argparse.ArgumentParser) -> None:
    """The arguments of ``publish``."""
    add_release(made)
    made.add_argument(
        "--to", required=True, metavar="URL", help="file:///path, hf://organisation/name, s3://bucket/path"
    )
    made.add_argument(
        "--without-keys",
        action="store_true",
        help="send the variant without keys, gold and reviews",
    )
    made.add_argument("--yes", action="store_true", help="really send it (default: only say what would be sent)")


def run(args: argparse.Namespace) -> int:
    """The verb."""
    to = target(args.to)
    release = open_release(args.release, args.frozen)
    _demand_public(release)
    if args.without_keys:
        release = _without_keys(release, args.frozen)
    files = payload(release)
    size = sum((release.folder / name).stat().st_size for name in files)
    if args.yes:
        done = "published" if publish(release, to) else "already there"
    else:
        _demand_whole(release)
        done = "already there" if _is_there(release, to) else "not sent"
    if args.json:
        print_json({"release": str(release.name), "to": args.to, "state": done, "files": files, "bytes": size})
        return DONE
    if done == "not sent":
        for name in files:
            say(f"  {(release.folder / name).stat().st_size:>13,}  {name}", quiet=args.quiet)
        say(f"would send {len(files)} files, {size:,} bytes, to {args.to}; add --yes to do it")
    else:
        say(f"{release.name} {done}: {args.to}", quiet=args.quiet)
    return DONE
