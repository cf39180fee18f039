"""The real published data: every count of the facts files, and every value back again.

Skipped where the data are absent. PersonaLens is CC-BY-NC and stays outside the project.
"""

import tarfile
from collections import Counter

import importer_samples as samples
import orjson
import pytest

from builders.importers import archives, documents, heart, personalens
from builders.importers.staging import published_value
from schemas.findings import counts
from schemas.tables import term_ids, vocabulary


def staged(module, path):
    return module.stage(archives.read(path, module.LAYOUT))


@pytest.fixture(scope="module")
def heart_stage(shared):
    return staged(heart, shared / "data/heart")


@pytest.fixture(scope="module")
def personalens_archive(shared):
    return shared / "data/personalens/personalens-published.tar.xz"


@pytest.fixture(scope="module")
def personalens_stage(personalens_archive):
    return staged(personalens, personalens_archive)


def rows_with(stage, code):
    return {finding.row_id for finding in stage.findings if finding.code == f"published.{code}"}


def fine_rows(stage):
    return [row for row in stage.rows["activations"].values() if row["step"] == "fine"]


def test_heart_has_the_counts_of_the_facts(heart_stage):
    expected = {name: table.rows for name, table in heart_stage.benchmark.tables.items()}
    assert heart_stage.counts() == expected
    assert Counter(row["step"] for row in heart_stage.rows["activations"].values()) == {"coarse": 869, "fine": 704}
    assert not any(heart_stage.rejected.values())


def test_heart_has_the_anomalies_of_the_facts(heart_stage):
    assert counts(heart_stage.findings) == {
        "published.action_required_missing": 1,
        "published.activation_type_empty": 33,
        "published.activation_type_unknown": 1,
        "published.annotation_not_released": 64,
        "published.decision_absent": 31,
        "published.duplicate_memory_id": 27,
        "published.generated_flag": 54,
        "published.not_fifty": 704 - 559,
        "published.not_in_coarse": 1097,
        "published.scenario_absent": 15,
        "published.scenario_age_differs": 4,
        "published.short_of_offer": 122,
        "published.tagged_memory_id": 704 + 869,
    }
    assert rows_with(heart_stage, "action_required_missing") == {"SCN_SCHOOL_AGE_3"}
    assert rows_with(heart_stage, "activation_type_unknown") == {"CHAR_03/SCN_ADOLESCENCE_1/fine"}
    assert len(rows_with(heart_stage, "duplicate_memory_id")) == 26
    assert len(rows_with(heart_stage, "not_in_coarse")) == 512
    assert len(rows_with(heart_stage, "generated_flag")) == 18


def test_heart_scenarios_are_as_the_facts_say(heart_stage):
    rows = heart_stage.rows["scenarios"].values()
    assert Counter(row["stage"] for row in rows) == dict.fromkeys(term_ids("scenario_stages"), 8)
    assert Counter(row["intensity"] for row in rows) == {"High": 31, "Medium": 15, "Very High": 10, "Extreme": 8}
    lengths = [len(row["context_text"]) for row in rows]
    assert (min(lengths), max(lengths)) == (655, 1942)
    differing = {
        (f.row_id.removeprefix("SCN_"), int(f.text), heart_stage.rows["scenarios"][f.row_id]["age"])
        for f in heart_stage.findings
        if f.code == "published.scenario_age_differs"
    }
    assert differing == {
        ("ENTERING_MIDLIFE_1", 48, 46),
        ("ENTERING_MIDLIFE_7", 47, 49),
        ("ENTERING_MIDLIFE_8", 47, 50),
        ("MIDLIFE_TRANSITION_8", 44, 45),
    }


def test_heart_activations_are_as_the_facts_say(heart_stage):
    fine, scenarios = fine_rows(heart_stage), heart_stage.rows["scenarios"]
    coarse = [
        row
        for row in heart_stage.rows["activations"].values()
        if row["step"] == "coarse" and row["scenario_id"] in scenarios
    ]
    activated = sorted(row["activated"] for row in coarse)
    assert (len(activated), activated[0], activated[-1], activated[352]) == (704, 33, 224, 84)
    assert round(sum(activated) / 704, 2) == 88.95
    assert sum(75 <= count <= 125 for count in activated) == 416
    sizes = Counter(len(row["memories"]) for row in fine)
    assert [sizes[count] for count in (50, 49, 48, 47, 46, 45)] == [559, 67, 27, 7, 6, 6]
    assert min(sizes) == 14
    assert sum(row["skipped"] for row in fine) == 33
    types = Counter(
        kind
        for row in fine
        for kind in published_value(row, "memories.type") or [memory["type"] for memory in row["memories"]]
    )
    assert types == {"ER": 9385, "CB": 8300, "BS": 7422, "AM": 3384, "DL": 2487, "NI": 2080, "": 1511, "EM": 1}


def test_the_eligible_memories_of_heart_rebuild_the_cumulative_curve_of_table_8(heart_stage):
    by_age = {}
    for row in heart_stage.rows["activations"].values():
        if row["step"] == "coarse":
            by_age.setdefault(row["scenario_age"], {})[row["character_id"]] = row["eligible"]
    pooled = {age: sum(by_character.values()) for age, by_character in by_age.items() if len(by_character) == 11}
    assert {age: pooled[age] for age in (22, 27, 32, 40, 45)} == {22: 4891, 27: 6380, 32: 7760, 40: 9565, 45: 10360}
    assert {age: pooled[age] for age in (8, 14, 30, 48)} == {8: 873, 14: 2407, 30: 7210, 48: 10752}


def test_heart_questions_are_as_the_facts_say(heart_stage):
    questions, keys = heart_stage.rows["mcqs"], heart_stage.rows["mcq_keys"]
    assert Counter(row["stage"] for row in questions.values()) == {
        **dict.fromkeys(("early_adult_transition", "midlife_transition"), 86),
        **dict.fromkeys(("age_30_transition", "entering_adult_world", "school_age"), 85),
        "adolescence": 84,
        **dict.fromkeys(("entering_midlife", "settling_down"), 81),
    }
    lengths = [len(row["final_decision"]) for row in heart_stage.rows["decisions"].values()]
    assert (min(lengths), max(lengths)) == (190, 859)
    poles = {"01": "02", "03": "04", "05": "06", "07": "08", "09": "10"}
    opposite = {f"CHAR_{a}": f"CHAR_{b}" for a, b in [*poles.items(), *((b, a) for a, b in poles.items())]}
    polar = [
        opposite[row["character_id"]] in {source["character_id"] for source in keys[row_id]["sources"]}
        for row_id, row in questions.items()
        if row["character_id"] in opposite
    ]
    assert (sum(polar), len(polar)) == (537, 610)


def test_heart_pairs_without_a_decision_are_those_of_the_facts(heart_stage):
    absent = rows_with(heart_stage, "decision_absent")
    by_stage = Counter(row_id.split("/SCN_")[1].rstrip("0123456789").rstrip("_").lower() for row_id in absent)
    assert by_stage == {
        **dict.fromkeys(("entering_midlife", "settling_down"), 7),
        "adolescence": 4,
        **dict.fromkeys(("age_30_transition", "school_age", "entering_adult_world"), 3),
        **dict.fromkeys(("early_adult_transition", "midlife_transition"), 2),
    }
    assert not any(row_id.startswith("CHAR_03") for row_id in absent)


def test_every_published_value_of_heart_comes_back(heart_stage, shared):
    published = samples.read_folder(shared / "data/heart")
    again = dict(heart.export(heart_stage.rows))
    assert again.keys() == published.keys()
    assert all(documents.same(again[name], published[name]) for name in published)


def test_personalens_has_the_counts_of_the_facts(personalens_stage):
    expected = {name: table.rows or 0 for name, table in personalens_stage.benchmark.tables.items()}
    assert personalens_stage.counts() == expected
    kinds = Counter(row["task_id"][:2] for row in personalens_stage.rows["situations"].values())
    assert kinds == {"SD": 98_115, "MD": 24_018}
    assert Counter(row["kind"] for row in personalens_stage.rows["tasks"].values()) == {"single": 86, "multi": 25}
    assert not any(personalens_stage.rejected.values())


def test_personalens_has_the_anomalies_of_the_facts(personalens_stage):
    assert counts(personalens_stage.findings) == {
        "published.answer_withheld": 86 + 59,
        "published.empty_list": 389 + 35 + 21 + 1,
        "published.mask_not_applied": 1498,
        "published.menu_spelling": 36,
        "published.off_menu": 1499,
        "published.placeholder": 39,
        "published.possible_value_repeated": 1,
        "published.preference_unlisted": 13,
        "published.stray_key": 1,
        "published.task_text_differs": 6,
        "published.value_outside": 958,
        "published.value_spelling": 152,
    }
    assert rows_with(personalens_stage, "stray_key") == {"user874"}
    users = [row_id.split("/")[0] for row_id in sorted(rows_with(personalens_stage, "task_text_differs"))]
    assert users == ["user205", "user217", "user217", "user242", "user662", "user801"]
    outside = {
        finding.field
        for finding in personalens_stage.findings
        if finding.code in ("published.value_outside", "published.value_spelling")
    }
    assert len(outside) == 27


def test_personalens_masks_and_domains_are_as_the_facts_say(personalens_stage):
    users = personalens_stage.rows["users"].values()
    active = Counter(entry["domain"] for row in users for entry in row["interests"] if entry["active"])
    assert sum(active.values()) == 22_887
    always = {domain for domain, count in active.items() if count == 1500}
    assert always == {"Calendar", "Media", "Movies", "Music", "Restaurants", "Shopping"}
    assert {domain: active[domain] for domain in ("Alarm", "Buses", "Sports", "Flights", "Travel")} == {
        "Alarm": 1415,
        "Buses": 224,
        "Sports": 482,
        "Flights": 570,
        "Travel": 1489,
    }
    sizes = Counter(sum(entry["active"] for entry in row["interests"]) for row in users)
    assert (min(sizes), max(sizes), sizes[20]) == (9, 20, 2)
    domains = Counter(len(row["domains"]) for row in personalens_stage.rows["tasks"].values() if row["kind"] == "multi")
    assert domains == {2: 2, 3: 7, 4: 15, 5: 1}


def test_personalens_table_1_comes_out_where_the_facts_give_it(personalens_stage):
    tasks = personalens_stage.rows["tasks"]
    counted = Counter(
        (domain, tasks[row["task_id"]]["kind"])
        for row in personalens_stage.rows["situations"].values()
        for domain in tasks[row["task_id"]]["domains"]
    )
    expected = {"Alarm": (5660, 3970), "Books": (7465, 5241), "Buses": (896, 759), "Calendar": (6000, 18611)}
    assert {domain: (counted[domain, "single"], counted[domain, "multi"]) for domain in expected} == expected
    assert sum(len(task["domains"]) for task in tasks.values()) == 176


def test_personalens_situation_values_are_as_published(personalens_stage):
    values = {name: Counter() for name in ("device", "time_of_day", "day_of_week", "environment")}
    for row in personalens_stage.rows["situations"].values():
        for name, counter in values.items():
            counter[published_value(row, name) or row[name]] += 1
    assert {name: len(counter) for name, counter in values.items()} == {
        "device": 50,
        "time_of_day": 24,
        "day_of_week": 14,
        "environment": 5,
    }
    assert values["device"].most_common(5) == [
        ("Laptop", 69_132),
        ("Smartphone", 39_662),
        ("Tablet", 12_055),
        ("Smart TV", 638),
        ("Gaming PC", 286),
    ]
    assert (values["day_of_week"]["[Saturday]"], values["environment"]["[Quiet]"]) == (4, 4)
    assert (values["time_of_day"]["Evening"], values["day_of_week"]["Saturday"]) == (95_303, 86_589)


def test_personalens_profiles_hold_the_entries_of_tables_8_and_9(personalens_stage):
    entries, distinct = Counter(), {}
    for row in personalens_stage.rows["users"].values():
        for entry in row["affinities"]:
            name = f"{entry['domain']}/{entry['preference']}"
            entries[name] += len(entry["values"])
            distinct.setdefault(name, set()).update(entry["values"])
    expected = {
        "Alarm/Alarm Time Preference": (14, 1500),
        "Books/Genre": (12, 4725),
        "Books/Favourite Authors": (291, 4499),
        "Books/Favourite Books": (571, 4495),
        "Books/Favourite Book Series": (276, 2166),
    }
    assert {name: (len(distinct[name]), entries[name]) for name in expected} == expected
    types = [f"{domain['id']}/{p['id']}" for domain in vocabulary("personalens_domains") for p in domain["preferences"]]
    assert entries.keys() == set(types)


def test_every_published_value_of_personalens_comes_back(personalens_stage, personalens_archive):
    again = dict(personalens.export(personalens_stage.rows))
    with tarfile.open(personalens_archive) as tar:
        for member in tar:
            if member.isfile() and not member.name.endswith(".md"):
                content, made = tar.extractfile(member).read(), again.pop(member.name)
                lines = member.name.endswith(".jsonl")
                published = [orjson.loads(line) for line in content.splitlines()] if lines else orjson.loads(content)
                assert documents.same(made, published), member.name
    assert again == {}


def test_no_value_of_personalens_is_in_the_project():
    for name in ("personalens_domains", "personalens_aliases"):
        for term in vocabulary(name):
            assert not {"possible_values", "values", "description"} & term.keys()
