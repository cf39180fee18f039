"""The questions as one Parquet file, prompts written out, for other harnesses.

    python -m evaluators export --release heart@2.0.0 --setting naive_rag --out lm_eval_data
    lm_eval --include_path lm_eval_data --tasks heart_choice --model ...

A release keeps keys apart from questions; harnesses want them in one row. The file holds the key beside the
prompt and is for harnesses only: ``question_id``, ``system``, ``prompt``, ``choices`` (texts), ``labels``,
``answer`` (place of the key from 0), and the groups. The task files of ``evaluators/lm_eval`` are written beside it,
with its whole path in them, so that they run from any folder; export again after moving it.
"""

from __future__ import annotations

import argparse
import io
from pathlib import Path
from typing import TYPE_CHECKING

from evaluators.memory.settings import Setting, retrieve
from evaluators.protocols.bench import Bench, diamonds_of, read_bench, read_keys
from evaluators.protocols.prompting import How, choice_request
from evaluators.running import add_release_arguments, add_setting_arguments, asking, evaluations, setting_of
from models.backends import BackendSettings, add_asking_arguments
from releases import open_release
from schemas.command import DONE, print_json, say
from schemas.rows import write_whole

if TYPE_CHECKING:
    import pyarrow as pa

HELP = "write the questions, prompts and keys as Parquet for other harnesses"
EXAMPLE = "python -m evaluators export --release heart@2.0.0 --setting vanilla --out lm_eval_data"

FILE = "heart_choice.parquet"

_TASKS = Path(__file__).parent / "lm_eval"
_PLACE = b"DATA_FILE"


def add_arguments(made: argparse.ArgumentParser) -> None:
    """The arguments of ``export``."""
    add_release_arguments(made)
    add_setting_arguments(made)
    made.add_argument("--out", type=Path, required=True, metavar="DIR", help=f"folder for {FILE} and the task files")
    add_asking_arguments(made.add_argument_group("asking (for --manager)"))


def run(parsed: argparse.Namespace) -> int:
    """The verb."""
    setting = setting_of(parsed)
    bench = read_bench(open_release(parsed.release, parsed.frozen), parsed.limit, parsed.seed)
    table = exported(bench, setting, evaluations(parsed), asking(parsed, screen=setting.manager))
    path = parsed.out / FILE
    write_whole(path, [_parquet(table)])
    for task in sorted(_TASKS.glob("*.yaml")):
        write_whole(parsed.out / task.name, [task.read_bytes().replace(_PLACE, str(path.resolve()).encode())])
    document = {"file": str(path), "questions": table.num_rows, "content_digest": bench.release.content_digest}
    if parsed.json:
        print_json(document)
    say(f"wrote {table.num_rows:,} questions to {path}", quiet=parsed.quiet or parsed.json)
    return DONE


def exported(bench: Bench, setting: Setting, cache: Path, models: BackendSettings) -> pa.Table:
    """One row a question, in order of id."""
    import pyarrow as pa

    keys, retrieved = read_keys(bench.release), retrieve(bench, setting, cache, models)
    rows = []
    for question in bench.questions:
        request = choice_request(bench, question, How(setting.name), retrieved[question.id])
        rows.append(
            {
                "question_id": question.id,
                "system": "\n\n".join(request.fixed),
                "prompt": request.prompt,
                "choices": list(question.texts),
                "labels": list(question.labels),
                "answer": question.labels.index(keys[question.id]),
                "character_id": question.character_id,
                "scenario_id": question.scenario_id,
                "stage": question.stage,
                "diamonds": diamonds_of(bench.scenarios[question.scenario_id]),
                "setting": setting.name,
                "content_digest": bench.release.content_digest,
            }
        )
    return pa.Table.from_pylist(rows, schema=_schema())


def _schema() -> pa.Schema:
    import pyarrow as pa

    texts = pa.list_(pa.field("element", pa.string(), nullable=False))
    kinds = {"choices": texts, "labels": texts, "answer": pa.int64()}
    columns = (
        "question_id system prompt choices labels answer character_id scenario_id stage diamonds setting content_digest"
    )
    return pa.schema(
        [pa.field(name, kinds.get(name, pa.string()), nullable=name == "diamonds") for name in columns.split()]
    )


def _parquet(table: pa.Table) -> bytes:
    import pyarrow.parquet as pq

    sink = io.BytesIO()
    pq.write_table(table, sink, compression="zstd")
    return sink.getvalue()
