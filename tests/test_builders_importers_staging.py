"""Whatever is wrong with a published dataset, an import refuses it whole or loses nothing of it."""

import random
from collections import Counter

import importer_samples as samples
import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders.importers import heart, personalens
from builders.importers.archives import Published
from builders.importers.staging import Stage
from schemas.errors import RequestError
from validators.records import failures

# What a value is replaced with: other types, and values that mean something elsewhere in the data.
STRANGE = [
    *(None, "", "x", 0, 1, -1, 3.5, True, False, [], {}, [1], {"a": 1}, ["x", "x"], {"": ""}, 10**15, "é\u2028"),
    *("CHAR_04_C_LOW", "MEM_CHAR_01_N_HIGH_0005", "SCN_ADOLESCENCE_1", "[Quiet]", "Music", "A", "Buses**"),
]


def places(value, path=()):
    if path:
        yield path
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield from places(child, (*path, key))


def at(document, path):
    for step in path:
        document = document[step]
    return document


def break_somewhere(documents, chance):
    """Change the parsed files at one place below the names of the files."""
    path = chance.choice([path for path in places(documents) if len(path) > 1])
    parent, last = at(documents, path[:-1]), path[-1]
    how = chance.choice(["replace", "replace", "remove", "add", "repeat", "rename", "copy"])
    if how == "remove":
        del parent[last]
    elif how == "add" and isinstance(parent, dict):
        parent[chance.choice(["note", "is_generated", "*", "Buses**"])] = chance.choice(STRANGE)
    elif how == "rename" and isinstance(parent, dict):
        parent[f"{last}*"] = parent.pop(last)
    elif how in ("add", "repeat") and isinstance(parent, list):
        parent.insert(last, chance.choice(STRANGE) if how == "add" else orjson.loads(orjson.dumps(parent[last])))
    elif how == "copy":
        other = at(documents, chance.choice([path for path in places(documents) if len(path) > 1]))
        parent[last] = orjson.loads(orjson.dumps(other))
    else:
        parent[last] = chance.choice(STRANGE)


def heart_items(documents):
    for bucket in documents["scenarios.json"]["scenarios"].values():
        yield from bucket
    yield from documents["mcq.json"]["questions"]
    yield from documents["ground_truth.json"]["pairs"]
    for step in (samples.STEP_1, samples.STEP_2):
        for records in documents[step]["annotations"].values():
            yield from records.values()


def personalens_items(documents):
    for name, document in documents.items():
        if name == personalens.SCHEMA:
            for entry in document:
                yield from entry["affinities"]
        elif name.endswith(".jsonl"):
            yield from document
        elif name.endswith("/profile.json"):
            yield document
        else:
            yield from document.values()


def counted(items):
    return Counter(orjson.dumps(item, option=orjson.OPT_SORT_KEYS) for item in items)


def set_aside(staged):
    """The published items of rejected rows; a question stands in two tables."""
    return [record["published"] for name, records in staged.rejected.items() if name != "mcqs" for record in records]


@pytest.mark.parametrize(
    "module, sample, items",
    [(heart, samples.heart, heart_items), (personalens, samples.personalens, personalens_items)],
    ids=["heart", "personalens"],
)
@settings(max_examples=150)
@given(seed=st.integers(0, 2**32), breaks=st.integers(1, 4))
def test_every_published_item_comes_back_or_lies_among_the_rejected(module, sample, items, seed, breaks):
    documents, chance = sample(), random.Random(seed)
    for _ in range(breaks):
        break_somewhere(documents, chance)
    try:
        staged = module.stage(Published("sample", samples.encoded(documents)))
    except RequestError as refused:
        assert refused.exit_code == 2
        assert "\n" not in str(refused)
        return
    again = dict(module.export(staged.rows))
    assert counted(items(documents)) == counted(items(again)) + counted(set_aside(staged))
    if not any(staged.rejected.values()):
        assert counted([documents]) == counted([again])
    for name, rows in staged.rows.items():
        assert failures(staged.benchmark.table(name), list(rows.values())) == []


def test_an_empty_stage_has_every_table_of_the_benchmark():
    assert Stage("heart-published").counts().keys() == {
        "scenarios",
        "activations",
        "decisions",
        "mcqs",
        "mcq_keys",
        "published_files",
    }


def test_the_digest_of_an_import_depends_on_the_files_and_on_nothing_else():
    one, other = samples.encoded(samples.heart()), samples.encoded(samples.heart())
    shuffled = dict(reversed(other.items()))
    assert heart.stage(Published("a", one)).digest() == heart.stage(Published("b", shuffled)).digest()
    other["mcq.json"] += b" "
    assert heart.stage(Published("b", other)).digest() != heart.stage(Published("a", one)).digest()
