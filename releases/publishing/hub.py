"""Publishing to a dataset repository of a hub: one commit on ``main``, and the tag of the version.

The tag is what makes a version published; a commit without it is an interrupted publication, which the
same command completes. ``upload_folder`` would split a large folder into several commits, so the
commit is made here. Files keep their bytes, and with them their checksums. Needs a token as the hub's
own tools store it (``hf auth login`` or ``HF_TOKEN``); it is never read here.
"""

from __future__ import annotations

import json
import logging
import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from releases.manifest import Manifest, decode
from releases.opening import Release
from schemas.errors import MachineError, RequestError
from schemas.release_names import MANIFEST, parse_version

if TYPE_CHECKING:
    from huggingface_hub import CommitOperationCopy, HfApi

_URL = re.compile(r"hf://(?:datasets/)?([A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)/?")

# What a hub puts into a new repository by itself.
_OWN = {".gitattributes"}

_PATIENCE = 60.0
"""Seconds that a hub may say nothing."""


def repository(url: str) -> str:
    """``hf://organisation/name`` -> ``organisation/name``. Raises RequestError."""
    found = _URL.fullmatch(url)
    if found is None:
        raise RequestError(f"bad target {url!r}", expected="hf://organisation/name")
    return found[1]


def published(release: Release, repo: str) -> Manifest | None:
    """The manifest under the tag of this version, or None."""
    with _hub(repo) as api:
        return _manifest(api, repo, _tag(release)) if _tag(release) in _tags(api, repo) else None


def send(release: Release, repo: str, files: Sequence[str]) -> None:
    """Commit the release to ``main`` unless it is there, and tag it.

    Raises RequestError when ``main`` holds something that is no older release of the same benchmark.
    """
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete

    with _hub(repo) as api:
        api.create_repo(repo, repo_type="dataset", exist_ok=True)
        head = api.repo_info(repo, repo_type="dataset", revision="main").sha
        present = set(api.list_repo_files(repo, repo_type="dataset", revision="main")) - _OWN
        current = _manifest(api, repo, "main") if MANIFEST in present else None
        if current is None or current["digest"] != release.digest:
            _demand_successor(release, repo, current, present)
            changes: list[CommitOperationAdd | CommitOperationCopy | CommitOperationDelete] = [
                *(CommitOperationDelete(name) for name in sorted(present - set(files))),
                *(CommitOperationAdd(name, release.folder / name) for name in files),
            ]
            message = f"{release.name}, digest {release.digest}"
            head = api.create_commit(
                repo, changes, commit_message=message, repo_type="dataset", revision="main", parent_commit=head
            ).oid
        api.create_tag(repo, tag=_tag(release), revision=head, repo_type="dataset", tag_message=str(release.name))


def _demand_successor(release: Release, repo: str, current: Manifest | None, present: set[str]) -> None:
    if current is None and present - {"README.md"}:
        raise RequestError(
            "the repository holds something else", repo, expected="an empty one, or older releases", fix="Name another"
        )
    if current is None:
        return
    if current["name"] != release.name.benchmark or parse_version(current["version"]) >= release.version:
        raise RequestError(
            f"main holds {current['name']}@{current['version']}",
            repo,
            expected=f"an older release of {release.name.benchmark}",
            fix="Name another repository",
        )


def _tag(release: Release) -> str:
    return f"v{release.version}"


def _tags(api: HfApi, repo: str) -> set[str]:
    from huggingface_hub.errors import RepositoryNotFoundError

    try:
        return {ref.name for ref in api.list_repo_refs(repo, repo_type="dataset").tags}
    except RepositoryNotFoundError:
        return set()


def _manifest(api: HfApi, repo: str, revision: str) -> Manifest:
    with tempfile.TemporaryDirectory(prefix="anamnesis-hub-") as folder:
        path = api.hf_hub_download(repo, MANIFEST, repo_type="dataset", revision=revision, local_dir=folder)
        manifest, problems = decode(Path(path).read_bytes())
    if manifest is None or problems:
        raise RequestError("something else is there", f"{repo} at {revision}", expected="a release's manifest")
    return manifest


@contextmanager
def _hub(repo: str) -> Iterator[HfApi]:
    """The hub's client; what it raises becomes one line."""
    import httpx2
    from huggingface_hub import HfApi, get_session
    from huggingface_hub.utils.tqdm import disable_progress_bars

    if not sys.stderr.isatty():  # a line for every retry is progress, too
        disable_progress_bars()
        logging.getLogger("huggingface_hub").setLevel(logging.ERROR)
    get_session().timeout = httpx2.Timeout(_PATIENCE)  # the client itself waits for ever
    try:
        yield HfApi()
    except (httpx2.HTTPError, OSError, ValueError, RuntimeError) as error:
        raise MachineError("the hub failed", repo, expected=_reason(error), fix=_fix(error)) from None
    except (LookupError, TypeError, AttributeError) as error:  # the client reads answers without looking twice
        reason = f"an answer that is none of a hub's ({error!r})"
        raise MachineError("the hub failed", repo, expected=reason, fix="Look at HF_ENDPOINT") from error


def _reason(error: Exception) -> str:
    """What the hub refused, with its status and its words, or how the connection failed."""
    from huggingface_hub.errors import HfHubHTTPError

    if isinstance(error, HfHubHTTPError):
        response = error.response
        step = f"{response.status_code} {response.reason_phrase} at {response.request.url.path}"
        words = error.server_message or "no reason given"
    elif isinstance(error, json.JSONDecodeError):
        step, words = "an answer that is no JSON", str(error)
    else:
        step, words = type(error).__name__, str(error.__cause__ or error)
    return " ".join(f"{step}: {words}".split())[:300]


def _fix(error: Exception) -> str:
    """How to go on; a request that was refused for want of a token or of a right is refused again without it."""
    status = getattr(getattr(error, "response", None), "status_code", None)
    first = {
        401: "Log in with a token that may write (hf auth login, or HF_TOKEN). ",
        403: "Use a token that may write there. ",
        409: "Somebody else may be writing there. ",
        412: "Somebody else has written there. ",
    }
    return f"{first.get(status or 0, '')}Publish again to go on"
