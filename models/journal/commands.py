"""The journal of a workspace: what was asked and answered, what it cost, and how to ask some of it again.

    python -m models journal show --id 'heart/memories/CHAR_04/*' --status invalid
    python -m models journal list --state open
    python -m models journal cost
    python -m models journal reconcile --not-paid --yes
    python -m models journal export requests.jsonl
    python -m models journal prune --failed build/heart/failed.jsonl --yes
    python -m models journal merge all.sqlite build/1/heart/journal.sqlite build/2/heart/journal.sqlite
    python -m models journal recover saved.sqlite --journal build/heart/journal.sqlite

A run replays what was answered, useless answers too: pruning those named in ``failed.jsonl`` lets the next run
ask for them once more. ``reconcile`` shows what was sent without a reply seen, which the budget counts at its worst,
and books it as paid or not, once the server's own account was looked at. ``recover`` saves what can be read of a
damaged journal, ``merge`` makes one of those that several processes wrote. All verbs but ``prune``, ``reconcile`` and
``merge`` also work while a run is writing the journal.
"""

from __future__ import annotations

import argparse
import datetime
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import get_args

from models.budget import dollars
from models.journal import accounts, merging, recovery, showing, trace
from models.journal.accounts import Filter
from models.journal.files import connected, read_only
from models.journal.store import opened
from models.prices import Prices, read_prices
from models.request import Status
from schemas import command
from schemas.benchmarks import benchmark
from schemas.errors import MachineError, RequestError
from schemas.rows import read_jsonl, write_jsonl
from schemas.tables import Row

_PROG = "models"
_SHOWN = 50

Verb = Callable[[argparse.Namespace], int]


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``python -m models``."""
    made = command.parser(_PROG, "The journal of requests and replies.", f"python -m {_PROG} journal cost")
    verbs = made.add_subparsers(required=True, metavar="journal").add_parser("journal").add_subparsers(required=True)
    show = _verb(verbs, "show", "requests as a trace: prompts, replies, cost, retries", _show)
    show.add_argument("--limit", type=int, default=_SHOWN, metavar="N", help=f"at most so many (default: {_SHOWN})")
    show.add_argument("--full", action="store_true", help="prompts and replies in full, not their first lines")
    _add_prices(show)
    listing = _verb(verbs, "list", "requests and what became of them, a line each", _list)
    listing.add_argument("--limit", type=int, default=_SHOWN, metavar="N", help=f"at most so many (default: {_SHOWN})")
    _add_prices(_verb(verbs, "cost", "tokens and dollars by role and model", _cost))
    reconcile = _verb(verbs, "reconcile", "what was sent without a reply seen: show it, or book it", _reconcile)
    booked = reconcile.add_mutually_exclusive_group()
    booked.add_argument("--paid", action="store_true", help="the server billed these: count them at their worst")
    booked.add_argument("--not-paid", action="store_true", help="the server did not bill these: count nothing")
    reconcile.add_argument("--yes", action="store_true", help="do it; without this, say what it would do")
    _add_prices(reconcile)
    export = _verb(verbs, "export", "requests with bodies and replies, as JSON Lines", _export)
    export.add_argument("file", type=Path, metavar="FILE", help="where to write them")
    prune = _verb(verbs, "prune", "forget requests, so that they are asked (and paid) again", _prune)
    prune.add_argument("--failed", type=Path, metavar="FILE", help="the last requests of a run's failed.jsonl")
    prune.add_argument("--yes", action="store_true", help="do it; without this, say what it would do")
    merge = _verb(verbs, "merge", "one new journal of those that several processes wrote", _merge)
    merge.add_argument("file", type=Path, metavar="NEW", help="the new journal")
    merge.add_argument("sources", type=Path, nargs="+", metavar="JOURNAL", help="what it is made of; the first wins")
    recover = _verb(verbs, "recover", "save what can be read of a damaged journal into a new one", _recover)
    recover.add_argument("file", type=Path, metavar="NEW", help="the new journal")
    return command.run(lambda parsed: int(parsed.verb(parsed)), made, argv)


def _verb(
    verbs: argparse._SubParsersAction[argparse.ArgumentParser], name: str, what: str, verb: Verb
) -> argparse.ArgumentParser:
    made = verbs.add_parser(name, help=what, description=f"{what[0].upper()}{what[1:]}.", allow_abbrev=False)
    command.add_common(made)
    made.add_argument(
        "--benchmark", metavar="NAME|DIR", help="whose journal (default: that of the only one in the workspace)"
    )
    made.add_argument("--journal", type=Path, metavar="FILE", help="the journal itself")
    made.add_argument("--id", metavar="GLOB", help="only requests with such an id, e.g. '*/memories/*'")
    made.add_argument("--role", metavar="ROLE", help="only requests of this role")
    made.add_argument("--state", choices=("answered", "open"), help="only answered ones, or only the others")
    made.add_argument("--status", choices=("open", *get_args(Status)), help="only those that came to this")
    made.add_argument("--run", type=int, metavar="N", help="only those last asked by run N (0: the last run)")
    made.add_argument("--before", type=_day, metavar="DAY", help="only requests asked before this day (UTC)")
    made.set_defaults(verb=verb)
    return made


def _add_prices(made: argparse.ArgumentParser) -> None:
    made.add_argument("--prices", type=Path, metavar="FILE", help="price list instead of models/prices.toml")


def _day(text: str) -> str:
    try:
        return datetime.date.fromisoformat(text).isoformat()
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a day such as 2026-11-21") from None


def _path(parsed: argparse.Namespace) -> Path:
    """The journal named, that of the benchmark named, or the only one in the workspace."""
    if parsed.journal:
        return Path(parsed.journal)
    root = Path(parsed.workspace)
    if parsed.benchmark:
        return root / benchmark(parsed.benchmark).name / "journal.sqlite"
    found = sorted(root.glob("*/journal.sqlite"))
    if not found:
        raise RequestError("missing journal", root, fix="Check --workspace, or name the file with --journal")
    if len(found) > 1:
        names = ", ".join(map(str, found))
        raise RequestError("several journals", root, fix=f"Name one with --benchmark or --journal: {names}")
    return found[0]


def _filter(parsed: argparse.Namespace) -> Filter:
    failed = getattr(parsed, "failed", None)
    names = tuple(str(line.get("request")) for line in read_jsonl(failed)) if failed else None
    run = parsed.run
    if run == 0:
        with read_only(_path(parsed)) as read:
            ((run,),) = read("SELECT coalesce(max(number), 0) FROM runs")
    return Filter(parsed.id, parsed.role, parsed.state, parsed.before, names, parsed.status, run)


def _show(parsed: argparse.Namespace) -> int:
    prices, quiet = read_prices(parsed.prices), parsed.quiet or parsed.json
    with read_only(_path(parsed)) as read:
        total = accounts.count(read, _filter(parsed))
        found = [one for _, one in zip(range(parsed.limit), trace.traced(read, prices, _filter(parsed)), strict=False)]
    if parsed.json:
        command.print_json({"journal": str(_path(parsed)), "total": total, "requests": found})
    for one in found:
        for line in showing.request_lines(one, parsed.full):
            command.say(line, quiet=quiet)
    command.say(f"{len(found):,} of {total:,} requests in {_path(parsed)}", quiet=quiet)
    return command.DONE


def _list(parsed: argparse.Namespace) -> int:
    with read_only(_path(parsed)) as read:
        found = accounts.listed(read, _filter(parsed), parsed.limit)
        total = accounts.count(read, _filter(parsed))
    if parsed.json:
        command.print_json({"journal": str(_path(parsed)), "total": total, "requests": found})
    for each in found:
        command.say(showing.list_line(each), quiet=parsed.quiet or parsed.json)
    command.say(f"{len(found):,} of {total:,} requests in {_path(parsed)}", quiet=parsed.quiet or parsed.json)
    return command.DONE


def _cost(parsed: argparse.Namespace) -> int:
    prices, quiet = read_prices(parsed.prices), parsed.quiet or parsed.json
    with read_only(_path(parsed)) as read:
        found = accounts.accounts(read, prices, _filter(parsed))
    if parsed.json:
        command.print_json(
            {
                "journal": str(_path(parsed)),
                "prices": {"date": prices.date.isoformat(), "file": str(prices.path)},
                "accounts": [asdict(account) for account in found],
                "cost": showing.total([account.cost for account in found]),
                "doubt_cost": showing.total([account.doubt_cost for account in found if account.doubts]),
                "pending_cost": showing.total([account.pending_cost for account in found if account.pending]),
            }
        )
    for line in showing.cost_lines(found):
        command.say(line, quiet=quiet)
    command.say(f"list prices of {prices.date} ({prices.path.name}), journal {_path(parsed)}", quiet=quiet)
    return command.DONE


def _reconcile(parsed: argparse.Namespace) -> int:
    prices, chosen, path = read_prices(parsed.prices), _filter(parsed), _path(parsed)
    found = _doubtful(path, prices, chosen)
    book = parsed.paid or parsed.not_paid
    if book and parsed.yes and found:
        with opened(path, 0) as journal:
            where, values = chosen.where()
            keys = f"SELECT requests.key FROM {accounts.JOINED} WHERE doubts AND {where}"
            billed = "billed + doubts" if parsed.paid else "billed"
            journal.change((f"UPDATE requests SET billed = {billed}, doubts = 0 WHERE key IN ({keys})", values))
    if parsed.json:
        done = bool(book and parsed.yes)
        command.print_json({"journal": str(path), "requests": found, "booked": done, "paid": bool(parsed.paid)})
    quiet = parsed.quiet or parsed.json
    for one in found:
        command.say(showing.doubt_line(one), quiet=quiet)
    times, most = sum(one["doubts"] for one in found), showing.total([one["worst"] for one in found])
    words = f"sent {times:,} times without a reply seen: may have cost up to {dollars(most)}"
    if book:
        did = "booked" if parsed.yes else "would book (add --yes to do it)"
        words = f"{words}; {did} as {'paid' if parsed.paid else 'not paid'}"
    command.say(words, quiet=quiet)
    return command.DONE


def _doubtful(path: Path, prices: Prices, chosen: Filter) -> list[Row]:
    with read_only(path) as read:
        return accounts.doubtful(read, prices, chosen)


def _export(parsed: argparse.Namespace) -> int:
    with read_only(_path(parsed)) as read:
        written = write_jsonl(parsed.file, trace.traced(read, read_prices(), _filter(parsed)))
    if parsed.json:
        command.print_json({"journal": str(_path(parsed)), "file": str(parsed.file), "requests": written})
    command.say(f"wrote {written:,} requests to {parsed.file}", quiet=parsed.quiet or parsed.json)
    return command.DONE


def _prune(parsed: argparse.Namespace) -> int:
    chosen = _filter(parsed)
    if chosen == Filter():
        raise RequestError("nothing chosen", fix="Say what to forget: --id, --failed, --role, --state or --before")
    path = _path(parsed)
    with read_only(path) as read:
        found, answered = accounts.count(read, chosen), accounts.count(read, chosen, answered=True)
    if parsed.yes and found:
        where, values = chosen.where()
        with opened(path, 0) as journal:
            journal.forget(f"SELECT requests.key FROM {accounts.JOINED} WHERE {where}", values)
    if parsed.json:
        document = {"journal": str(path), "requests": found, "answered": answered, "removed": bool(parsed.yes)}
        command.print_json(document)
    did = "forgot" if parsed.yes else "would forget"
    hint = "" if parsed.yes else ". Add --yes to do it"
    command.say(
        f"{did} {found:,} requests, {answered:,} of them answered and paid for{hint}", quiet=parsed.quiet or parsed.json
    )
    return command.DONE


def _merge(parsed: argparse.Namespace) -> int:
    """Exit code 1 where two journals answered the same request: both replies were paid for."""
    merged = merging.merge(parsed.file, parsed.sources)
    if parsed.json:
        command.print_json({"file": str(parsed.file), **asdict(merged)})
    quiet = parsed.quiet or parsed.json
    for each in merged.conflicts:
        what = "the same reply" if each.alike else "another reply"
        command.say(f"{each.id}: {what} in {each.journal} is not used, and counts as billed", quiet=quiet)
    words = f"{merged.requests:,} requests, {merged.answered:,} of them answered, in {parsed.file}"
    command.say(f"{words}; {len(merged.conflicts):,} were answered twice", quiet=quiet)
    return command.FINDINGS if merged.conflicts else command.DONE


def _recover(parsed: argparse.Namespace) -> int:
    path = _path(parsed)
    if not path.is_file():
        raise RequestError("missing journal", path, fix="Check --journal or --workspace")
    if parsed.file.exists():
        raise RequestError("existing file", parsed.file, fix="Name a file that does not exist yet")
    found = recovery.readable(path)
    parsed.file.parent.mkdir(parents=True, exist_ok=True)
    connection = connected(parsed.file)
    try:
        recovery.save(found, connection)
    except sqlite3.Error as error:
        raise MachineError(f"cannot write ({error})", parsed.file, fix="Free some room and try again") from None
    finally:
        connection.close()
    if parsed.json:
        saved = {"replies": len(found.replies), "requests": len(found.requests)}
        command.print_json({"journal": str(path), "file": str(parsed.file), **saved})
    command.say(
        f"saved {len(found.replies):,} replies and {len(found.requests):,} requests in {parsed.file}: use it with"
        f" --journal, or put it where {path} is",
        quiet=parsed.quiet or parsed.json,
    )
    return command.DONE
