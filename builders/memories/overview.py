"""What a run of memories came to, beside what the paper reports: Tables 7 and 8 of HEART-BENCH.

``overview`` counts; ``lines`` says it in a table a person can read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from builders.memories.plan import targets
from models.remedies import Failure
from schemas.tables import Row, vocabulary

_DUPLICATE = "duplicate.semantic"


@dataclass(frozen=True)
class Figures:
    """Rows counted: by stage and by tier, characters of ``content_full`` and intensities added up."""

    rows: int
    stages: Counter[str]
    tiers: Counter[str]
    length: int
    intensity: float

    @classmethod
    def of(cls, rows: Sequence[Row]) -> Figures:
        """The figures of some rows."""
        return cls(
            rows=len(rows),
            stages=Counter(row["stage"] for row in rows),
            tiers=Counter(row["tier"] for row in rows),
            length=sum(len(row["content_full"]) for row in rows),
            intensity=sum(row["emotion_signature"]["intensity"] for row in rows),
        )


@dataclass(frozen=True)
class Written:
    """One character after a run: defects found, repaired and open by code; ``failures`` are rows that never came."""

    character: Row
    figures: Figures
    found: Mapping[str, int]
    repaired: Mapping[str, int]
    open: Mapping[str, int]
    failures: Sequence[Failure]
    file: str

    @property
    def who(self) -> str:
        """The character's id."""
        return str(self.character["character_id"])


def overview(written: Sequence[Written]) -> dict[str, Any]:
    """The document of ``--json``, without what only the command knows."""
    return {
        "characters": [_character(one) for one in written],
        "stages": _stages(_summed(one.figures.stages for one in written)),
        "tiers": _tiers(_summed(one.figures.tiers for one in written)),
        "defects": _summed(one.found for one in written),
        "repaired": _summed(one.repaired for one in written),
        "open": _summed(one.open for one in written),
        "duplicates": {
            "found": sum(one.found.get(_DUPLICATE, 0) for one in written),
            "open": sum(one.open.get(_DUPLICATE, 0) for one in written),
        },
        "missing": sum(len(one.failures) for one in written),
    }


def lines(document: Mapping[str, Any]) -> Iterator[str]:
    """The same, line by line."""
    total = sum(stage["rows"] for stage in document["stages"])
    yield f"{'stage':<32}{'memories':>10}{'share':>9}{'Table 8':>9}"
    for stage in document["stages"]:
        ages = f"{stage['label']} ({stage['from_age']}-{stage['to_age']})"
        yield f"{ages:<32}{stage['rows']:>10,}{stage['share']:>9.1%}{stage['published_share']:>9.1%}"
    yield f"{'all':<32}{total:>10,}"
    yield ""
    yield f"{'tier':<32}{'memories':>10}{'share':>9}{'planned':>9}"
    for tier in document["tiers"]:
        name = f"{tier['tier']} {tier['label']}"
        yield f"{name:<32}{tier['rows']:>10,}{tier['share']:>9.1%}{tier['planned_share']:>9.1%}"
    yield ""
    yield f"{'character':<20}{'memories':>10}{'length':>9}{'Table 7':>9}{'intensity':>11}{'Table 7':>9}"
    for one in document["characters"]:
        name = f"{one['character_id']} {one['archetype']}"
        length, intensity = _shown(one["mean_length"], ",.0f"), _shown(one["mean_intensity"], ".3f")
        yield (
            f"{name:<20}{one['rows']:>10,}{length:>9}{one['target_length']:>9,.0f}"
            f"{intensity:>11}{one['target_intensity']:>9.3f}"
        )
    yield ""
    yield from _defect_lines(document)
    for one in document["characters"]:
        yield f"{one['character_id']}: {one['file']}"


def _defect_lines(document: Mapping[str, Any]) -> Iterator[str]:
    if document["defects"]:
        yield f"{'defects':<32}{'found':>10}{'repaired':>10}{'open':>7}"
        for code, count in document["defects"].items():
            repaired, left = document["repaired"].get(code, 0), document["open"].get(code, 0)
            yield f"{code:<32}{count:>10,}{repaired:>10,}{left:>7,}"
    else:
        yield "no defects found"
    duplicates = document["duplicates"]
    yield f"near-duplicates: {duplicates['found']:,} found, {duplicates['open']:,} left"
    if document["missing"]:
        yield f"missing: {document['missing']:,} memories that no answer brought"


def _character(one: Written) -> dict[str, Any]:
    target = targets(one.character)
    figures = one.figures
    return {
        "character_id": one.character["character_id"],
        "archetype": one.character["archetype"],
        "rows": figures.rows,
        "mean_length": round(figures.length / figures.rows, 1) if figures.rows else None,
        "target_length": target.length,
        "mean_intensity": round(figures.intensity / figures.rows, 4) if figures.rows else None,
        "target_intensity": target.intensity,
        "missing": len(one.failures),
        "file": one.file,
    }


def _stages(counts: Mapping[str, int]) -> list[dict[str, Any]]:
    terms = vocabulary("memory_stages")
    total = max(sum(counts.values()), 1)
    published = sum(term["published_count"] for term in terms)
    return [
        {
            "stage": term["id"],
            "label": term["label"],
            "from_age": term["from_age"],
            "to_age": term["to_age"],
            "rows": counts.get(term["id"], 0),
            "share": round(counts.get(term["id"], 0) / total, 4),
            "published_share": round(term["published_count"] / published, 4),
        }
        for term in terms
    ]


def _tiers(counts: Mapping[str, int]) -> list[dict[str, Any]]:
    total = max(sum(counts.values()), 1)
    return [
        {
            "tier": term["id"],
            "label": term["label"],
            "rows": counts.get(term["id"], 0),
            "share": round(counts.get(term["id"], 0) / total, 4),
            "planned_share": term["share"],
        }
        for term in vocabulary("intensity_tiers")
    ]


def _summed(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for one in counts:
        total.update(one)
    return dict(sorted(total.items()))


def _shown(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)
