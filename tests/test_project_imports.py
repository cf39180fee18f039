"""The import rule of the house: data flows one way."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

ALLOWED = {
    "schemas": set(),
    "models": {"schemas"},
    "audits": {"schemas", "models"},
    "validators": {"schemas", "models"},
    "builders": {"schemas", "models", "audits", "validators"},
    "releases": {"schemas", "audits", "validators"},
    "evaluators": {"schemas", "models", "releases"},
}


def modules() -> dict[str, Path]:
    found = {}
    for package in ALLOWED:
        for path in (ROOT / package).rglob("*.py"):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(path: Path) -> set[str]:
    """All names a module imports: at the top, inside functions, and under TYPE_CHECKING."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return names


# Modules that still import each other in a circle, each circle as a set. This list may only get shorter.
CIRCLES = [
    {"models.asking", "models.backends", "models.batches", "models.messages"},
    {"models.rehearsal.api", "models.rehearsal.batches"},
    {"releases.diff", "releases.versioning"},
]


@pytest.mark.parametrize("package", ALLOWED)
def test_a_package_imports_only_the_floors_below_it(package):
    for name, path in modules().items():
        if name.split(".")[0] != package:
            continue
        used = {imported.split(".")[0] for imported in imports(path)} & (ALLOWED.keys() | {"tests", "perf"})
        assert used - {package} <= ALLOWED[package], f"{name} imports {used - {package} - ALLOWED[package]}"


def circles() -> list[set[str]]:
    """The sets of modules that reach each other by imports (strongly connected components of more than one)."""
    known = modules()
    edges = {}
    for name, path in known.items():
        found = {i for i in imports(path) if i in known and i != name}
        # `from package import module` also names the package; that edge is not a need for its names.
        edges[name] = {e for e in found if not any(other.startswith(e + ".") for other in found)}
    reach = {name: _reached(name, edges) for name in known}
    parts = {frozenset({name, *(o for o in reach[name] if name in reach[o])}) for name in known if name in reach[name]}
    return [set(part) for part in sorted(parts, key=sorted)]


def _reached(start: str, edges: dict[str, set[str]]) -> set[str]:
    found, waiting = set(), [*edges[start]]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += edges[name]
    return found


def test_no_two_modules_import_each_other_in_a_circle_wherever_the_import_stands():
    new = [sorted(circle) for circle in circles() if not any(circle <= known for known in CIRCLES)]
    assert new == []


def test_every_circle_that_is_listed_still_exists():
    assert [sorted(known) for known in CIRCLES if not any(circle <= known for circle in circles())] == []


def test_the_validators_package_is_ours_and_not_the_one_of_the_same_name():
    import validators

    assert Path(validators.__file__).is_relative_to(ROOT)


def test_tests_do_not_shadow_a_package():
    assert not list((ROOT / "tests").rglob("__init__.py"))
