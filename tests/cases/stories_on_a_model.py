"""A command as a builder has it, for tests that kill it: forty chains of two requests on a model.

python tests/cases/stories_on_a_model.py FOLDER [--batch] [--processes N]
"""

import argparse
import functools
import sys
from pathlib import Path

import orjson

from models.backends import BackendSettings, run
from models.prices import read_prices
from models.remedies import ask
from models.request import Request
from models.roles import read_roles
from schemas import command
from schemas.rows import write_whole


def story(number: int):
    said: list[str] = []
    for step in range(2):
        prompt = f"{number}/{step}: {' '.join(said)}"
        reply = yield from ask(Request(f"s/{number}/{step}", "memory", ("Rules.",), prompt, "p", "d", str, rows=1))
        said.append(reply.answer)
    return said


def everything(parsed: argparse.Namespace) -> int:
    folder = parsed.folder
    journal = folder / "journal.sqlite"
    settings = BackendSettings(
        "messages",
        read_roles(),
        read_prices(),
        journal,
        concurrency=4,
        batch=parsed.batch,
        processes=parsed.processes,
    )
    told = list(run([functools.partial(story, number) for number in range(40)], settings, rows=80))
    write_whole(folder / "said.json", [orjson.dumps(told)])
    return command.DONE


if __name__ == "__main__":
    arguments = command.parser("stories", "Stories.", "python stories")
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--batch", action="store_true")
    arguments.add_argument("--processes", type=int, default=1)
    sys.exit(command.run(everything, arguments, sys.argv[1:]))
