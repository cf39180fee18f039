"""No room but the builders knows a benchmark by name: what is said of HEART-BENCH stands in data files.

Docstrings and comments may show examples.
"""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

ROOMS = ("schemas", "models", "releases", "evaluators", "audits")

NAMES = re.compile(r"^heart$|CHAR_|MEM_|big_five")


def strings(path: Path) -> list[str]:
    """The string constants of a module, docstrings aside."""
    tree = ast.parse(path.read_text("utf-8"))
    scopes = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    documented = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, scopes) and node.body and isinstance(node.body[0], ast.Expr)
    }
    constants = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in documented)
    return [node.value for node in constants if isinstance(node.value, str)]


def test_no_room_but_the_builders_names_a_benchmark_or_its_ids():
    files = [path for room in ROOMS for path in (ROOT / room).rglob("*.py")]
    files += (ROOT / "validators").glob("*.py")
    assert len(files) > 100
    naming = {path.relative_to(ROOT).as_posix() for path in files if any(map(NAMES.search, strings(path)))}
    assert naming == set()
