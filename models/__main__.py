"""The journal of a workspace: what was asked and answered, what it cost, and how to ask some of it again.

    python -m models journal list --id 'heart/memories/CHAR_04/*'
    python -m models journal cost
    python -m models journal export requests.jsonl
    python -m models journal prune --id 'heart/memories/CHAR_04/adolescence/*' --yes
    python -m models journal prune --failed build/heart/failed.jsonl --yes

A run replays what was answered, useless answers too: pruning those named in ``failed.jsonl`` lets the next run
ask for them once more.
All verbs but ``prune`` also work while a run is writing the journal.
"""

from __future__ import annotations

import argparse
import datetime
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from models import bookkeeping
from models.bookkeeping import Account, Filter
from models.budget import dollars
from models.journal import opened, read_only
from models.prices import read_prices
from schemas import command
from schemas.benchmarks import benchmark
from schemas.errors import RequestError
from schemas.rows import read_jsonl, write_jsonl

_PROG = "models"
_SHOWN = 50


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``python -m models``."""
    made = command.parser(_PROG, "The journal of requests and replies.", f"python -m {_PROG} journal cost")
    verbs = made.add_subparsers(required=True, metavar="journal").add_parser("journal").add_subparsers(required=True)
    listing = _verb(verbs, "list", "requests and what became of them", _list)
    listing.add_argument("--limit", type=int, default=_SHOWN, metavar="N", help=f"at most so many (default: {_SHOWN})")
    cost = _verb(verbs, "cost", "tokens and dollars by role and model", _cost)
    cost.add_argument("--prices", type=Path, metavar="FILE", help="price list instead of models/prices.toml")
    export = _verb(verbs, "export", "requests with bodies and replies, as JSON Lines", _export)
    export.add_argument("file", type=Path, metavar="FILE", help="where to write them")
    prune = _verb(verbs, "prune", "forget requests, so that they are asked (and paid) again", _prune)
    prune.add_argument("--failed", type=Path, metavar="FILE", help="the last requests of a run's failed.jsonl")
    prune.add_argument("--yes", action="store_true", help="do it; without this, say what it would do")
    return command.run(lambda parsed: int(parsed.verb(parsed)), made, argv)


def _verb(
    verbs: argparse._SubParsersAction[argparse.ArgumentParser], name: str, what: str, verb: object
) -> argparse.ArgumentParser:
    made = verbs.add_parser(name, help=what, description=f"{what[0].upper()}{what[1:]}.", allow_abbrev=False)
    command.add_common(made)
    made.add_argument("--benchmark", default="heart", metavar="NAME", help="whose journal (default: heart)")
    made.add_argument("--journal", type=Path, metavar="FILE", help="the journal itself")
    made.add_argument("--id", metavar="GLOB", help="only requests with such an id, e.g. 'heart/memories/CHAR_04/*'")
    made.add_argument("--role", metavar="ROLE", help="only requests of this role")
    made.add_argument("--state", choices=("answered", "open"), help="only answered ones, or only the others")
    made.add_argument("--before", type=_day, metavar="DAY", help="only requests asked before this day (UTC)")
    made.set_defaults(verb=verb)
    return made


def _day(text: str) -> str:
    try:
        return datetime.date.fromisoformat(text).isoformat()
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a day such as 2026-11-21") from None


def _path(parsed: argparse.Namespace) -> Path:
    path: Path = parsed.journal or parsed.workspace / benchmark(parsed.benchmark).name / "journal.sqlite"
    return path


def _filter(parsed: argparse.Namespace) -> Filter:
    failed = getattr(parsed, "failed", None)
    names = tuple(str(line.get("request")) for line in read_jsonl(failed)) if failed else None
    return Filter(parsed.id, parsed.role, parsed.state, parsed.before, names)


def _list(parsed: argparse.Namespace) -> int:
    with read_only(_path(parsed)) as read:
        found = bookkeeping.listed(read, _filter(parsed), parsed.limit)
        total = bookkeeping.count(read, _filter(parsed))
    if parsed.json:
        command.print_json({"journal": str(_path(parsed)), "total": total, "requests": found})
    for each in found:
        used = f"{each['input_tokens']:>8,} in {each['output_tokens']:>7,} out" if each["state"] == "answered" else ""
        problem = each["problem"] or ""
        command.say(
            f"{each['state']:<10}{each['asked_at']}  {each['model']:<20}{used:<26}{each['id']}  {problem}".rstrip(),
            quiet=parsed.quiet or parsed.json,
        )
    command.say(f"{len(found):,} of {total:,} requests in {_path(parsed)}", quiet=parsed.quiet or parsed.json)
    return command.DONE


def _cost(parsed: argparse.Namespace) -> int:
    prices = read_prices(parsed.prices)
    with read_only(_path(parsed)) as read:
        accounts = bookkeeping.accounts(read, prices, _filter(parsed))
    if parsed.json:
        command.print_json(
            {
                "journal": str(_path(parsed)),
                "prices": {"date": prices.date.isoformat(), "file": str(prices.path)},
                "accounts": [asdict(account) for account in accounts],
                "cost": _sum([account.cost for account in accounts]),
                "doubt_cost": _sum([account.doubt_cost for account in accounts if account.doubts]),
            }
        )
    _say_accounts(accounts, parsed.quiet or parsed.json)
    command.say(
        f"list prices of {prices.date} ({prices.path.name}), journal {_path(parsed)}", quiet=parsed.quiet or parsed.json
    )
    return command.DONE


def _say_accounts(accounts: Sequence[Account], quiet: bool) -> None:
    command.say(
        f"{'role':<10}{'model':<24}{'answered':>9}{'open':>6}{'input':>12}{'written':>12}{'read':>12}{'output':>12}"
        f"{'cost':>15}",
        quiet=quiet,
    )
    for account in accounts:
        usage, kind = account.usage, " (batch)" if account.batch else ""
        command.say(
            f"{account.role:<10}{account.model + kind:<24}{account.answered:>9,}"
            f"{account.requests - account.answered:>6,}{usage.input_tokens:>12,}{usage.cache_write_tokens:>12,}"
            f"{usage.cache_read_tokens:>12,}{usage.output_tokens:>12,}{dollars(account.cost):>15}",
            quiet=quiet,
        )
    command.say(f"in all {dollars(_sum([account.cost for account in accounts]))}", quiet=quiet)
    doubts = [account for account in accounts if account.doubts]
    if doubts:
        most = _sum([account.doubt_cost for account in doubts])
        times = sum(account.doubts for account in doubts)
        command.say(f"sent {times} times without a reply seen: may have cost up to {dollars(most)} more", quiet=quiet)
    unmetered = sum(account.unmetered for account in accounts)
    if unmetered:
        command.say(f"{unmetered} replies came without usage: their cost is not in the sum", quiet=quiet)


def _sum(costs: Sequence[float | None]) -> float | None:
    return None if None in costs else sum(cost for cost in costs if cost is not None)


def _export(parsed: argparse.Namespace) -> int:
    with read_only(_path(parsed)) as read:
        written = write_jsonl(parsed.file, bookkeeping.exported(read, _filter(parsed)))
    if parsed.json:
        command.print_json({"journal": str(_path(parsed)), "file": str(parsed.file), "requests": written})
    command.say(f"wrote {written:,} requests to {parsed.file}", quiet=parsed.quiet or parsed.json)
    return command.DONE


def _prune(parsed: argparse.Namespace) -> int:
    chosen = _filter(parsed)
    if chosen == Filter():
        raise RequestError("nothing chosen", mend="Say what to forget: --id, --failed, --role, --state or --before")
    path = _path(parsed)
    with read_only(path) as read:
        found, answered = bookkeeping.count(read, chosen), bookkeeping.count(read, chosen, answered=True)
    if parsed.yes and found:
        with opened(path, 0) as journal:
            journal.prune(*chosen.where())
    if parsed.json:
        document = {"journal": str(path), "requests": found, "answered": answered, "removed": bool(parsed.yes)}
        command.print_json(document)
    did = "forgot" if parsed.yes else "would forget"
    hint = "" if parsed.yes else ". Add --yes to do it"
    command.say(
        f"{did} {found:,} requests, {answered:,} of them answered and paid for{hint}", quiet=parsed.quiet or parsed.json
    )
    return command.DONE


if __name__ == "__main__":
    raise SystemExit(main())
