"""``python -m evaluators judge``: rows of what was said are judged by rubrics, and scores are written as rows.

    python -m evaluators judge build/evaluations/fidelity@0.1.0/said.NAME.json --judge NAME OTHER
    python -m evaluators judge RESULT --judge offline:noisy
    python -m evaluators judge RESULT --judge NAME --rubric my/rubric.toml --dry-run

Several judges in one call are compared with one another. Where the answers' quality was planted (an offline subject
wrote them), each judge is examined by it. What was said is read and never written; judging again replaces only the
scores.
"""

from __future__ import annotations

import argparse
import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from evaluators.dialogues.items import read_items
from evaluators.reporting.lines import reason_lines, score_lines
from evaluators.rubrics.judged_rows import Found, said_rows, score_rows
from evaluators.rubrics.loading import Rubric, read_rubric, rubrics_of
from evaluators.rubrics.offline import JUDGES, KEYED, Planted, offline_answer
from evaluators.rubrics.people import PEOPLE, people_rows, read_ratings
from evaluators.rubrics.released_judgements import OTHERWISE, asked_of_judges, with_released_form
from evaluators.running import (
    add_asking,
    add_dry_run_argument,
    asking,
    evaluations,
    offline_name,
    print_plan,
    results_of,
    slug,
)
from evaluators.scoring.metrics import Metric
from evaluators.scoring.resampling import load_ahead
from evaluators.scoring.results import read_result
from evaluators.scoring.said_rows import RowReader, Said, planted_in, without_texts
from evaluators.scoring.score_rows import frame_of, rows_beside, write_scores
from models.request import Chain
from schemas.command import DEFAULT_SEED, DONE, FINDINGS, MACHINE_FAILED, print_json, say, whole_number
from schemas.errors import RequestError
from schemas.randomness import rng_for
from schemas.version import package_version

HELP = "judge what a model said by rubrics, and write scores as rows"
EXAMPLE = "python -m evaluators judge said.offline-slipping.json --judge offline:noisy"


def add_arguments(made: argparse.ArgumentParser) -> None:
    """The arguments of ``judge``."""
    made.add_argument("said", type=Path, metavar="RESULT", help="a file that `run` wrote")
    made.add_argument(
        "--judge",
        required=True,
        nargs="+",
        metavar="NAME",
        help="models behind the Messages API, or without one: " + ", ".join(f"offline:{name}" for name in JUDGES),
    )
    made.add_argument(
        "--rubric", type=Path, nargs="+", metavar="FILE", help="rubrics (default: those of the benchmark)"
    )
    add_ratings_argument(made)
    made.add_argument(
        "--released-parsing",
        action="store_true",
        help="read replies as the released judge of the benchmark did (fidelity, personalens), to compare with its"
        " scores",
    )
    made.add_argument("--limit", type=whole_number(1, 10**9), metavar="N", help="a seeded sample of so many items")
    made.add_argument("--out", type=Path, metavar="FILE", help="the scores (default: in the workspace's evaluations)")
    add_dry_run_argument(made)
    add_asking(made)


def add_ratings_argument(made: argparse.ArgumentParser) -> None:
    """``--ratings``."""
    made.add_argument(
        "--ratings",
        type=Path,
        metavar="FILE",
        help="people's ratings, one more judge: CSV with item, metric, rater, score",
    )


def run(parsed: argparse.Namespace) -> int:
    """The verb."""
    judges = list(dict.fromkeys(parsed.judge))
    offline = {judge: offline_name(judge, JUDGES, "--judge") for judge in judges}
    header = read_result(parsed.said)
    if header["kind"] != "said":
        raise RequestError(
            f"a result of `{header['kind']}`", parsed.said, expected="one that `run` wrote", fix="Name another file"
        )
    rubrics = _rubrics(parsed, header)
    tables = {rubric.id: _table(parsed, header, rubric) for rubric in rubrics}
    if parsed.dry_run:
        return _plan(parsed, judges, offline, rubrics, tables)
    load_ahead()
    rows: list[dict[str, Any]] = []
    for judge in judges:
        settings = asking(parsed, judge=judge)
        starts = {rubric.id: _chains(tables[rubric.id], rubric, offline[judge], parsed, header) for rubric in rubrics}
        everything = [start for own in starts.values() for start in own]
        found = results_of(everything, settings, offline=offline[judge] is not None)
        for rubric in rubrics:
            own = itertools.islice(found, len(starts[rubric.id]))
            rows += score_rows(tables[rubric.id], rubric, judge, own, settings)
        next(found, None)  # nothing more comes: the run ends
    if parsed.ratings:
        rows += people_rows(read_ratings(parsed.ratings, rubrics), rows, parsed.ratings)
        judges.append(PEOPLE)
    return _write(parsed, header, judges, rubrics, rows, tables)


def _rubrics(parsed: argparse.Namespace, header: Mapping[str, Any]) -> list[Rubric]:
    """The rubrics that are named, or those of the benchmark for this protocol. Raises RequestError for none."""
    found = [read_rubric(path) for path in parsed.rubric or ()]
    if not found:
        benchmark, protocol = header["release"]["name"].partition("@")[0], header["run"]["protocol"]
        found = [one for one in rubrics_of(benchmark) if not one.protocols or protocol in one.protocols]
        found = with_released_form(found) if parsed.released_parsing else found
    if not found:
        raise RequestError(f"no rubric of {benchmark} for {protocol}", parsed.said, fix="Name a file with --rubric")
    for rubric in found:  # what cannot be judged so is refused before anything is asked
        asked_of_judges(rubric, parsed.released_parsing)
    return found


def _table(parsed: argparse.Namespace, header: Mapping[str, Any], rubric: Rubric) -> Said:
    """The rows that a rubric judges; a sample of them with ``--limit``."""
    said = read_items(parsed.said, header, rubric.unit)
    if parsed.limit is None or parsed.limit >= len(said.rows):
        return said
    rng = rng_for(parsed.seed, header["release"]["name"], "evaluators.judge", "limit")
    places = sorted(rng.sample(range(len(said.rows)), parsed.limit))
    return replace(said, rows=said.rows[places])


def _chains(
    table: Said, rubric: Rubric, offline: str | None, parsed: argparse.Namespace, header: Mapping[str, Any]
) -> list[Callable[[], Chain[Found]]]:
    """A chain an item that was said."""
    name = f"judge/{header['release']['name']}/{header['run']['model']}"
    said = said_rows(table)
    known = without_texts(said, table.groups) if offline in KEYED else []
    if any(planted_in(row, part.name)[0] is None for row in known for part in rubric.parts):
        raise RequestError(
            f"offline:{offline} without planted quality", parsed.said, expected="what an offline subject wrote",
            fix="Judge with a model, or with offline:constant, offline:random",
        )  # fmt: skip
    ask = asked_of_judges(rubric, parsed.released_parsing)
    row = RowReader(said)
    return [
        functools.partial(_judged, rubric, f"{name}/{item}", functools.partial(row, place), (offline, parsed.seed), ask)
        for place, item in enumerate(said["item"])
    ]


def _judged(
    rubric: Rubric,
    name: str,
    read_row: Callable[[], Mapping[str, Any]],
    without: tuple[str | None, int],
    ask: Callable[..., Chain[Found]],
) -> Chain[Found]:
    row, (offline, seed) = read_row(), without
    fields = {key: value for key, value in row.items() if isinstance(value, str)}
    known = {part.name: planted_in(row, part.name) for part in rubric.parts}
    more = row.get("quality"), row.get("memory_mean")
    planted = {name: Planted(value, *more) for name, (state, value) in known.items() if state is not None}

    def compose(rubric: Rubric, fields: Mapping[str, str]) -> dict[str, Any]:
        chance = rng_for(seed, "evaluators", f"judge.{offline or 'estimate'}", name)
        return offline_answer(offline or "constant", rubric, fields, planted, chance)

    return (yield from ask(rubric, name, fields, compose))


def _plan(
    parsed: argparse.Namespace,
    judges: Sequence[str],
    offline: Mapping[str, str | None],
    rubrics: Sequence[Rubric],
    tables: Mapping[str, Said],
) -> int:
    """``--dry-run``: what each judge would be asked, and the price of it."""
    header = read_result(parsed.said)
    planned = [
        (
            [start for rubric in rubrics for start in _chains(tables[rubric.id], rubric, None, parsed, header)],
            asking(parsed, judge=judge),
        )
        for judge in judges
        if offline[judge] is None
    ]
    print_plan(planned, parsed.json)
    return DONE


def _write(
    parsed: argparse.Namespace,
    header: Mapping[str, Any],
    judges: Sequence[str],
    rubrics: Sequence[Rubric],
    rows: Sequence[Mapping[str, Any]],
    tables: Mapping[str, Said],
) -> int:
    metrics: list[Metric] = [metric for rubric in rubrics for metric in rubric.metrics]
    groups = sorted({name for table in tables.values() for name in table.groups})
    about = {
        "result_version": header["result_version"],
        "kind": "scores",
        "release": header["release"],
        "evaluated_by": package_version(),
        "run": {
            **header["run"],
            "judges": list(judges),
            "parsing": "released" if parsed.released_parsing else "strict",
            "judged": {"limit": parsed.limit, "seed": parsed.seed},
            "shown": {metric.name: list(rubric.fields) for rubric in rubrics for metric in rubric.metrics},
        },
        "said": {
            "model": header["run"]["model"],
            "file": parsed.said.name,
            "tables": {name: entry["sha256"] for name, entry in header["tables"].items()},
        },
    }
    path: Path = parsed.out or _out(parsed, header, judges)
    written = write_scores(path, about, metrics, frame_of(rows, groups))
    if parsed.json:
        print_json({"result": str(path), **{key: written[key] for key in ("release", "run", "metrics", "figures")}})
    else:
        _say_figures(written, rows, rows_beside(path), parsed.quiet)
    if parsed.released_parsing:
        other = sum(OTHERWISE in (row["reason"] or "") for row in rows)
        say(f"{other:,} of {len(rows):,} scores are another when read strictly", quiet=parsed.quiet or parsed.json)
    say(f"wrote {path}", quiet=parsed.quiet or parsed.json)
    states = {one["judge"]: one["states"] for one in written["figures"]["judged"] if one["judge"] != PEOPLE}
    if any(one["failed"] for one in states.values()):
        say("error: some items have no reply. Run the same command again to ask for those")
        return MACHINE_FAILED
    return FINDINGS if any(one["unscored"] or one["refused"] for one in states.values()) else DONE


def _out(parsed: argparse.Namespace, header: Mapping[str, Any], judges: Sequence[str]) -> Path:
    name = parsed.said.name.removesuffix(".json").removeprefix("said.")
    more = [
        *(path.stem for path in parsed.rubric or ()),
        "released-parsing" if parsed.released_parsing else "",
        f"limit{parsed.limit}" if parsed.limit else "",
        f"seed{parsed.seed}" if parsed.seed != DEFAULT_SEED else "",
    ]
    folder = evaluations(parsed) / str(header["release"]["name"])
    parts = (slug(part) for part in (*judges, *more) if part)
    return folder / f"scores.{name}.by.{'.'.join(parts)}.json"


def _say_figures(header: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], file: Path, quiet: bool) -> None:
    """The figures of each judge for people, and why items have no score."""
    unscored = (
        (f"{row['judge']}: {row['state']}", row["reason"], row["item"])
        for row in rows
        if row["state"] not in ("scored", "not_applicable")
    )
    for line in (*score_lines(header), *reason_lines(unscored, file)):
        say(line, quiet=quiet)
