"""An evaluation of 673 questions: asking a server (another process, 200 ms, 64 in flight), and retrieval.

The release is made up for the purpose: the eleven characters and 64 scenarios of the builders, 1,000
memories of 3,300 letters each, 673 questions. ``floor`` is what bare sockets need for as many requests; ``bound``
is 673 / 64 x 0.2 s, which no client can reach, as the last round is not full. ``rag`` sends 30 memories (about
100 KB) a question. Imports, retrieval and baselines are not in the wall time of asking; ``baselines`` and
``retrieval`` have their own.

    python -m perf.evaluators.evaluate
    python -m perf.evaluators.evaluate --inspect .peers      inspect_ai too, from the environment there
"""

from __future__ import annotations

import argparse
import atexit
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from perf import harness
from perf.models import dispatch

QUESTIONS, WIDTH = 673, 64
_MEMORIES, _LETTERS = 1000, 3300
_PEER = Path(__file__).parent / "inspect_peer.py"
_CHECKS = {"validators": {"rows": 0, "ran": [], "findings": {}, "figures": []}, "audits": {}, "allowed": []}


def made_up(root: Path) -> Path:
    """Freeze a release of full size with invented texts under ``root``; returns its folder."""
    from builders.ids import question_id
    from builders.personas import load_characters
    from builders.scenarios.step import main as write_scenarios
    from releases.freeze import Plan, freeze
    from schemas.release_names import parse_name
    from schemas.workspace import Workspace

    write_scenarios(["--workspace", str(root / "work"), "--quiet"])
    space = Workspace(root / "work", "heart")
    chance = random.Random(7)
    scenarios, characters = list(space.rows("scenarios")), load_characters()
    words = " ".join(row["context_text"] for row in scenarios).split()
    questions = [(one["character_id"], row) for one in characters for row in scenarios][:QUESTIONS]
    asked, keys = [], []
    for who, scenario in questions:
        name = question_id(who, scenario["id"])
        asked.append(_question(name, who, scenario, words, chance))
        keys.append(_key(name, [row["character_id"] for row in characters], who, chance))
    rows: dict[str, list[dict[str, Any]]] = {"characters": characters, "mcqs": asked, "mcq_keys": keys}
    with space.lock():
        for table in space.benchmark.tables:
            if table == "memories":
                for number, one in enumerate(characters, 1):
                    space.write(table, _memories(number, one["character_id"], words, chance), one["character_id"])
            elif table != "scenarios":
                space.write(table, rows.get(table, []))
    return freeze(Plan(parse_name("heart@0.0.1"), space, root / "frozen"), _CHECKS).folder


def _memories(number: int, who: str, words: list[str], chance: random.Random) -> list[dict[str, Any]]:
    made = []
    for place in range(1, _MEMORIES + 1):
        age = 6 + place * 44 // _MEMORIES
        made.append(
            {
                "id": f"MEM_{number:02d}_{place:04d}",
                "timeline": f"Life ({age})",
                "context": "somewhere",
                "content_summary": " ".join(chance.choices(words, k=6)),
                "content_full": " ".join(chance.choices(words, k=_LETTERS // 6))[:_LETTERS],
                "triggers": ["one", "two", "three", "four"],
                "relevance_tags": ["one", "two", "three", "four"],
                "psych_conclusion": "x",
                "behavior_policy": "x",
                "emotion_signature": {"primary": "joy", "secondary": "fear", "intensity": 0.5},
                "character_id": who,
                "age": age,
                "stage": "adolescence",
                "domain": "Workplace",
                "tier": "A",
                "ledger_refs": [],
                "provenance": None,
            }
        )
    return made


def _question(name: str, who: str, scenario: Mapping[str, Any], words: list[str], chance: random.Random) -> Any:
    options = [{"label": label, "content": " ".join(chance.choices(words, k=70))} for label in "ABCD"]
    about = {"question_id": name, "character_id": who, "scenario_id": scenario["id"], "stage": scenario["stage"]}
    return {**about, "options": options, "published": [], "provenance": None}


def _key(name: str, everyone: list[str], who: str, chance: random.Random) -> Any:
    answer = chance.choice("ABCD")
    others = iter(chance.sample([one for one in everyone if one != who], 3))
    sources = [
        {"label": label, "character_id": who if label == answer else next(others), "is_generated": None}
        for label in "ABCD"
    ]
    return {
        "question_id": name,
        "answer": answer,
        "sources": sources,
        "rule": "balanced",
        "published": [],
        "provenance": None,
    }


def ours(setting: str) -> harness.Case:
    """``evaluators.protocols.choosing.ask_model``: prompts, journal, pacing, reading of replies."""

    def case(arguments: argparse.Namespace) -> harness.Timed:
        import models.running  # noqa: F401  # the imports are not timed
        from evaluators.memory.settings import Setting, retrieve
        from evaluators.protocols.choosing import ask_model
        from evaluators.protocols.prompting import How
        from models.backends import BackendSettings
        from models.prices import read_prices
        from models.roles import read_roles

        bench = _bench(arguments)
        address = _server(arguments)
        os.environ.update(ANTHROPIC_BASE_URL=address, ANTHROPIC_API_KEY="k")
        folder = Path(tempfile.mkdtemp(dir=arguments.folder))
        retrieved = retrieve(bench, Setting(setting), folder, None)
        journal = folder / "journal.sqlite"
        settings = BackendSettings("messages", read_roles(), read_prices(), journal, concurrency=WIDTH, quiet=True)

        def timed() -> Mapping[str, Any]:
            found = ask_model(bench, retrieved, How(setting), settings)
            return _figures(arguments, sum(own[0].state == "scored" for own in found.values()))

        return timed

    return case


def inspect_peer(arguments: argparse.Namespace) -> harness.Timed:
    """The same task in inspect_ai, vanilla, its live log off."""
    address = _server(arguments)
    environment = {**os.environ, "ANTHROPIC_BASE_URL": address, "ANTHROPIC_API_KEY": "k", "INSPECT_DISPLAY": "none"}
    environment["PYTHONPATH"] = str(Path(__file__).resolve().parents[2])
    python = Path(arguments.inspect) / "bin" / "python"
    words = [str(python), "-P", str(_PEER), arguments.data, str(WIDTH), tempfile.mkdtemp(dir=arguments.folder)]
    process = subprocess.Popen(words, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin and process.stdout
    if process.stdout.readline() != "ready\n":
        raise RuntimeError("inspect_ai did not start")
    start, lines = process.stdin, process.stdout

    def timed() -> Mapping[str, Any]:
        start.write("go\n")
        start.flush()
        done = int(lines.readline())
        process.wait()
        return _figures(arguments, done)

    return timed


def retrieval(arguments: argparse.Namespace) -> harness.Timed:
    """TF-IDF over all memories, and the 30 nearest for every question."""
    from sklearn.feature_extraction.text import TfidfVectorizer  # noqa: F401  # the import is not timed

    from evaluators.memory.settings import Setting, retrieve

    bench = _bench(arguments)

    def timed() -> Mapping[str, Any]:
        found = retrieve(bench, Setting("naive_rag"), Path(arguments.folder or tempfile.gettempdir()), None)
        return {"questions": len(found), "memories": sum(map(len, found.values()))}

    return timed


def floors(arguments: argparse.Namespace) -> harness.Timed:
    """All baselines of a run."""
    from sklearn.linear_model import LogisticRegression  # noqa: F401  # the import is not timed

    from evaluators.memory.settings import Setting, retrieve
    from evaluators.protocols.baselines import all_answers

    bench = _bench(arguments)
    retrieved = retrieve(bench, Setting("naive_rag"), Path(arguments.folder or tempfile.gettempdir()), None)

    def timed() -> Mapping[str, Any]:
        made = all_answers(bench, 7, retrieved)
        return {"baselines": len(made), "answers": sum(len(answers or ()) for answers in made.values())}

    return timed


def chosen(body: Mapping[str, Any]) -> str:
    """The server's answer, made without effort."""
    return '{"reasoning": "It is how this person acts.", "choice": "B"}'


def _bench(arguments: argparse.Namespace) -> Any:
    from evaluators.protocols.bench import read_bench
    from releases import open_release

    return read_bench(open_release(arguments.data))


def _server(arguments: argparse.Namespace) -> str:
    """Start the rehearsal server in another process; it goes with this one."""
    words = ["--latency", str(arguments.latency), "--composer", "perf.evaluators.evaluate:chosen", "--json", "--quiet"]
    process = subprocess.Popen([sys.executable, "-m", "models.rehearsal", *words], stdout=subprocess.PIPE)
    atexit.register(process.terminate)
    assert process.stdout
    lines = b""
    while b"}" not in lines:
        lines += process.stdout.readline()
    address: str = json.loads(lines)["address"]
    return address


def _figures(arguments: argparse.Namespace, done: int) -> dict[str, Any]:
    if done != QUESTIONS:
        raise RuntimeError(f"{done} of {QUESTIONS} scored")
    return {"scored": done, "bound_s": round(QUESTIONS / WIDTH * arguments.latency, 3)}


def _floor(arguments: argparse.Namespace) -> harness.Timed:
    return dispatch.floor(WIDTH)(argparse.Namespace(**{**vars(arguments), "requests": QUESTIONS}))


def _arguments(made: argparse.ArgumentParser) -> None:
    made.add_argument("--latency", type=float, default=0.2, metavar="S", help="seconds of the server (default: 0.2)")
    made.add_argument("--folder", metavar="DIR", help="where things are put (default: the temporary folder)")
    made.add_argument("--inspect", metavar="DIR", help="environment that holds inspect-ai and our dependencies")
    made.add_argument("--data", help=argparse.SUPPRESS)


def main() -> int:
    """Make the release once, then let the cases take turns."""
    words = sys.argv[1:]
    most = 1.15 * QUESTIONS / WIDTH * 0.2
    ideal = -(-QUESTIONS // WIDTH) * 0.2
    cases = {"floor": _floor, "ours": ours("vanilla"), "ours_rag": ours("naive_rag")}
    promises = [harness.Promise("ours", "floor", ideal / most)]
    if any(word.startswith("--inspect") for word in words):
        cases["inspect_ai"] = inspect_peer
        promises.append(harness.Promise("ours", "inspect_ai", 2))
    comparisons = [
        harness.Comparison("asking", cases, "floor", tuple(promises)),
        harness.Comparison("without a model", {"retrieval": retrieval, "baselines": floors}, "retrieval"),
    ]
    with tempfile.TemporaryDirectory() as root:
        if "--child" not in words and not {"-h", "--help"} & set(words):
            words += ["--data", str(made_up(Path(root)))]
        return harness.main("perf.evaluators.evaluate", comparisons, words, _arguments)


if __name__ == "__main__":
    raise SystemExit(main())
