"""A small frozen release of planted raters, and the verbs of evaluators run on it."""

from pathlib import Path

from builders.__main__ import main as build
from evaluators.__main__ import main
from releases.__main__ import main as releases

SPEC = "persturn@0.1.0"
RUBRICS = Path(__file__).resolve().parents[1] / "evaluators/rubrics/persturn"


def small_release(root: Path) -> Path:
    """Twelve raters, two of whom train, and twenty replay items; returns the folder of frozen releases."""
    space = ["--workspace", str(root / "build"), "--quiet"]
    assert build(["run", "persturn", "--raters", "12", "--replay-items", "20", "--workers", "1", *space]) == 0
    allowed = ["--allow", "table.row_count", "--why", "a small one for a test"]
    assert releases(["freeze", SPEC, *allowed, "--frozen", str(root / "frozen"), *space]) == 0
    return root / "frozen"


def evaluate(root: Path, verb: str, *words: str | Path) -> int:
    """Run a verb with the workspace ``root/out``; ``run``, ``calibrate`` and ``spur`` get the release."""
    release = ["--release", SPEC, "--frozen", str(root / "frozen")] if verb in ("run", "calibrate", "spur") else []
    return main([verb, *release, "--workspace", str(root / "out"), *map(str, words)])


def folder(root: Path) -> Path:
    """Where results are."""
    return root / "out/evaluations" / SPEC
