"""An import of judgements that is killed at any instant leaves whole files, and the next one ends the same."""

import random
import shutil
import time

import orjson
import pytest
from release_samples import KILLS, keeper
from review_samples import AS_IS, PEOPLE, Play

WORK = """
import contextlib, io
from validators.review.__main__ import main
def work(argument):
    root, *files = argument.split("|")
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        main(["import", "--workspace", root, "--quiet", *files])
"""


@pytest.fixture
def play(tmp_path, small_heart, capsys):
    return Play(tmp_path / "first", small_heart, capsys)


def rows_of(root):
    """Every table as it lies there; a file that is not whole does not parse."""
    files = [*sorted((root / "heart/decisions").glob("*.jsonl")), *sorted((root / "heart/reviews").glob("*.jsonl"))]
    return {path.name: [orjson.loads(line) for line in path.read_bytes().splitlines()] for path in files}


def test_an_import_killed_at_any_instant_leaves_whole_files_and_ends_the_same_the_next_time(play, tmp_path):
    texts = {who: row["final_decision"] for who, row in play.decisions().items()}
    play.export()
    odd = {
        texts["CHAR_02"]: {**AS_IS, "verdict": "unacceptable", "rationale": "No."},
        texts["CHAR_03"]: {"suitable": "no", "reason": "age"},
    }
    for person in PEOPLE[:3]:
        play.fill(person, lambda text, person=person: odd.get(text, AS_IS) if person == "A3" else AS_IS)
    sheets = [str(play.folder / f"{person}.csv") for person in PEOPLE[:3]]
    chance, broken = random.Random(7), 0
    with keeper(WORK) as process:
        calm = shutil.copytree(play.root, tmp_path / "calm")
        start = time.monotonic()
        assert process.run("|".join([str(calm), *sheets]))
        length, expected = time.monotonic() - start, rows_of(calm)
        assert len(expected["decisions.jsonl"]) == 12
        for number in range(KILLS):
            root = shutil.copytree(play.root, tmp_path / str(number))
            broken += not process.run("|".join([str(root), *sheets]), seconds=chance.uniform(0.0, 1.0) * length)
            rows_of(root)
            assert process.run("|".join([str(root), *sheets]))
            assert rows_of(root) == expected
    assert broken >= 1
