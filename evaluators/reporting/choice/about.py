"""What was measured: the release, its runs, its characters, and what was checked before it was frozen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from evaluators.reporting.charts import interval, percent, strip
from evaluators.reporting.choice.opening import is_baseline
from evaluators.reporting.choice.runs import SETTINGS, Report, people
from evaluators.reporting.parts import Section, counted, table
from schemas.tables import Row, vocabulary


def measured(report: Report) -> Section:
    """Which release, who made it, and what each run was given."""
    manifest, release = report.manifest, report.bench.release
    made = Counter[str]()
    for group in manifest["built"]["rows"]:
        maker = " ".join(str(group[key]) for key in ("origin", "backend", "model") if group[key]) or "by hand"
        made[maker] += group["rows"]
    reviewed = [f"{table}: {counted(counts)}" for table, counts in manifest["review"].items()]
    facts = [
        ("Release", f"{escape(str(release.name))}, {escape(manifest['title'])}"),
        ("Content", f"<code>{release.content_digest}</code>"),
        ("Asked", f"{len(report.bench.questions):,} questions over {len(report.bench.scenarios)} scenarios"),
        ("Rows made", escape(counted(made))),
        ("Reviewed by people", escape("; ".join(reviewed)) or "nothing"),
        ("Licence", escape(manifest["license"])),
    ]
    definitions = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in facts)
    rows = [
        [
            escape(name),
            f"{escape(result['run']['setting'])}: {SETTINGS[result['run']['setting']]}",
            escape(_given(result["run"])),
            escape(", ".join(result["run"]["served_by"]) or ("none" if is_baseline(result) else "not told")),
            escape(result["run"]["prompt"] or "none"),
        ]
        for name, result in zip(report.names, report.results, strict=True)
    ]
    shown = table(["Run", "Setting", "Given", "Model that answered", "Prompt"], rows, numbers=9)
    return Section("measured", "What was measured", f'<dl class="facts">{definitions}</dl>{shown}')


def characters(report: Report) -> Section:
    """A strip of memories by age for every character, with the facts of its life."""
    if not report.bench.memories:
        return Section("characters", "Characters", "<p>This release holds no memories.</p>")
    bounds = [(term["label"], term["from_age"], term["to_age"]) for term in vocabulary("memory_stages")]
    facts: dict[str, list[Row]] = {}
    for row in report.bench.release.rows("ledgers") if "ledgers" in report.bench.release.tables else ():
        facts.setdefault(row["character_id"], []).append(row)
    labels, body = people(report), ""
    for who, memories in sorted(report.bench.memories.items()):
        counts = Counter(memory.age for memory in memories)
        shown = escape(report.bench.occupations.get(who, ""))
        body += (
            f'<article class="life"><h3>{escape(labels.get(who, who))}</h3><p>{shown}; {len(memories):,} memories, ages'
            f" {memories[0].age} to {memories[-1].age}</p>{strip(counts, bounds, bounds[0][1], bounds[-1][2])}"
            f"{_facts(facts.get(who, []))}</article>"
        )
    return Section(
        "characters",
        "Characters",
        f'<div class="lives">{body}</div>',
        "Memories by age; numbers are the ages at which life stages begin.",
    )


def audits(report: Report) -> Section:
    """What was checked before the release was frozen, what was left, and what was let pass."""
    checks = report.manifest["checks"]
    kinds = [("shape, links and counts", checks["validators"]), *checks["audits"].items()]
    rows = [
        [escape(name), f"{one['rows']:,}", f"{len(one['ran'])}", f"{sum(one['findings'].values()):,}"]
        for name, one in kinds
    ]
    body = table(["Checked", "Rows", "Checks", "Findings left"], rows)
    left = [(code, count, name) for name, one in kinds for code, count in one["findings"].items()]
    allowed = {one["code"]: one["why"] for one in checks["allowed"]}
    if left:
        rows = [
            [f"<code>{escape(code)}</code>", escape(name), escape(allowed.get(code, "")), f"{count:,}"]
            for code, count, name in left
        ]
        body += table(["Finding", "In", "Let pass because", "Rows"], rows, numbers=3)
    rates = [(name, figure) for name, one in kinds for figure in one["figures"]]
    if rates:
        cells = [
            [
                escape(figure["name"]),
                escape(name),
                f"{figure['items']:,}",
                percent(figure["rate"]),
                interval(figure),
                percent(figure["chance"]),
            ]
            for name, figure in rates
        ]
        body += table(["Measured", "In", "Of", "Rate", "95 %", "By chance"], cells, numbers=2)
    return Section(
        "audits", "Audits of the release", body, "From the manifest: what was found in the rows when they were frozen."
    )


def _facts(rows: Sequence[Row]) -> str:
    if not rows:
        return ""
    items = "".join(
        f"<li><span>{row['from_age']}–{row['to_age']}</span> {escape(row['role'])}"
        f"{', ' + escape(row['name']) if row['name'] else ''}</li>"
        for row in sorted(rows, key=lambda row: (row["from_age"], row["to_age"], row["fact_id"]))
    )
    return f"<details><summary>{len(rows)} facts of this life</summary><ul class=ledger>{items}</ul></details>"


def _given(run: Mapping[str, Any]) -> str:
    parts = [
        f"k {run['k']}" if run["k"] else "",
        run["embedder"] or "",
        f"managed by {run['manager']}" if run["manager"] else "",
    ]
    return ", ".join(part for part in parts if part) or "nothing"
