"""Importing PersonaLens: each anomaly is found where it is planted, and nowhere else."""

import importer_samples as samples
import pytest

from builders.importers import personalens
from builders.importers.archives import Published
from builders.importers.codes import codes
from builders.importers.personalens_items import on_menu
from schemas.errors import RequestError
from schemas.tables import term_ids, vocabulary

SCHEMA = "res/schema.json"
PROFILE, SINGLE, MULTI = (f"data/profile/user0/{name}" for name in personalens.USER_FILES)


def stage(documents):
    return personalens.stage(Published("sample", samples.encoded(documents)))


def found(documents):
    """Code (without its family), row and field of every finding."""
    return [(f.code.removeprefix("published."), f.row_id, f.field) for f in stage(documents).findings]


def edit(*path, value):
    def change(documents):
        *parents, last = path
        node = documents
        for step in parents:
            node = node[step]
        if value is ...:
            del node[last]
        else:
            node[last] = value

    return change


def affinity(domain, preference, value):
    return edit(PROFILE, "affinities", domain, preference, value=value)


def situation(field, value):
    return edit(SINGLE, "Task 1", "situations", field, value=value)


def rename(path, old, new):
    def change(documents):
        node = documents
        for step in path:
            node = node[step]
        items = [(new if key == old else key, value) for key, value in node.items()]
        node.clear()
        node.update(items)

    return change


def _keep_masked(documents):
    profile = documents[PROFILE]
    profile["interactions"]["Alarm"] = "They asked for one alarm."


def _mask_books(documents):
    documents[PROFILE]["interests"]["Books"] = 0
    del documents[PROFILE]["affinities"]["Books"], documents[PROFILE]["interactions"]["Books"]


def _skip_a_number(documents):
    for name in personalens.USER_FILES:
        documents[f"data/profile/user3/{name}"] = documents.pop(f"data/profile/user1/{name}")
    documents["data/profile/user3/profile.json"]["demographics"]["user_id"] = "user3"


TASK = "SD-Books-task-1"  # the first task of user0, whose mask is off for Alarm alone
HELD = f"user0/{TASK}"
BOOKS, MUSIC = "data/task/Books/task.jsonl", "data/task/Multi-Domain/task.jsonl"

PLANTED = {
    "a masked domain kept": (_keep_masked, [("mask_not_applied", "user0", "affinities")]),
    "a mask that the tasks ignore": (
        _mask_books,
        [("task_masked", HELD, "task_id"), ("task_masked", "user0/MD-task-1", "task_id")],
    ),
    "a stray key": (rename([PROFILE, "interests"], "Buses", "Buses**"), [("stray_key", "user0", "interests")]),
    "no domain": (edit(PROFILE, "interactions", "Books", value=...), [("domain_absent", "user0", "interactions")]),
    "an empty list": (
        affinity("Books", "Favourite Books", []),
        [("empty_list", "user0", "affinities.Books.Favourite Books")],
    ),
    "a value outside": (
        affinity("Books", "Genre", ["value 99"]),
        [("value_outside", "user0", "affinities.Books.Genre")],
    ),
    "another case": (affinity("Books", "Genre", ["VALUE 1"]), [("value_spelling", "user0", "affinities.Books.Genre")]),
    "a value twice": (
        affinity("Books", "Genre", ["value 1", "value 1"]),
        [("value_repeated", "user0", "affinities.Books.Genre")],
    ),
    "one value for a list": (
        affinity("Books", "Genre", "value 1"),
        [("multiplicity_differs", "user0", "affinities.Books.Genre")],
    ),
    "an unknown preference": (
        affinity("Books", "Cover Colour", "value 1"),
        [("preference_unknown", "user0", "affinities.Books.Cover Colour")],
    ),
    "no preference": (affinity("Books", "Genre", ...), [("preference_absent", "user0", "affinities")]),
    "another user's id": (
        edit(PROFILE, "demographics", "user_id", value="user2"),
        [("user_id_differs", "user2", "user_id")],
    ),
    "a gap in the run": (_skip_a_number, [("user_absent", "user1", "user_id")]),
    "no answer": (
        edit(PROFILE, "demographics", "religion", value="N/A"),
        [("answer_withheld", "user0", "demographics.religion")],
    ),
    "a task with another name for a preference": (
        edit("data/task/Media/task.jsonl", 0, "Relevant Affinity Types", value=["Favorite Media"]),
        [
            ("preference_unlisted", "SD-Media-task-1", "preferences.0"),
            ("task_text_differs", "user0/SD-Media-task-1", "Relevant Affinity Types"),
            ("task_text_differs", "user1/SD-Media-task-1", "Relevant Affinity Types"),
        ],
    ),
    "a menu in brackets": (situation("Day of the Week", "[saturday]"), [("menu_spelling", HELD, "day_of_week")]),
    "off the menu": (situation("Device", "Abacus"), [("off_menu", HELD, "device")]),
    "a placeholder": (situation("Location", "[City], Chile"), [("placeholder", HELD, "location")]),
    "another text": (
        edit(SINGLE, "Task 1", "User Intent", value="You need another thing."),
        [("task_text_differs", HELD, "User Intent")],
    ),
    "an unknown task": (
        edit(SINGLE, "Task 1", "task_id", value="SD-Books-task-7"),
        [("task_unknown", "user0/SD-Books-task-7", "task_id"), ("task_absent", "user0", None)],
    ),
    "another label": (rename([SINGLE], "Task 2", "Task two"), [("task_label_differs", SINGLE, "outline")]),
    "no task": (edit(MULTI, "Task 1", value=...), [("task_absent", "user0", None)]),
    "a type that is not as in the vocabulary": (
        edit(SCHEMA, 1, "affinities", 0, "is_categorical", value=False),
        [("preference_differs", "Books/Genre", "categorical")],
    ),
    "a possible value twice": (
        edit(SCHEMA, 1, "affinities", 1, "possible_values", value=["value 0", "value 0"]),
        [("possible_value_repeated", "Books/Favourite Authors", "possible_values")],
    ),
    "an unknown field": (edit(SINGLE, "Task 1", "Note", value=1), [("unmapped", HELD, None)]),
}


def test_a_dataset_without_a_fault_has_no_finding():
    staged = stage(samples.personalens())
    assert staged.findings == []
    assert staged.counts() == {"preferences": 90, "tasks": 21, "users": 2, "situations": 39, "published_files": 28,
                               "task_turns": 0}  # fmt: skip


@pytest.mark.parametrize("planted", PLANTED)
def test_a_planted_anomaly_is_found_and_nothing_else_is(planted):
    change, expected = PLANTED[planted]
    documents = samples.personalens()
    change(documents)
    assert sorted(found(documents), key=str) == sorted(expected, key=str)


def test_every_code_about_this_benchmark_can_be_found():
    planted = {code for _, expected in PLANTED.values() for code, _, _ in expected}
    ours = {
        name.removeprefix("published.")
        for name, code in codes().items()
        if not {"HEART-BENCH", "PersTurnBench"} & set(code.source.split())
    }
    assert planted == ours


@pytest.mark.parametrize(
    "variable, value, expected",
    [
        ("device", "Laptop", ("Laptop", "on")),
        ("device", "SMART SPEAKER", ("Smart speaker", "spelling")),
        ("environment", " [Quiet] ", ("Quiet", "spelling")),
        ("time_of_day", "Late Evening", ("Late Evening", "off")),
        ("day_of_week", "Friday or Saturday", ("Friday or Saturday", "off")),
        ("day_of_week", "[]", ("[]", "off")),
    ],
)
def test_a_situation_value_is_on_its_menu_or_spelled_otherwise_or_off(variable, value, expected):
    assert on_menu(variable, value) == expected


def test_a_corrected_situation_value_keeps_what_was_published_beside_it():
    documents = samples.personalens()
    situation("Device", "[laptop]")(documents)
    row = stage(documents).rows["situations"][HELD]
    assert (row["device"], row["published"]) == ("Laptop", [{"field": "device", "value": '"[laptop]"'}])


@pytest.mark.parametrize("alias", vocabulary("personalens_aliases"), ids=lambda alias: alias["id"])
def test_every_alias_leads_to_a_preference_of_its_domain_and_hides_none(alias):
    (domain,) = (domain for domain in vocabulary("personalens_domains") if domain["id"] == alias["domain"])
    names = {preference["id"] for preference in domain["preferences"]}
    assert alias["preference"] in names
    assert alias["name"] not in names


def test_a_name_that_several_domains_of_a_task_list_resolves_to_each():
    documents = samples.personalens()
    documents["data/task/Multi-Domain/task.jsonl"][0] |= {
        "Relevant Domains": ["Movies", "Music", "Books"],
        "Relevant Affinity Types": ["Preferred Genres", "Preferred Genres (Music)", "Genre", "Nothing"],
    }
    resolved = [entry["resolved"] for entry in stage(documents).rows["tasks"]["MD-task-1"]["preferences"]]
    assert [[(entry["domain"], entry["preference"]) for entry in entries] for entries in resolved] == [
        [("Movies", "Preferred Genres"), ("Music", "Preferred Genres")],
        [("Music", "Preferred Genres")],
        [("Books", "Genre")],
        [],
    ]


def test_the_vocabulary_lists_ninety_types_over_twenty_domains_and_no_values():
    domains = vocabulary("personalens_domains")
    types = [preference for domain in domains for preference in domain["preferences"]]
    assert (len(domains), len(types), sum(preference["categorical"] for preference in types)) == (20, 90, 70)
    assert all(preference.keys() == {"id", "categorical", "multiple", "possible"} for preference in types)
    assert all((preference["possible"] is not None) == preference["categorical"] for preference in types)
    assert len(set(term_ids("personalens_domains"))) == 20


REJECTED = {
    "users": (edit(PROFILE, "interests", "Books", value="yes"), "user0", "interests.1.active", "schema.type", PROFILE),
    "tasks": (edit(BOOKS, 0, "Task Goal", value=""), TASK, "goal", "schema.min_length", BOOKS),
    "situations": (situation("Environment", ...), HELD, "environment", "schema.required", SINGLE),
    "preferences": (
        edit(SCHEMA, 1, "affinities", 0, "possible_values", value="many"),
        "Books/Genre",
        "possible_values",
        "schema.type",
        SCHEMA,
    ),
}


@pytest.mark.parametrize("table", REJECTED)
def test_a_row_that_does_not_fit_is_set_aside_with_file_row_and_field_and_the_others_go_on(table):
    change, row_id, field, code, file = REJECTED[table]
    documents = samples.personalens()
    change(documents)
    staged, whole = stage(documents), stage(samples.personalens())
    (record,) = staged.rejected[table]
    assert (record["row_id"], record["file"], record["codes"]) == (row_id, file, [code])
    assert any(
        (finding.table, finding.row_id, finding.field, finding.code) == (table, row_id, field, code)
        and file in finding.message
        for finding in staged.findings
    )
    assert staged.rows[table].keys() == whole.rows[table].keys() - {row_id}


@pytest.mark.parametrize("name", [SCHEMA, BOOKS, MUSIC, PROFILE, SINGLE, MULTI])
def test_a_missing_file_is_refused_by_name(name):
    documents = samples.personalens()
    del documents[name]
    with pytest.raises(RequestError, match=f"missing file in sample/{name}"):
        stage(documents)


def test_a_dataset_without_users_is_refused():
    documents = {name: value for name, value in samples.personalens().items() if "profile" not in name}
    with pytest.raises(RequestError, match=r"missing file in sample/data/profile/user0/profile\.json"):
        stage(documents)


@pytest.mark.parametrize("value", [{}, 1, [1], [{"domain": 1}], [{"domain": "Books"}]])
def test_a_schema_file_of_another_shape_is_refused(value):
    with pytest.raises(RequestError, match=f"another shape in {SCHEMA}"):
        stage(samples.personalens() | {SCHEMA: value})


@pytest.mark.parametrize("name", [SINGLE, MULTI])
@pytest.mark.parametrize("value", [[], 1, None])
def test_a_task_file_of_another_shape_is_refused(name, value):
    with pytest.raises(RequestError, match=f"another shape in {name}"):
        stage(samples.personalens() | {name: value})


def _same_user(documents):
    documents[PROFILE]["demographics"]["user_id"] = "user1"


def _same_task(documents):
    documents[BOOKS].append(documents[BOOKS][0])


def _same_situation(documents):
    documents[SINGLE]["Task 99"] = documents[SINGLE]["Task 1"]


def _same_type(documents):
    documents[SCHEMA][1]["affinities"].append(documents[SCHEMA][1]["affinities"][0])


@pytest.mark.parametrize("change", [_same_user, _same_task, _same_situation, _same_type])
def test_an_id_that_occurs_twice_is_refused(change):
    documents = samples.personalens()
    change(documents)
    with pytest.raises(RequestError, match=r"duplicate id in .*, row "):
        stage(documents)
