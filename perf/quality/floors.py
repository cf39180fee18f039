"""The floors of multiple choice on the release in the repository, and how much each setting retrieves: docs/floors.md.

python -m perf.quality.floors            writes the page
python -m perf.quality.floors --check    exit code 1 when it is stale
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from evaluators.memory.settings import Setting, retrieve
from evaluators.protocols.baselines import NAMES, READING, answers
from evaluators.protocols.bench import Bench, activated_of, read_bench, read_keys
from evaluators.protocols.prompting import Excerpts
from evaluators.reporting.choice.lines import share_line
from evaluators.scoring.statistics import intervals, share
from releases import open_release
from schemas.docs.generated import command, markdown_table

FILE = Path("docs/floors.md")
RELEASE = "heart@2.0.0"
SEED = 7

_SETTINGS = ("recent", "naive_rag", "persona_db", "oracle", "full")
_HEAD = f"""# Floors of multiple choice

Written by `python -m perf.quality.floors` on `{RELEASE}`, seed {SEED}, without a model: what a run has to clear
before it says anything of a model. `nearest` and `reader` read what the setting retrieves and nothing else.
Recall is the share of the memories that a situation calls up (the release's fine step of activation)
which the setting retrieved.

"""


def page() -> str:
    """The whole page."""
    bench = read_bench(open_release(RELEASE))
    keys = read_keys(bench.release)
    rows = []
    for setting, baseline, found, recall in _answers(bench):
        right = np.array([found[one.id] == keys[one.id] for one in bench.questions], dtype=np.float64)
        people = [one.character_id for one in bench.questions]
        _, by_people, _ = intervals(right, [one.scenario_id for one in bench.questions], people, SEED)
        over_people = f"{100 * (by_people.low or 0):.1f} to {100 * (by_people.high or 0):.1f} %"
        rows.append([baseline, setting, share_line(asdict(share(int(right.sum()), len(right)))), over_people, recall])
    head = ["baseline", "setting", "right, Wilson's interval", "characters like these", "recall"]
    return _HEAD + "\n".join(markdown_table(head, rows)) + "\n"


def _answers(bench: Bench) -> Iterator[tuple[str, str, dict[str, str], str]]:
    for name in NAMES:
        if name not in READING:
            yield "any", name, answers(name, bench, SEED), ""
    with tempfile.TemporaryDirectory() as folder:
        for setting in _SETTINGS:
            retrieved = retrieve(bench, Setting(setting), Path(folder), None)
            recall = _recall(bench, retrieved)
            for name in READING:
                yield setting, name, answers(name, bench, SEED, retrieved), recall


def _recall(bench: Bench, retrieved: dict[str, Excerpts]) -> str:
    activated = activated_of(bench.release)
    shares = [
        len({one.memory_id for one in retrieved[question.id]}.intersection(wanted)) / len(wanted)
        for question in bench.questions
        if (wanted := activated.get((question.character_id, question.scenario_id)))
    ]
    return f"{100 * sum(shares) / len(shares):.1f} %"


def main(argv: Sequence[str] | None = None) -> int:
    """Write the page, or check it; returns the exit code."""
    return command("perf.quality.floors", "Write the floors of multiple choice.", FILE, page, argv)


if __name__ == "__main__":
    raise SystemExit(main())
