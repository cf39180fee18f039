"""Results as files: one JSON document a run, checked when written and when read.

Its form is ``result.schema.json``. It carries the digest of the release's content; results of different
content are never put in one table. Figures are made again from the answers on reading: a file whose
figures do not follow from its items is refused. No clock and no path is in it.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from evaluators.scoring.figures import summary
from evaluators.scoring.metrics import close
from evaluators.scoring.score_rows import read_scores
from releases import Release
from schemas.errors import RequestError
from schemas.rows import write_whole
from schemas.version import package_version

if TYPE_CHECKING:
    import jsonschema_rs

RESULT_VERSION = 3

Result = dict[str, Any]

_SCHEMA = Path(__file__).with_name("result.schema.json")


def head(release: Release, kind: str, run: Mapping[str, Any]) -> Result:
    """The beginning of a result: of which release, and how it was made."""
    return {
        "result_version": RESULT_VERSION,
        "kind": kind,
        "release": {"name": str(release.name), "digest": release.digest, "content_digest": release.content_digest},
        "evaluated_by": package_version(),
        "run": dict(run),
    }


def write_result(path: Path, result: Result) -> None:
    """Write a result whole. Raises ValueError for one that has not the form."""
    problems = _problems(result)
    if problems:
        raise ValueError(f"result without its form: {problems[0]}")
    write_whole(path, [orjson.dumps(result, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)])


def read_result(path: Path, *, scores_follow: bool = False) -> Result:
    """A result. Raises RequestError for what is none, comes from newer code, or was edited.

    ``scores_follow`` is for callers that go on to ``read_scores``: it checks the rows of scores, which takes a while,
    and here they are left to it."""
    try:
        document = orjson.loads(path.read_bytes())
    except FileNotFoundError:
        raise RequestError(
            "missing result", path, fix="Check the path, or make it first: python -m evaluators --help"
        ) from None
    except IsADirectoryError:
        raise RequestError("a folder instead of a result", path, fix="Name the files in it") from None
    except orjson.JSONDecodeError as error:
        raise RequestError("malformed JSON", path, expected=str(error), fix="Run the evaluation again") from None
    version = document.get("result_version") if isinstance(document, dict) else None
    if isinstance(version, int) and version > RESULT_VERSION:
        raise RequestError(
            "result from a newer version", path, expected=f"version {RESULT_VERSION}, found {version}",
            fix="Update this package",
        )  # fmt: skip
    if isinstance(version, int) and version < RESULT_VERSION:
        raise RequestError(
            "result from an older version", path, expected=f"version {RESULT_VERSION}, found {version}",
            fix="Run the evaluation again: what was answered is in the journal",
        )  # fmt: skip
    problems = _problems(document)
    if problems:
        raise RequestError("not a result", path, expected=problems[0], fix="Run the evaluation again")
    if document["kind"] == "choice":
        _check_figures(document, path)
    elif document["kind"] == "scores" and not scores_follow:
        read_scores(path, document)
    return document  # type: ignore[no-any-return]


def read_results(paths: Sequence[Path], kind: str = "choice", *, scores_follow: bool = False) -> list[Result]:
    """Results that can be compared. Raises RequestError for another kind, other content and other questions."""
    found = [(path, read_result(path, scores_follow=scores_follow)) for path in paths]
    for path, result in found:
        if result["kind"] != kind:
            raise RequestError(
                f"a result of `{result['kind']}`",
                path,
                expected=f"one that `{kind}` wrote",
                fix="Leave it out; its figures are in the file",
            )
    demand_same_content(found)
    if kind == "choice":
        demand_same_questions(found)
    return [result for _, result in found]


def demand_same_content(found: Sequence[tuple[Path, Result]]) -> None:
    """Raises RequestError when results are of releases of different content."""
    for path, result in found:
        first = found[0][1]["release"]
        if result["release"]["content_digest"] != first["content_digest"]:
            raise RequestError(
                "results of different releases",
                path,
                expected=f"{first['name']} with content {first['content_digest'][:16]}, found"
                f" {result['release']['name']} with {result['release']['content_digest'][:16]}",
                fix="Figures of different content are not comparable: evaluate the same release",
            )


def demand_same_questions(found: Sequence[tuple[Path, Result]]) -> None:
    """Raises RequestError when runs of multiple choice did not ask the same questions: a mean over some is no mean."""
    for path, result in found:
        first, own = ({item["question_id"] for item in one["items"]} for one in (found[0][1], result))
        if first != own:
            odd = min(first ^ own)
            raise RequestError(
                f"results of different questions: {len(own):,} here",
                path,
                row=odd,
                expected=f"the {len(first):,} of {found[0][0]}",
                fix="Compare runs with the same --limit and --seed",
            )


def demand_same_sample(found: Sequence[tuple[Path, Result]]) -> None:
    """Raises RequestError when scores are of different samples of what there is: a mean over some is no mean."""
    for path, result in found:
        first, own = _sample(found[0][1]), _sample(result)
        if first != own:
            raise RequestError(
                f"results of different samples: {own} here", path, expected=f"{first} as in {found[0][0]}",
                fix="Put runs with the same --limit and --seed on one page",
            )  # fmt: skip


def _sample(result: Result) -> str:
    """Which part of a release was asked and judged, in words."""
    run, judged = result["run"], result["run"]["judged"]
    parts = [
        f"{limit} {what} (seed {seed})"
        for what, limit, seed in (
            ("asked", run.get("limit"), run["seed"]),
            ("items judged", judged["limit"], judged["seed"]),
        )
        if limit is not None
    ]
    return " and ".join(parts) or "all"


def demand_release(release: Release, result: Result) -> None:
    """Raises RequestError when a release is not the one a result is of."""
    if release.content_digest != result["release"]["content_digest"]:
        raise RequestError(
            "results of another release",
            release.name,
            expected=f"content {result['release']['content_digest'][:16]}, found {release.content_digest[:16]}",
            fix="Name the release that was evaluated with --release",
        )


def _check_figures(document: Result, path: Path) -> None:
    for item in document["items"]:
        right = [one["choice"] == item["gold"] for one in item["replies"]]
        if item["correct"] != right[0] or item["share"] != sum(right) / len(right):
            raise RequestError(
                "figures do not follow from the choice", path, row=item["question_id"], fix="Run the evaluation again"
            )
    fresh = orjson.loads(orjson.dumps(summary(document["items"], document["baselines"], document["run"]["seed"])))
    for name, value in fresh.items():
        if not close(document["figures"].get(name), value):
            raise RequestError("figures do not follow from the items", path, field=name, fix="Run the evaluation again")


def _problems(document: Any) -> list[str]:
    return [
        f"{'/'.join(map(str, error.instance_path)) or 'document'}: {error.message[:200]}"
        for error in _validator().iter_errors(document)
    ]


@functools.cache
def _validator() -> jsonschema_rs.Draft202012Validator:
    import jsonschema_rs

    return jsonschema_rs.Draft202012Validator(orjson.loads(_SCHEMA.read_bytes()))
