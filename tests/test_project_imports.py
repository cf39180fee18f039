"""The import rule of the house: data flows one way."""

import ast
from collections import defaultdict
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


def imports(path: Path, *, at_import_time: bool) -> set[str]:
    tree = ast.parse(path.read_text("utf-8"))
    nodes = ast.walk(tree) if not at_import_time else _top_level(tree)
    names = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def _top_level(tree: ast.AST):
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        yield node
        yield from _top_level(node)


@pytest.mark.parametrize("package", ALLOWED)
def test_a_package_imports_only_the_floors_below_it(package):
    for name, path in modules().items():
        if name.split(".")[0] != package:
            continue
        used = {imported.split(".")[0] for imported in imports(path, at_import_time=False)} & (
            ALLOWED.keys() | {"tests", "perf"}
        )
        assert used - {package} <= ALLOWED[package], f"{name} imports {used - {package} - ALLOWED[package]}"


def test_no_two_modules_import_each_other_in_a_circle():
    known = modules()
    edges = defaultdict(set)
    for name, path in known.items():
        edges[name] = {i for i in imports(path, at_import_time=True) if i in known and i != name}
        # `from package import module` also names the package; that edge is not a need for its names.
        edges[name] -= {e for e in edges[name] if any(other.startswith(e + ".") for other in edges[name])}
    state: dict[str, int] = {}

    def visit(name: str, trail: tuple[str, ...]) -> None:
        state[name] = 1
        for target in sorted(edges[name]):
            assert state.get(target) != 1, f"circle: {' -> '.join((*trail, name, target))}"
            if target not in state:
                visit(target, (*trail, name))
        state[name] = 2

    for name in sorted(known):
        if name not in state:
            visit(name, ())


def test_the_validators_package_is_ours_and_not_the_one_of_the_same_name():
    import validators

    assert Path(validators.__file__).is_relative_to(ROOT)


def test_tests_do_not_shadow_a_package():
    assert not list((ROOT / "tests").rglob("__init__.py"))
