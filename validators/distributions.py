"""How the rows of a table are spread, beside what was published: figures to read, never a verdict.

Stages against HEART-BENCH Table 8, tiers against appendix G.2, domains by Shannon evenness, mean
intensity against Table 7, DIAMONDS ratings against Table 10, sizes of activations against appendix
D.1, answer letters and the sources of distractors; for PersonaLens the domains that are on, and the
situations in each.

Figures go by the record of a table. Most are a list of flat records, so that a person can read it as a table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from schemas.evenness import evenness
from schemas.records import term_ids, vocabulary
from schemas.tables import Table
from validators.rules import separation

Figures = list[dict[str, Any]] | dict[str, Any]

_DIGITS = 4


@dataclass(frozen=True)
class Distribution:
    """A named figure; ``reads`` are the columns it needs of every record, the first being the one it is about.

    ``counted`` takes the rows of some partition, parted by the column ``within`` of that record, and gives counts;
    ``figures`` then takes the counts of all partitions in the place of its rows.
    """

    name: str
    reads: Mapping[str, tuple[str, ...]]
    figures: Callable[[Mapping[str, pl.DataFrame]], Figures]
    counted: Callable[[Mapping[str, pl.DataFrame]], pl.DataFrame] | None = None
    within: str | None = None

    @property
    def record(self) -> str:
        """The record it is about."""
        return next(iter(self.reads))


def distributions_of(table: Table, threshold: float | None = None) -> list[Distribution]:
    """The figures of a table; ``threshold`` is the least distance of two characters."""
    least = separation.THRESHOLD if threshold is None else threshold
    return [each for each in _distributions(least) if each.record == table.record and table.shipped]


def _distributions(least: float) -> tuple[Distribution, ...]:
    return (
        Distribution("separation", separation.READS, lambda frames: _separation(frames, least)),
        Distribution("stages", {"memories": ("stage",)}, _stages),
        Distribution("tiers", {"memories": ("tier",)}, _tiers),
        Distribution("domains", {"memories": ("character_id", "domain")}, _domains),
        Distribution(
            "intensity",
            {"memories": ("character_id", "emotion_signature"), "characters": ("character_id", "archetype")},
            _intensity,
        ),
        Distribution("stages", {"scenarios": ("stage",)}, _scenario_stages),
        Distribution("diamonds", {"scenarios": ("diamonds",)}, _diamonds),
        Distribution("sizes", {"activations": ("step", "memories")}, _sizes),
        Distribution("answers", {"mcq_keys": ("answer",)}, _answers),
        Distribution("distractors", {"mcq_keys": ("answer", "sources")}, _distractors),
        Distribution("domains", {"users": ("interests",)}, _active_domains, _users_by_domain, "user_id"),
        Distribution(
            "domains",
            {"situations": ("task_id",), "tasks": ("task_id", "kind", "domains")},
            _faced_domains,
            _situations_by_task,
            "user_id",
        ),
    )


def _separation(frames: Mapping[str, pl.DataFrame], threshold: float) -> Figures:
    return separation.figures(separation.distances(separation.vectors(frames)), threshold)


def _stages(frames: Mapping[str, pl.DataFrame]) -> Figures:
    stages = vocabulary("memory_stages")
    total = sum(stage["published_count"] for stage in stages)
    published = {stage["id"]: stage["published_count"] / total for stage in stages}
    return _shares(frames["memories"], "stage", published, "published_share")


def _tiers(frames: Mapping[str, pl.DataFrame]) -> Figures:
    planned = {tier["id"]: tier["share"] for tier in vocabulary("intensity_tiers")}
    return _shares(frames["memories"], "tier", planned, "planned_share")


def _shares(frame: pl.DataFrame, column: str, expected: Mapping[str, float], name: str) -> Figures:
    """Rows and share of each term beside the expected share, and how many points they are apart."""
    counts = dict(frame[column].value_counts().iter_rows())
    found = []
    for term, share in expected.items():
        own = counts.get(term, 0) / frame.height if frame.height else 0.0
        row = {column: term, "rows": counts.get(term, 0), "share": own, name: share, "points": 100 * (own - share)}
        found.append({key: round(value, _DIGITS) if isinstance(value, float) else value for key, value in row.items()})
    return found


def _domains(frames: Mapping[str, pl.DataFrame]) -> Figures:
    """Shannon evenness over the five domains for each character: 1 is even, 0 is one domain only."""
    domains = term_ids("scenario_domains")
    counted = frames["memories"].group_by("character_id", "domain").len().sort("character_id", "domain")
    found = []
    for (character,), rows in counted.group_by("character_id", maintain_order=True):
        counts = dict(rows.select("domain", "len").iter_rows())
        even = round(evenness(counts.values(), len(domains)) or 0.0, _DIGITS)
        found.append({"character_id": character, "evenness": even} | {
            domain: counts.get(domain, 0) for domain in domains
        })  # fmt: skip
    return found


def _intensity(frames: Mapping[str, pl.DataFrame]) -> Figures:
    published = {term["id"]: term["published_intensity"] for term in vocabulary("archetypes")}
    archetype = dict(frames["characters"].select("character_id", "archetype").iter_rows())
    felt = pl.col("emotion_signature").struct.field("intensity")
    means = frames["memories"].group_by("character_id").agg(rows=pl.len(), mean=felt.mean()).sort("character_id")
    return [
        {
            "character_id": character,
            "rows": rows,
            "mean_intensity": round(mean, _DIGITS),
            "published_intensity": published.get(archetype.get(character, "")),
        }
        for character, rows, mean in means.iter_rows()
    ]


def _scenario_stages(frames: Mapping[str, pl.DataFrame]) -> Figures:
    counts = dict(frames["scenarios"]["stage"].value_counts().iter_rows())
    return [{"stage": stage, "rows": counts.get(stage, 0)} for stage in term_ids("scenario_stages")]


def _diamonds(frames: Mapping[str, pl.DataFrame]) -> Figures:
    """Mean rating of each dimension, and how many scenarios were given 1 to 7."""
    rated = frames["scenarios"].drop_nulls("diamonds").select(pl.col("diamonds").struct.unnest())
    found = []
    for dimension in vocabulary("diamonds"):
        counts = [rated.filter(pl.col(dimension["id"]) == rating).height for rating in range(1, 8)]
        published = dimension["published_ratings"]
        found.append(
            {
                "dimension": dimension["id"],
                "mean": _mean(counts),
                "published_mean": _mean(published),
                "ratings": counts,
                "published_ratings": published,
            }
        )
    return found


def _mean(counts: list[int]) -> float | None:
    total = sum(counts)
    return round(sum(rating * count for rating, count in enumerate(counts, 1)) / total, _DIGITS) if total else None


def _sizes(frames: Mapping[str, pl.DataFrame]) -> Figures:
    size = pl.col("memories").list.len().cast(pl.Int64)
    grouped = frames["activations"].group_by("step").agg(
        rows=pl.len(), least=size.min(), median=size.median(), mean=size.mean().round(_DIGITS), most=size.max()
    )  # fmt: skip
    return grouped.sort("step").to_dicts()


def _answers(frames: Mapping[str, pl.DataFrame]) -> Figures:
    counts = dict(frames["mcq_keys"]["answer"].value_counts().iter_rows())
    return [{"answer": letter, "rows": counts.get(letter, 0)} for letter in "ABCD"]


def _distractors(frames: Mapping[str, pl.DataFrame]) -> Figures:
    """How often each character's decision is a wrong option."""
    options = frames["mcq_keys"].explode("sources").with_columns(pl.col("sources").struct.unnest())
    wrong = options.filter(pl.col("label") != pl.col("answer"))
    return wrong.group_by("character_id").agg(rows=pl.len()).sort("character_id").to_dicts()


def _users_by_domain(frames: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    entries = frames["users"].select("interests").explode("interests").unnest("interests")
    return entries.group_by("domain").agg(users=pl.col("active").sum().cast(pl.Int64))


def _active_domains(frames: Mapping[str, pl.DataFrame]) -> Figures:
    """How many users have each domain on."""
    return frames["users"].group_by("domain").agg(pl.col("users").sum()).sort("domain").to_dicts()


def _situations_by_task(frames: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    return frames["situations"].group_by("task_id").agg(rows=pl.len().cast(pl.Int64))


def _faced_domains(frames: Mapping[str, pl.DataFrame]) -> Figures:
    """Situations in each domain, of single-domain tasks and of those that touch it (PersonaLens Table 1)."""
    counted = frames["situations"].group_by("task_id").agg(pl.col("rows").sum())
    faced = counted.join(frames["tasks"], on="task_id").explode("domains").rename({"domains": "domain"})
    kinds = {kind: pl.col("rows").filter(pl.col("kind") == kind).sum() for kind in ("single", "multi")}
    return faced.group_by("domain").agg(**kinds).sort("domain").to_dicts()
