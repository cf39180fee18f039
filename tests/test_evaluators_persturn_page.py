"""docs/persturn.md leads from the release in the repository to a report, by the commands that stand there."""

import re
import shlex
from pathlib import Path

import pytest

from evaluators.__main__ import main
from evaluators.scoring.results import read_result

PAGE = (Path(__file__).resolve().parents[1] / "docs/persturn.md").read_text("utf-8")
TOUR = PAGE[PAGE.index("## From nothing to a report") : PAGE.index("### Judges")]
MODEL = "claude-haiku-4-5"


def commands():
    """The commands of ``evaluators`` in the tour, as words."""
    blocks = re.findall(r"^```sh\n(.*?)^```", TOUR, re.DOTALL | re.MULTILINE)
    lines = re.sub(r"\\\n\s*", "", "\n".join(blocks)).splitlines()
    return [shlex.split(line)[3:] for line in lines if line.startswith("python -m evaluators ")]


@pytest.fixture
def toured(tmp_path, monkeypatch, rehearse):
    """The tour, with fewer recorded replies; the rehearsal server judges as it does by itself."""
    rehearse()
    root = Path(__file__).resolve().parents[1]
    for name in ("evaluators", "releases"):
        (tmp_path / name).symlink_to(root / name)
    monkeypatch.chdir(tmp_path)
    for words in commands():
        words = [str(path) for word in words for path in (sorted(Path().glob(word)) if "*" in word else [word])]
        more = ["--limit", "400", "--out", "build/evaluations/persturn@1.0.1/said.offline-original.json"]
        assert main([*words, "--quiet", *(more if "offline:original" in words else [])]) == 0, words
    return tmp_path


def test_the_tour_ranks_three_judges_and_two_candidates(toured):
    result = read_result(toured / "build/evaluations/persturn@1.0.1/satisfaction.reference_cdf.json")
    ranked = [row["name"] for row in result["figures"]["ranking"] if not row["baseline"]]
    assert sorted(ranked) == [f"{MODEL}, zero_shot", "offline:fair, zero_shot", "offline:harsh, zero_shot"]
    assert ranked[-1] == f"{MODEL}, zero_shot"
    assert len(result["figures"]["replay"]) == 3
    for table in result["figures"]["replay"]:
        assert {"offline:strong", "offline:weak"} <= {row["name"] for row in table["candidates"]}
    page = (toured / "persturn.html").read_text("utf-8")
    assert all(name in page for name in (*ranked, "offline:strong", "offline:weak"))
