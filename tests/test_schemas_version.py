"""Which code this is."""

import shutil
import tomllib
from pathlib import Path

import schemas.version
from schemas.version import BUILDING, code_digest, package_version

ROOT = Path(__file__).resolve().parents[1]


def digest_of(root, monkeypatch):
    monkeypatch.setattr(schemas.version, "_ROOT", root)
    code_digest.cache_clear()
    try:
        return code_digest()
    finally:
        code_digest.cache_clear()


def test_the_version_is_the_projects():
    assert package_version() == tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]


def test_the_code_digest_covers_every_file_that_builds_and_nothing_else(tmp_path, monkeypatch):
    for package in BUILDING:
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    before = digest_of(tmp_path, monkeypatch)
    assert before == digest_of(ROOT, monkeypatch)
    (tmp_path / "schemas/__pycache__").mkdir()
    (tmp_path / "schemas/__pycache__/tables.pyc").write_bytes(b"x")
    (tmp_path / "releases").mkdir()
    (tmp_path / "releases/freeze.py").write_bytes(b"x")
    assert digest_of(tmp_path, monkeypatch) == before
    seed = next(path for path in sorted((tmp_path / "builders/seeds").rglob("*.toml")))
    content = seed.read_bytes()
    seed.write_bytes(content + b"\n")
    assert digest_of(tmp_path, monkeypatch) != before
    seed.write_bytes(content)
    seed.rename(seed.with_name("other.toml"))
    assert digest_of(tmp_path, monkeypatch) != before
