"""The project speaks of itself alone, and its files keep the budget of the house."""

import ast
import functools
import re
import subprocess
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

MACHINE = re.compile(
    r"(?<![\w.])/(work|root|farm)/|/tmp/bash|\.library\b|pypi\.org|files\.pythonhosted|index-url", re.I
)


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in listed.splitlines() if (ROOT / name).is_file()]


@functools.cache
def texts() -> list[tuple[Path, str]]:
    binary = {".parquet", ".png", ".zst", ".xz", ".gz", ".npz"}
    return [(path, path.read_text("utf-8")) for path in tracked() if path.suffix not in binary]


@functools.cache
def parsed(text: str) -> ast.Module:
    return ast.parse(text)


def test_no_file_names_a_machine_or_a_registry():
    here = Path(__file__)
    hits = [(path.relative_to(ROOT), m[0]) for path, text in texts() if path != here for m in MACHINE.finditer(text)]
    assert hits == []


def python_files() -> list[tuple[Path, str]]:
    """Path below the root and text of every Python file."""
    return [(path.relative_to(ROOT), text) for path, text in texts() if path.suffix == ".py"]


def test_no_module_is_longer_than_300_lines_and_no_test_than_400():
    most = {path: 400 if path.parts[0] == "tests" else 300 for path, _ in python_files()}
    assert {str(path): text.count("\n") for path, text in python_files() if text.count("\n") > most[path]} == {}


def test_no_folder_but_that_of_the_tests_holds_more_than_20_modules():
    folders = Counter(path.parent for path, _ in python_files() if path.parts[0] != "tests")
    assert {str(folder): count for folder, count in folders.items() if count > 20} == {}


def test_no_function_is_longer_than_60_lines_or_takes_more_than_8_parameters():
    over = []
    for path, text in texts():
        if path.suffix != ".py":
            continue
        for node in ast.walk(parsed(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                count = len([a for a in arguments if a.arg not in ("self", "cls")])
                if lines > 60 or (count > 8 and path.parts[-2] != "tests"):
                    over.append(
                        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}: {lines} lines, {count} parameters"
                    )
    assert over == []


def test_every_public_module_opens_with_a_docstring():
    bare = [
        str(path.relative_to(ROOT))
        for path, text in texts()
        if path.suffix == ".py" and text.strip() and not ast.get_docstring(parsed(text))
    ]
    assert bare == []
