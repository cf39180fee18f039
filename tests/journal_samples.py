"""Requests and replies for tests of the journal."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import orjson

from models.journal import Answered, Asked, opened, read_only
from models.request import Request, Usage
from models.roles import model_named
from models.wire.questions import question

ROOT = Path(__file__).parents[1]
PROGRAM = ROOT / "tests" / "cases" / "stories_on_a_model.py"
MODEL = model_named("m")


def asked(number, wire="messages"):
    request = Request(f"a/{number}", "memory", ("rules",), f"Write {number}.", "p", "d", compose=dict, max_tokens=9)
    made = question(request, MODEL, "http://x")
    return Asked(made, request.id, "memory", "m", "http://x", 0, 1, "p", "d", 40, 9, made.body)


def answered(number, text="yes"):
    message = orjson.dumps({"content": [{"type": "text", "text": text}], "number": number})
    return Answered(asked(number).key, message, Usage(1, 2, 3, 4), True, "req_1")


def both(number, **more):
    async def work(journal):
        await journal.ask([asked(number)])
        await journal.answer(answered(number, **more))

    return work


def write(path, *works, concurrency=4):
    """What a run writes."""

    async def everything(journal):
        await asyncio.gather(*(work(journal) for work in works))

    with opened(path, concurrency) as journal:
        journal.begin_run("tests")
        asyncio.run(everything(journal))


def query(path, sql):
    with read_only(path) as read:
        return [tuple(row) for row in read(sql)]


def program(folder, address, *words, stderr=subprocess.DEVNULL):
    """Start the command of ``cases/stories_on_a_model.py``."""
    folder.mkdir(exist_ok=True)
    addresses = {"ANTHROPIC_BASE_URL": address, "OPENAI_BASE_URL": address}
    keys = {"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k"}
    command = [sys.executable, str(PROGRAM), str(folder), *words]
    environment = {**os.environ, **addresses, **keys, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(command, env=environment, cwd=ROOT, stderr=stderr)
