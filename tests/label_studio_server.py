"""A real Label Studio: the one that is named, or one installed into a folder that is named, started and stopped.

LABEL_STUDIO_URL=http://127.0.0.1:8099 LABEL_STUDIO_TOKEN=TOKEN python -m pytest -k label_studio
LABEL_STUDIO_INSTALL=build/labelstudio python -m pytest -k label_studio
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import threading
import venv
from collections.abc import Iterator
from pathlib import Path

import httpx2

URL, TOKEN, INSTALL = "LABEL_STUDIO_URL", "LABEL_STUDIO_TOKEN", "LABEL_STUDIO_INSTALL"
KNOWN = URL in os.environ or INSTALL in os.environ

_USER, _PASSWORD, _USER_TOKEN = "reviewer@example.org", "choose-one", "0123456789abcdef0123456789abcdef01234567"
_READY = "Starting development server"


@contextlib.contextmanager
def running(data: Path) -> Iterator[httpx2.Client]:
    """A client of the server; ``data`` is the folder of one that is started here."""
    if URL in os.environ:
        with _client(os.environ[URL], os.environ[TOKEN]) as client:
            yield client
        return
    with _started(_installed(Path(os.environ[INSTALL])), data) as url, _client(url, _USER_TOKEN) as client:
        yield client


def _client(url: str, token: str) -> httpx2.Client:
    return httpx2.Client(base_url=url, headers={"Authorization": f"Token {token}"}, timeout=60)


def _installed(folder: Path) -> Path:
    """The program in an environment of its own, installed on first use: it brings many packages along."""
    program = folder.absolute() / "bin" / "label-studio"
    if not program.is_file():
        venv.create(folder, with_pip=True)
        subprocess.run([program.with_name("python"), "-m", "pip", "install", "-q", "label-studio"], check=True)
    return program


@contextlib.contextmanager
def _started(program: Path, data: Path) -> Iterator[str]:
    """The address of a server on a free port, which is stopped in the end."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    account = ["--username", _USER, "--password", _PASSWORD, "--user-token", _USER_TOKEN]
    where = ["--no-browser", "--internal-host", "127.0.0.1", "--port", str(port), "--data-dir", str(data)]
    known = {"COLLECT_ANALYTICS": "false", "LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN": "true", "PYTHONUNBUFFERED": "1"}
    without = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    with subprocess.Popen(
        [program, "start", *where, *account],
        env={**without, **known},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as server:
        try:
            assert server.stdout is not None
            for line in server.stdout:
                if _READY in line:
                    break
            else:
                raise RuntimeError(f"Label Studio ended before it was ready: {program}")
            threading.Thread(target=server.stdout.read, daemon=True).start()
            _answers(f"http://127.0.0.1:{port}")
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()


def _answers(url: str) -> None:
    """Return once the server answers; its socket opens a moment after it says so."""
    transport = httpx2.HTTPTransport(retries=8)
    with httpx2.Client(transport=transport, timeout=60) as client:
        client.get(f"{url}/health").raise_for_status()
