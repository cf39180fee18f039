"""People's ratings as one more judge: a CSV with item, metric, rater and score.

Of several raters of one item the lower median counts, so that the value lies on the scale. How judges agree with people
then stands where judges are compared with one another; people take no part in the judges' consensus.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median_low
from typing import Any

from evaluators.rubrics.loading import Rubric
from evaluators.scoring.score_figures import PEOPLE
from schemas.errors import RequestError, unknown

__all__ = ["PEOPLE", "people_rows", "read_ratings"]

_COLUMNS = ("item", "metric", "rater", "score")
_ALSO = {"question_id": "item", "field": "metric"}

Ratings = dict[tuple[str, str], list[float]]


def read_ratings(path: Path, rubrics: Sequence[Rubric]) -> Ratings:
    """(item, metric) -> scores. Raises RequestError naming line and column for what is no rating."""
    scales = {part.name: rubric.scale for rubric in rubrics for part in rubric.parts}
    found: Ratings = {}
    rated: dict[tuple[str, str, str], int] = {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            reader = csv.DictReader(lines)
            names = [_ALSO.get(name, name) for name in reader.fieldnames or ()]
            reader.fieldnames = names
            missing = [name for name in _COLUMNS if name not in names]
            if missing:
                raise RequestError(
                    "ratings without a column", path, field=missing[0], expected=", ".join(_COLUMNS), fix="Add it"
                )
            for row in reader:
                where = f"{path}:{reader.line_num}"
                if row["metric"] not in scales:
                    raise unknown("metric", row["metric"] or "", scales, where)
                values = {f"{value:g}": value for value in scales[row["metric"]].values}
                score = (row["score"] or "").strip()
                if score not in values:
                    expected = scales[row["metric"]].in_words()
                    raise RequestError(
                        f"bad score {score!r}",
                        where,
                        row=row["item"],
                        field="score",
                        expected=expected,
                        fix="Correct it",
                    )
                key = row["item"], row["metric"], row["rater"]
                if key in rated:
                    raise RequestError(
                        f"two ratings of {row['rater']!r} on {row['metric']}", where, row=row["item"],
                        expected=f"one; the other stands in line {rated[key]}", fix="Remove one",
                    )  # fmt: skip
                rated[key] = reader.line_num
                found.setdefault(key[:2], []).append(values[score])
    except FileNotFoundError:
        raise RequestError("missing ratings", path, fix="Check the path") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise RequestError("malformed ratings", path, expected=f"CSV in UTF-8 ({error})", fix="Save it so") from None
    return found


def people_rows(ratings: Ratings, rows: Iterable[Mapping[str, Any]], path: Path) -> list[dict[str, Any]]:
    """A score row of the judge "people" for every item and metric that was judged; unscored where nobody rated it.

    Raises RequestError for a rating of an item that was not judged."""
    items = {(row["item"], row["metric"]): row for row in rows}
    for item, metric in ratings:
        if (item, metric) not in items:
            raise unknown("item", item, {name for name, _ in items}, path)
    made = []
    for key, row in items.items():
        value = median_low(ratings[key]) if key in ratings else None
        state = (
            {"state": "unscored", "reason": "nobody rated it"} if value is None else {"state": "scored", "reason": None}
        )
        spent = {"input_tokens": 0, "output_tokens": 0, "cost": 0.0}
        made.append({**row, **state, **spent, "judge": PEOPLE, "value": value, "evidence": None})
    return made
