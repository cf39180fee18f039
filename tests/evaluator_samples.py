"""What the tests of evaluators share: small releases, running the command, and a browser to look at a page with."""

import contextlib
import json
import shutil
import socket
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from release_samples import frozen_once, small_tables

from evaluators.__main__ import main
from releases import Release
from schemas.tables import Row

SPEC = "heart@0.1.0"


def small_release(root: Path, change: Any = lambda tables: None) -> Release:
    """A release of the small workspace: four characters, one scenario, four questions, twelve memories."""
    tables = small_tables()
    change(tables)
    return frozen_once(root, SPEC, tables)


def wide_tables(scenarios: int = 6) -> dict[str, list[Row]]:
    """The small workspace with its scenario, questions and decisions under several scenario numbers."""
    tables = small_tables()
    for name in ("scenarios", "mcqs", "mcq_keys", "decisions"):
        key = {"scenarios": "id", "mcqs": "scenario_id", "mcq_keys": "question_id", "decisions": "scenario_id"}[name]
        tables[name] = [
            orjson.loads(orjson.dumps(row).replace(b"SCN_SCHOOL_AGE_1", f"SCN_SCHOOL_AGE_{number}".encode()))
            for row in tables[name]
            for number in range(1, scenarios + 1)
            if key in row
        ]
    return tables


def evaluate(root: Path, verb: str, *words: str | Path) -> int:
    """Run a verb on the release under ``root``; results go to ``root/out``."""
    common = [] if verb == "compare" else ["--frozen", str(root / "frozen")]
    if verb in ("choice", "open", "export"):
        common += ["--release", SPEC]
    return main([verb, *common, "--workspace", str(root / "out"), *map(str, words)])


def result_at(path: Path) -> dict[str, Any]:
    """A result as it stands in its file."""
    return orjson.loads(path.read_bytes())


class Browser:
    """A headless Chromium driven over WebDriver, as far as these tests need it."""

    def __init__(self, address: str) -> None:
        self._address = address
        options = {"args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]}
        logging = {"browser": "ALL"}
        capabilities = {"alwaysMatch": {"goog:chromeOptions": options, "goog:loggingPrefs": logging}}
        self._session = self._post("/session", {"capabilities": capabilities})["sessionId"]

    def open(self, path: Path, width: int = 1200) -> None:
        """Load a file at a width."""
        self._post(f"/session/{self._session}/window/rect", {"width": width, "height": 900})
        self._post(f"/session/{self._session}/url", {"url": path.resolve().as_uri()})

    def resize(self, width: int) -> None:
        """Make the page as narrow as a phone's, which no window is."""
        self._command("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=True)

    def media(self, name: str) -> None:
        """Show the page as on another medium, for example print."""
        self._command("Emulation.setEmulatedMedia", media=name)

    def run(self, script: str) -> Any:
        """What a script returns."""
        return self._post(f"/session/{self._session}/execute/sync", {"script": script, "args": []})

    def press(self, *keys: str) -> None:
        """Press and let go of keys, one after the other."""
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self._post(f"/session/{self._session}/actions", {"actions": [{"type": "key", "id": "k", "actions": actions}]})

    def wait(self) -> None:
        """Wait until the page has done what an event started."""
        self.run("return new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)))")

    def complaints(self) -> list[str]:
        """What the page's console holds: errors of scripts, anything that was refused."""
        return [entry["message"] for entry in self._post(f"/session/{self._session}/se/log", {"type": "browser"})]

    def close(self) -> None:
        """End the session."""
        request = urllib.request.Request(f"{self._address}/session/{self._session}", method="DELETE")
        with contextlib.suppress(urllib.error.URLError):
            urllib.request.urlopen(request).close()

    def _command(self, name: str, **parameters: Any) -> None:
        self._post(f"/session/{self._session}/goog/cdp/execute", {"cmd": name, "params": parameters})

    def _post(self, path: str, body: dict[str, Any]) -> Any:
        data = json.dumps(body).encode()
        request = urllib.request.Request(self._address + path, data, {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as reply:
            return json.load(reply)["value"]


@contextlib.contextmanager
def browser() -> Iterator[Browser]:
    """A browser for the length of a test; skips where there is none."""
    driver = shutil.which("chromedriver")
    if driver is None or not (shutil.which("chromium") or shutil.which("google-chrome")):
        pytest.skip("no chromium and chromedriver on this machine")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([driver, f"--port={port}"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    try:
        for line in process.stdout:
            if "started successfully" in line:
                break
        made = Browser(f"http://127.0.0.1:{port}")
        try:
            yield made
        finally:
            made.close()
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()
