"""Lines for people about what a journal holds: requests as a trace, sums, doubts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from models.budget import dollars
from models.journal.accounts import Account

_SHORT = 300  # characters of a text that is not shown in full


def request_lines(one: Mapping[str, Any], full: bool) -> Iterator[str]:
    """A request as a trace: what it is, what it was sent, what came, what it cost."""
    retries = [f"sent {one['sent']} times"] if one["sent"] > 1 else []
    retries += [f"attempt {one['attempt']}"] if one["attempt"] > 1 else []
    retries += [f"{one['doubts']} without a reply seen"] if one["doubts"] else []
    yield (
        f"== {one['id']}  {one['role']} on {one['model']} at {one['server']} ({one['wire']}), run {one['run']},"
        f" {one['asked_at']}{''.join(f', {words}' for words in retries)}"
    )
    for role, text in one["parts"]:
        yield f"  {role}: {_shown(text, full)}"
    if one["text"] is None:
        yield f"  -> open: {one['problem'] or ('being sent' if one['pending'] else 'never answered')}"
        return
    usage = one["usage"]
    used = f"{sum(usage.values()) - usage['output_tokens']:,} tokens in, {usage['output_tokens']:,} out"
    reason = f": {one['reason']}" if one["reason"] else ""
    yield f"  -> {one['status']}{reason} ({used}, {dollars(one['cost'])}): {_shown(one['text'], full)}"


def _shown(text: str, full: bool) -> str:
    words = text if full else " ".join(text.split())
    return words if full or len(words) <= _SHORT else f"{words[:_SHORT]}… ({len(text):,} characters)"


def list_line(each: Mapping[str, Any]) -> str:
    """A request and what became of it."""
    used = f"{each['input_tokens']:>8,} in {each['output_tokens']:>7,} out" if each["state"] == "answered" else ""
    problem = each["problem"] or ""
    return f"{each['status']:<10}{each['asked_at']}  {each['model']:<20}{used:<26}{each['id']}  {problem}".rstrip()


def doubt_line(one: Mapping[str, Any]) -> str:
    """A request that was sent without a reply seen."""
    later = "answered later" if one["answered"] else "not answered"
    return (
        f"{one['asked_at']}  {one['model']:<20}{one['doubts']:>3} times, up to {dollars(one['worst']):>12}"
        f"  {later:<15}{one['id']}  {one['problem'] or ''}"
    ).rstrip()


def cost_lines(accounts: Sequence[Account]) -> Iterator[str]:
    """Accounts as a table, and what is not known."""
    yield (
        f"{'role':<10}{'model':<24}{'answered':>9}{'open':>6}{'input':>12}{'written':>12}{'read':>12}{'output':>12}"
        f"{'cost':>15}"
    )
    for account in accounts:
        usage, kind = account.usage, " (batch)" if account.batch else ""
        yield (
            f"{account.role:<10}{account.model + kind:<24}{account.answered:>9,}"
            f"{account.requests - account.answered:>6,}{usage.input_tokens:>12,}{usage.cache_write_tokens:>12,}"
            f"{usage.cache_read_tokens:>12,}{usage.output_tokens:>12,}{dollars(account.cost):>15}"
        )
    yield f"in all {dollars(total([account.cost for account in accounts]))}"
    doubts = [account for account in accounts if account.doubts]
    if doubts:
        most, times = total([account.doubt_cost for account in doubts]), sum(account.doubts for account in doubts)
        yield (
            f"sent {times} times without a reply seen: may have cost up to {dollars(most)} more"
            " (python -m models journal reconcile)"
        )
    waiting = [account for account in accounts if account.pending]
    if waiting:
        most = total([account.pending_cost for account in waiting])
        times = sum(account.pending for account in waiting)
        yield f"{times} about to be sent, being sent or in a batch: up to {dollars(most)} more"
    unmetered = sum(account.unmetered for account in accounts)
    if unmetered:
        yield f"{unmetered} replies came without usage: they are in the sum at the most they can have cost"


def total(costs: Sequence[float | None]) -> float | None:
    """The sum of costs; None when one is unknown."""
    return None if None in costs else sum(cost for cost in costs if cost is not None)
