"""A dataset hub on loopback, as much of it as publishing needs: repositories, commits, large files, tags.

It keeps every commit whole, checks what the real one would check (the parent commit, that large files
arrived, that a tag is new) and can be told to fail at a step: "/commit/",
or "/commit/ 409" for another status than 403.
"""

import base64
import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

Files = dict[str, bytes]


@dataclass
class Repo:
    """One repository: its commits, oldest first, and its tags."""

    commits: list[tuple[str, Files, str]]
    tags: dict[str, str] = field(default_factory=dict)

    @property
    def head(self) -> str:
        """The newest commit."""
        return self.commits[-1][0]

    def files(self, revision: str) -> Files | None:
        """The files at a branch, tag or commit."""
        wanted = self.head if revision == "main" else self.tags.get(revision, revision)
        return next((files for oid, files, _ in self.commits if oid == wanted), None)


@dataclass
class Hub:
    """The hub: repositories, large files by SHA-256, what was asked, and the steps that fail, each once."""

    repos: dict[str, Repo] = field(default_factory=dict)
    blobs: Files = field(default_factory=dict)
    asked: list[tuple[str, str]] = field(default_factory=list)
    failing: list[str] = field(default_factory=list)
    address: str = ""

    def uploads(self) -> int:
        """How many large files were sent."""
        return sum(1 for method, path in self.asked if method == "PUT" and path.startswith("/upload/"))

    def commit(self, name: str, lines: list[dict[str, Any]]) -> tuple[int, Any]:
        """Apply a commit."""
        repo = self.repos[name]
        header = lines[0]["value"]
        if header.get("parentCommit") not in (None, repo.head):
            return 412, {"error": "the branch has moved on"}
        files = dict(repo.files("main") or {})
        for line in lines[1:]:
            value = line["value"]
            if line["key"] == "deletedFile":
                del files[value["path"]]
            elif line["key"] == "file":
                files[value["path"]] = base64.b64decode(value["content"])
            elif line["key"] == "lfsFile":
                if value["oid"] not in self.blobs:
                    return 400, {"error": f"large file {value['oid']} is not there"}
                files[value["path"]] = self.blobs[value["oid"]]
            else:
                return 400, {"error": f"unknown operation {line['key']}"}
        oid = hashlib.sha1(f"{len(repo.commits)}{sorted(files)}".encode()).hexdigest()
        repo.commits.append((oid, files, header["summary"]))
        return 200, {
            "commitUrl": f"{self.address}/datasets/{name}/commit/{oid}",
            "commitOid": oid,
            "pullRequestUrl": None,
        }


class _Handler(BaseHTTPRequestHandler):
    hub: Hub

    def log_message(self, *words: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self._answer("GET")

    def do_HEAD(self) -> None:
        self._answer("HEAD")

    def do_POST(self) -> None:
        self._answer("POST")

    def do_PUT(self) -> None:
        self._answer("PUT")

    def _answer(self, method: str) -> None:
        path = unquote(urlsplit(self.path).path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.hub.asked.append((method, path))
        step = next((step for step in self.hub.failing if step.partition(" ")[0] in path), None)
        if step is not None and method != "HEAD":
            self.hub.failing.remove(step)
            self._send(int(step.partition(" ")[2] or 403), {"error": f"told to fail at {step}"}, {})
            return
        for pattern, answer in _ROUTES:
            found = re.fullmatch(pattern, f"{method} {path}")
            if found:
                self._send(*answer(self.hub, body, *found.groups()))
                return
        self._send(404, {"error": f"no route for {method} {path}"}, {})

    def _send(self, status: int, document: Any, headers: dict[str, str] | None = None) -> None:
        data = document if isinstance(document, bytes) else json.dumps(document).encode()
        self.send_response(status)
        kind = "application/octet-stream" if isinstance(document, bytes) else "application/vnd.git-lfs+json"
        for name, value in {"Content-Type": kind, "Content-Length": str(len(data)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


def _missing() -> tuple[int, Any, dict[str, str]]:
    return 404, {"error": "Repository not found"}, {"X-Error-Code": "RepoNotFound"}


def _create(hub: Hub, body: bytes) -> tuple[int, Any, dict[str, str]]:
    asked = json.loads(body)
    name = f"{asked['organization']}/{asked['name']}" if asked.get("organization") else asked["name"]
    if name in hub.repos:
        return 409, {"error": "exists", "url": f"{hub.address}/datasets/{name}"}, {}
    hub.repos[name] = Repo([("0" * 40, {".gitattributes": b"*.parquet filter=lfs\n"}, "initial commit")])
    return 200, {"url": f"{hub.address}/datasets/{name}", "name": name}, {}


def _info(hub: Hub, body: bytes, name: str, revision: str) -> tuple[int, Any, dict[str, str]]:
    repo = hub.repos.get(name)
    if repo is None:
        return _missing()
    return 200, {"id": name, "sha": repo.head, "siblings": []}, {}


def _tree(hub: Hub, body: bytes, name: str, revision: str) -> tuple[int, Any, dict[str, str]]:
    files = hub.repos[name].files(revision) if name in hub.repos else None
    if files is None:
        return _missing()
    rows = [
        {"type": "file", "path": path, "size": len(data), "oid": _git_oid(data)} for path, data in sorted(files.items())
    ]
    return 200, rows, {}


def _refs(hub: Hub, body: bytes, name: str) -> tuple[int, Any, dict[str, str]]:
    repo = hub.repos.get(name)
    if repo is None:
        return _missing()
    tags = [{"name": tag, "ref": f"refs/tags/{tag}", "targetCommit": oid} for tag, oid in repo.tags.items()]
    branches = [{"name": "main", "ref": "refs/heads/main", "targetCommit": repo.head}]
    return 200, {"branches": branches, "converts": [], "tags": tags}, {}


def _preupload(hub: Hub, body: bytes, name: str, revision: str) -> tuple[int, Any, dict[str, str]]:
    files = hub.repos[name].files(revision) or {}
    rows = []
    for asked in json.loads(body)["files"]:
        path = asked["path"]
        row = {"path": path, "uploadMode": "lfs" if path.endswith(".parquet") else "regular", "shouldIgnore": False}
        rows.append(row | ({"oid": _git_oid(files[path])} if path in files and row["uploadMode"] == "regular" else {}))
    return 200, {"files": rows}, {}


def _batch(hub: Hub, body: bytes, name: str) -> tuple[int, Any, dict[str, str]]:
    objects = []
    for wanted in json.loads(body)["objects"]:
        there = wanted["oid"] in hub.blobs
        action = {"upload": {"href": f"{hub.address}/upload/{wanted['oid']}", "header": {}}}
        objects.append({"oid": wanted["oid"], "size": wanted["size"], **({} if there else {"actions": action})})
    return 200, {"transfer": "basic", "objects": objects}, {}


def _upload(hub: Hub, body: bytes, oid: str) -> tuple[int, Any, dict[str, str]]:
    if hashlib.sha256(body).hexdigest() != oid:
        return 400, {"error": "checksum differs"}, {}
    hub.blobs[oid] = body
    return 200, {}, {}


def _commit(hub: Hub, body: bytes, name: str, revision: str) -> tuple[int, Any, dict[str, str]]:
    return (*hub.commit(name, [json.loads(line) for line in body.splitlines()]), {})


def _tag(hub: Hub, body: bytes, name: str, revision: str) -> tuple[int, Any, dict[str, str]]:
    repo, tag = hub.repos[name], json.loads(body)["tag"]
    if tag in repo.tags:
        return 409, {"error": "tag exists"}, {}
    repo.tags[tag] = repo.head if revision == "main" else revision
    return 200, {}, {}


def _resolve(hub: Hub, body: bytes, name: str, revision: str, path: str) -> tuple[int, Any, dict[str, str]]:
    repo = hub.repos.get(name)
    files = repo.files(revision) if repo else None
    if repo is None or files is None or path not in files:
        return 404, {"error": "Entry not found"}, {"X-Error-Code": "EntryNotFound"}
    data = files[path]
    return 200, data, {"ETag": f'"{_git_oid(data)}"', "X-Repo-Commit": repo.tags.get(revision, repo.head)}


def _git_oid(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


_ROUTES = [
    (r"POST /api/repos/create", _create),
    (r"POST /api/validate-yaml", lambda hub, body: (200, {"errors": [], "warnings": []}, {})),
    (r"GET /api/datasets/([^/]+/[^/]+)/revision/(.+)", _info),
    (r"GET /api/datasets/([^/]+/[^/]+)/tree/([^/]+)", _tree),
    (r"GET /api/datasets/([^/]+/[^/]+)/refs", _refs),
    (r"POST /api/datasets/([^/]+/[^/]+)/preupload/(.+)", _preupload),
    (r"POST /datasets/([^/]+/[^/]+)\.git/info/lfs/objects/batch", _batch),
    (r"PUT /upload/([0-9a-f]{64})", _upload),
    (r"POST /api/datasets/([^/]+/[^/]+)/commit/(.+)", _commit),
    (r"POST /api/datasets/([^/]+/[^/]+)/tag/(.+)", _tag),
    (r"(?:GET|HEAD) /datasets/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", _resolve),
]


@contextmanager
def running() -> Iterator[Hub]:
    """A hub for the length of a test."""
    hub = Hub()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"hub": hub}))
    hub.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
