"""The wheel is complete: it imports and runs with nothing but its declared dependencies."""

import importlib.metadata
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PACKAGES = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)],
        check=True,
        capture_output=True,
    )
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def bare(wheel, tmp_path_factory):
    """A folder with the wheel and, linked into it, its declared dependencies and theirs; no extras, no dev tools."""
    site = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    for name in runtime_closure():
        link_distribution(importlib.metadata.distribution(name), site)
    return site


def runtime_closure() -> set[str]:
    from packaging.requirements import Requirement

    wanted = [(Requirement(text), frozenset()) for text in PROJECT["project"]["dependencies"]]
    seen: set[tuple[str, frozenset[str]]] = set()
    while wanted:
        requirement, _ = wanted.pop()
        key = (re.sub(r"[-_.]+", "-", requirement.name).lower(), frozenset(requirement.extras))
        if key in seen:
            continue
        seen.add(key)
        for text in importlib.metadata.distribution(requirement.name).requires or []:
            child = Requirement(text)
            environments = [{"extra": extra} for extra in requirement.extras] or [{"extra": ""}]
            if child.marker is None or any(child.marker.evaluate(environment) for environment in environments):
                wanted.append((child, frozenset()))
    return {name for name, _ in seen}


def link_distribution(distribution: importlib.metadata.Distribution, site: Path) -> None:
    for name in {Path(file).parts[0] for file in distribution.files or []} - {"..", "__pycache__"}:
        source, target = Path(str(distribution.locate_file(name))), site / name
        if not target.exists():
            target.symlink_to(source)


def run(bare: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-S", "-P", *arguments],
        env={"PYTHONPATH": str(bare), "PATH": "/usr/bin:/bin", "HOME": str(bare)},
        cwd=bare,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_wheel_holds_the_packages_and_nothing_else(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names if ".dist-info/" not in name}
    assert tops == set(PACKAGES)
    assert not [name for name in names if name.startswith("releases/frozen")]


def test_the_wheel_carries_its_data_files(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    data = [p for package in PACKAGES for p in (ROOT / package).rglob("*") if p.suffix in {".json", ".toml", ".md"}]
    expected = {str(p.relative_to(ROOT)) for p in data} - {n for n in map(str, data) if "frozen" in n}
    assert {name for name in expected if not name.startswith("releases/frozen")} <= names


def test_every_module_of_the_wheel_imports_without_extras_and_dev_tools(bare, wheel):
    modules = sorted(
        name.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
        for name in zipfile.ZipFile(wheel).namelist()
        if name.endswith(".py") and not name.endswith("__main__.py") and "inspect_tasks" not in name
    )
    script = "import importlib, sys\nfor name in sys.argv[1:]: importlib.import_module(name)"
    done = run(bare, "-c", script, *modules)
    assert done.returncode == 0, done.stderr


def test_no_dev_tool_is_reachable_from_the_bare_wheel(bare):
    done = run(bare, "-c", "import mypy")
    assert "ModuleNotFoundError" in done.stderr


def test_a_command_of_the_bare_wheel_runs(bare):
    done = run(bare, "-m", "validators", "--benchmark", "hart")
    assert done.returncode == 2
    assert done.stderr.startswith("error: unknown benchmark 'hart'")
    assert "heart" in done.stderr
