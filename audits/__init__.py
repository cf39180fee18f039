"""Is the text good? Rows in, findings out. Pure: audits never edit.

``audit`` runs every audit of a table over its rows; ``python -m audits`` is its command. Which audits a table
gets, its benchmark says (``audits.tables``). Nothing is imported before it is needed.

- ``patterns/``    what is looked for in words: expressions with their hits and misses
- ``rules/``       the codes that are computed: rule, source, a hit and a miss each
- ``checks/``      format, and a module a kind of record: memories, scenarios, decisions, users
- ``duplicates/``, ``shortcuts/``, ``evenness``, ``diversity``  one a method
- ``audit_cache``  findings of rows that were audited before
- ``llm_judge``    the same questions, asked of a model
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from audits.audit_cache import AuditCache
    from audits.table_audit import Own, Related
    from schemas.findings import Finding
    from schemas.tables import Row, Table


def audit(
    table: Table | str,
    rows: Sequence[Row],
    related: Related | None = None,
    only: Collection[str] | None = None,
    processes: int = 1,
    own: Own | None = None,
    cache: AuditCache | None = None,
) -> list[Finding]:
    """Everything that is wrong with the rows of a table, in the order of ``schemas.findings.in_order``.

    ``related`` holds rows of the tables that the audits look things up in (``Table.reads``), by name.
    ``only`` keeps findings of these codes, or of whole families ("perspective"). ``processes`` changes the
    speed and nothing else, and so does ``cache``, which has the findings of rows audited before; with criteria of a
    user, ``own`` (``audits.patterns.user_patterns``), it is not asked. Raises
    RequestError for a table without audits and for a code that no audit of the table raises.
    """
    from audits.table_audit import audit_table

    return audit_table(table, rows, related or {}, only, processes, own or {}, cache)


def not_checked(table: Table | str, rows: Sequence[Row], related: Related, wanted: Collection[str]) -> list[str]:
    """What was asked for and could not be checked, a line each: words that are not English, lives without a ledger."""
    from audits.table_audit import not_checked

    return not_checked(table, rows, related, wanted)
