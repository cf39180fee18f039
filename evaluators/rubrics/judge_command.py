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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from evaluators.dialogues.items import read_items
from evaluators.reporting.lines import reason_lines, score_lines
from evaluators.rubrics.compatibility import read_released
from evaluators.rubrics.judging import Reader, judged
from evaluators.rubrics.loading import Rubric, read_rubric, rubrics_of
from evaluators.rubrics.offline import JUDGES, KEYED, Planted, offline_answer, planted_of
from evaluators.rubrics.people import PEOPLE, people_rows, read_ratings
from evaluators.rubrics.verdicts import Verdict, read_reply
from evaluators.running import (
    add_dry_run_argument,
    asking,
    evaluations,
    offline_name,
    print_plan,
    run_chains,
    slug,
    used,
)
from evaluators.scoring.metrics import Metric, State
from evaluators.scoring.results import read_result
from evaluators.scoring.said_rows import Said, planted_in
from evaluators.scoring.score_rows import frame_of, rows_beside, write_scores
from models.backends import BackendSettings, add_asking_arguments
from models.request import Chain, Reply
from schemas.command import DEFAULT_SEED, DONE, FINDINGS, MACHINE_FAILED, print_json, say, whole_number
from schemas.errors import RequestError
from schemas.randomness import rng_for
from schemas.version import package_version

HELP = "judge what a model said by rubrics, and write scores as rows"
EXAMPLE = "python -m evaluators judge said.offline-slipping.json --judge offline:noisy"

_UNSAID: Mapping[str, State] = {"refused": "refused", "failed": "failed"}  # all else is unscored

Found = tuple[dict[str, Verdict], tuple[Reply, ...]]


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
        help="read replies as the released judge of persona fidelity did, to compare with its scores",
    )
    made.add_argument("--limit", type=whole_number(1, 10**9), metavar="N", help="a seeded sample of so many items")
    made.add_argument("--out", type=Path, metavar="FILE", help="the scores (default: in the workspace's evaluations)")
    add_dry_run_argument(made)
    add_asking_arguments(made.add_argument_group("asking"))


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
    rows: list[dict[str, Any]] = []
    for judge in judges:
        settings = asking(parsed, judge=judge)
        for rubric in rubrics:
            said = tables[rubric.id]
            starts = _chains(said, rubric, offline[judge], parsed, header)
            found = run_chains(starts, settings, offline=offline[judge] is not None)
            rows += _rows(said, rubric, judge, found, settings)
    if parsed.ratings:
        rows += people_rows(read_ratings(parsed.ratings, rubrics), rows, parsed.ratings)
        judges.append(PEOPLE)
    return _write(parsed, header, judges, rubrics, rows, tables)


def _rubrics(parsed: argparse.Namespace, header: Mapping[str, Any]) -> list[Rubric]:
    """The rubrics that are named, or those of the benchmark for this protocol. Raises RequestError for none."""
    if parsed.rubric:
        return [read_rubric(path) for path in parsed.rubric]
    benchmark, protocol = header["release"]["name"].partition("@")[0], header["run"]["protocol"]
    found = [one for one in rubrics_of(benchmark) if not one.protocols or protocol in one.protocols]
    if not found:
        raise RequestError(f"no rubric of {benchmark} for {protocol}", parsed.said, fix="Name a file with --rubric")
    return found


def _table(parsed: argparse.Namespace, header: Mapping[str, Any], rubric: Rubric) -> Said:
    """The rows that a rubric judges; a sample of them with ``--limit``."""
    said = read_items(parsed.said, header, rubric.unit)
    if parsed.limit is None or parsed.limit >= len(said.rows):
        return said
    rng = rng_for(parsed.seed, header["release"]["name"], "evaluators.judge", "limit")
    places = sorted(rng.sample(range(len(said.rows)), parsed.limit))
    return replace(said, rows=said.rows[places])


def _said(table: Said) -> pl.DataFrame:
    return table.rows.filter(pl.col("state") == "said")


def _chains(
    table: Said, rubric: Rubric, offline: str | None, parsed: argparse.Namespace, header: Mapping[str, Any]
) -> list[Callable[[], Chain[Found]]]:
    """A chain an item that was said."""
    name = f"judge/{header['release']['name']}/{header['run']['model']}"
    rows = _said(table).rows(named=True)
    unknown = any(planted_in(row, part.name)[0] is None for row in rows for part in rubric.parts)
    if offline in KEYED and unknown:
        raise RequestError(
            f"offline:{offline} without planted quality", parsed.said, expected="what an offline subject wrote",
            fix="Judge with a model, or with offline:constant, offline:random",
        )  # fmt: skip
    read = read_released if parsed.released_parsing else read_reply
    return [
        functools.partial(_judged, rubric, f"{name}/{row['item']}", row, (offline, parsed.seed), read) for row in rows
    ]


def _judged(
    rubric: Rubric, name: str, row: Mapping[str, Any], without: tuple[str | None, int], read: Reader
) -> Chain[Found]:
    offline, seed = without
    fields = {key: value for key, value in row.items() if isinstance(value, str)}
    known = {part.name: planted_in(row, part.name) for part in rubric.parts}
    more = row.get("quality"), row.get("memory_mean")
    planted = {name: Planted(value, *more) for name, (state, value) in known.items() if state is not None}

    def compose(rubric: Rubric, fields: Mapping[str, str]) -> dict[str, Any]:
        chance = rng_for(seed, "evaluators", f"judge.{offline or 'estimate'}", name)
        return offline_answer(offline or "constant", rubric, fields, planted, chance)

    return (yield from judged(rubric, name, fields, compose, read))


def _rows(
    table: Said, rubric: Rubric, judge: str, found: Sequence[Found], settings: BackendSettings
) -> list[dict[str, Any]]:
    """A score row an item and score; what was not said is not judged and has its own state."""
    by_item = dict(zip(_said(table)["item"].to_list(), found, strict=True))
    made = []
    for row in table.rows.rows(named=True):
        state = None if row["state"] == "said" else _UNSAID.get(row["state"], "unscored")
        nothing = {part.name: Verdict(state, reason=row["reason"]) for part in rubric.parts} if state else {}
        verdicts, replies = by_item.get(row["item"], (nothing, ()))
        spent = used([reply.usage for reply in replies], judge, settings)
        for place, (part, verdict) in enumerate(verdicts.items()):
            planted_state, planted = planted_of(rubric, row, part)
            made.append(
                {
                    "item": row["item"],
                    "metric": part,
                    "judge": judge,
                    "state": verdict.state,
                    "value": verdict.value,
                    "reason": verdict.reason,
                    "evidence": verdict.evidence,
                    "planted": planted,
                    "planted_state": planted_state,
                    # One call gives all scores of a rubric: its tokens stand with the first.
                    **(spent if place == 0 else {"input_tokens": 0, "output_tokens": 0, "cost": 0.0}),
                    "groups": {name: row[name] for name in table.groups},
                }
            )
    return made


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
