"""Shortcuts that are planted are found, clean questions are left alone, and the published ones measured."""

import json
import random
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from audits import evenness
from audits.shortcuts import command, leaks, solvers
from audits.shortcuts.questions import opposites, poles, questions
from audits.shortcuts.rates import rate
from audits.shortcuts.report import audit_questions, measure
from builders.importers import archives, heart
from schemas.benchmarks import benchmark as benchmark_of
from schemas.errors import RequestError
from schemas.records import vocabulary
from schemas.workspace import Workspace

ROOT = Path(__file__).resolve().parents[1]
LETTERS = "ABCD"
PUBLISHED = poles(vocabulary("published_characters"), key="id")
CAST = {f"CHAR_{n:02d}": ("OCEAN"[(n - 1) // 2], ("high", "low")[(n - 1) % 2]) for n in range(1, 11)} | {
    "CHAR_11": None
}
POLES = {character: pole for character, pole in CAST.items() if pole}
WORDS = [f"{a}{b}" for a in "bcdfglmnprst" for b in ("ane", "elt", "ing", "oom", "urst", "ilken")]


def benchmark(scenarios=24, seed=3, pick=None, text=None, letter=None):
    """Questions and keys without any shortcut, but for what the arguments plant.

    ``pick(rng, character, others)`` chooses distractors, ``text(right, text)`` rewrites what a
    question shows, ``letter(rng)`` places the answer.
    """
    rng = random.Random(seed)
    mcqs, keys, decisions = [], [], []
    for number in range(1, scenarios + 1):
        scenario = f"SCN_ADOLESCENCE_{number}"
        said = {c: "I choose " + " ".join(rng.choices(WORDS, k=rng.randrange(20, 40))) for c in CAST}
        decisions += [{"character_id": c, "scenario_id": scenario, "final_decision": t} for c, t in said.items()]
        for character in CAST:
            others = sorted(CAST.keys() - {character})
            chosen = pick(rng, character, others) if pick else rng.sample(others, 3)
            place = letter(rng) if letter else rng.randrange(4)
            order = [*chosen[:place], character, *chosen[place:]]
            shown = [said[c] if text is None else text(c == character, said[c]) for c in order]
            name = f"Q_{character}_{scenario}"
            mcqs.append(
                {
                    "question_id": name, "character_id": character, "scenario_id": scenario, "stage": "adolescence",
                    "options": [{"label": a, "content": t} for a, t in zip(LETTERS, shown, strict=True)],
                }
            )  # fmt: skip
            keys.append(
                {
                    "question_id": name, "answer": LETTERS[place],
                    "sources": [{"label": a, "character_id": c} for a, c in zip(LETTERS, order, strict=True)],
                }
            )  # fmt: skip
    return mcqs, keys, decisions


def found(report):
    return {finding.code for finding in report.findings}


@pytest.fixture(scope="module")
def published(shared):
    tables = heart.stage(archives.read(shared / "data/heart", heart.LAYOUT)).rows
    return [list(tables[name].values()) for name in ("mcqs", "mcq_keys", "decisions")]


@pytest.fixture(scope="module")
def report(published):
    return measure(*published, PUBLISHED)


def test_the_opposite_pole_is_a_distractor_in_537_of_610_published_questions(report):
    assert (report.poles.hits, report.poles.items) == (537, 610)
    assert report.poles.chance == pytest.approx(0.2974, abs=5e-5)


def test_published_letters_and_lengths_give_nothing_away(report):
    assert sum(report.letters.counts.values()) == 673 and report.letters.p > 0.05
    assert report.lengths.longest.low < 0.25 < report.lengths.longest.high
    assert found(report).isdisjoint({"shortcut.letter", "shortcut.length"})


def test_published_distractors_are_skewed(report):
    ranked = [name for name, _ in Counter(report.sources.counts).most_common()]
    assert set(ranked[:2]) == {"CHAR_05", "CHAR_08"} and set(ranked[-2:]) == {"CHAR_07", "CHAR_11"}
    assert sum(report.sources.counts.values()) == 2019
    assert sum(report.sources.expected.values()) == pytest.approx(2019, abs=0.01)
    assert "shortcut.source" in found(report)


def test_fourteen_published_decisions_open_in_the_third_person_and_three_have_no_speaker(report):
    assert (report.persons.texts, report.persons.third, report.persons.speechless) == (673, 14, 3)
    assert sum(finding.code == "shortcut.person" for finding in report.findings) == 16  # one is both


def test_the_published_options_alone_are_no_better_than_chance_but_whose_they_are_is(report):
    assert report.text.low < 0.25 < report.text.high
    assert report.design.low > 0.35
    assert found(report) == {
        f"shortcut.{name}"
        for name in ("pole", "source", "design", "middle", "person", "transductive", "clustered", "keyed")
    }


def test_the_published_answer_is_in_the_middle_of_what_was_chosen_for_being_like_it(report):
    assert report.middle.hits == 231 and report.middle.low > 0.3


def test_questions_without_shortcuts_have_no_findings():
    clean = measure(*benchmark(), POLES)
    assert clean.findings == ()
    assert clean.design.low < 0.25 < clean.design.high and clean.text.low < 0.25 < clean.text.high
    assert clean.middle.low < 0.25 < clean.middle.high


@pytest.mark.parametrize(
    ("code", "planted"),
    [
        ("shortcut.letter", {"letter": lambda rng: rng.choice((0, 0, 1, 2, 3))}),
        ("shortcut.length", {"text": lambda right, text: text + " and then I wait for a good while longer" * right}),
        (
            "shortcut.length",
            {"text": lambda right, text: text + " and then I wait for a good while longer" * (not right)},
        ),
        ("shortcut.text", {"text": lambda right, text: text.replace("choose", "decide") if right else text}),
        ("shortcut.source", {"pick": lambda rng, c, others: rng.sample(others[:6], 3)}),
        ("shortcut.pole", {"pick": lambda rng, c, others: opposite_and_two(rng, c, others)}),
        ("shortcut.design", {"pick": lambda rng, c, others: opposite_and_two(rng, c, others)}),
        ("shortcut.middle", {"text": lambda right, text: " ".join(["I choose", *WORDS]) if right else text}),
    ],
)
def test_a_planted_shortcut_is_found(code, planted):
    assert code in found(measure(*benchmark(**planted), POLES))


def told_by(way):
    """Questions in which every option is in its own character's way: ``way(character)`` is added to it."""
    mcqs, keys, decisions = benchmark(scenarios=8)
    for question, key in zip(mcqs, keys, strict=True):
        for option, source in zip(question["options"], key["sources"], strict=True):
            option["content"] += way(source["character_id"])
    return mcqs, keys, decisions


def test_a_way_of_speaking_is_learnt_without_a_key_from_a_persons_other_questions():
    own = {
        character: f", {first} my {second} way"
        for character, first, second in zip(CAST, WORDS, WORDS[20:], strict=False)
    }
    found_of = measure(*told_by(own.__getitem__), POLES)
    assert found_of.transductive.rate == found_of.keyed.rate == 1.0
    assert {"shortcut.transductive", "shortcut.keyed", "shortcut.phrase"} <= found(found_of)
    assert set(found_of.readers["transductive"]) == {"overlap", "repeated", "overlap, matched", "repeated, matched"}


def test_what_everybody_says_is_no_way_of_speaking():
    same = measure(*told_by(lambda character: ", and so I go on my way"), POLES)
    assert "shortcut.phrase" not in found(same)


def opposite_and_two(rng, character, others):
    pair = [c for c in others if character in POLES and c in POLES and POLES[c][0] == POLES[character][0]]
    return pair + rng.sample([c for c in others if c not in pair], 3 - len(pair))


def test_a_marker_word_is_learnt_on_other_scenarios():
    marked = benchmark(text=lambda right, text: f"{text} indeed" if right else text)
    assert solvers.by_text(questions(*marked)) == [1.0] * 264


def test_near_twins_among_the_options_are_found_on_the_later_one():
    mcqs, keys, decisions = benchmark(scenarios=3)
    options = mcqs[5]["options"]
    options[2]["content"] = options[0]["content"] + " twice"
    (twin,) = [f for f in measure(mcqs, keys, decisions, POLES, solve=False).findings if f.code == "shortcut.twin"]
    assert (twin.row_id, twin.field) == (mcqs[5]["question_id"], "options.C")
    assert "option A" in twin.message and twin.text == options[2]["content"]


TEXT_CODES = [code for code in leaks.codes().values() if code.expression]


@pytest.mark.parametrize(("code", "text"), [(code, text) for code in TEXT_CODES for text in code.hits])
def test_what_gives_the_key_away_is_found_where_it_stands(code, text):
    mcqs, keys, decisions = benchmark(scenarios=2)
    mcqs[0]["options"][1]["content"] = text
    hits = [f for f in measure(mcqs, keys, decisions, solve=False).findings if f.code == code.code]
    assert [(f.row_id, f.field) for f in hits] == [(mcqs[0]["question_id"], "options.B")]
    assert hits[0].text == text[slice(*hits[0].span)]


@pytest.mark.parametrize(("code", "text"), [(code, text) for code in TEXT_CODES for text in code.misses])
def test_what_only_looks_like_it_is_not_found(code, text):
    assert code.find(text) is None


def test_the_report_does_not_depend_on_the_order_of_rows():
    rows = benchmark(scenarios=6)
    mixed = [random.Random(1).sample(table, len(table)) for table in rows]
    assert measure(*rows, POLES) == measure(*mixed, POLES)


def test_without_poles_or_a_second_scenario_nothing_is_made_up():
    alone = measure(*benchmark(scenarios=1))
    assert (alone.poles, alone.design, alone.text) == (None, None, None)


def test_wordless_options_are_no_reason_to_fail():
    blank = measure(*benchmark(scenarios=2, text=lambda right, text: "— …"), POLES)
    assert blank.text is None or blank.text.rate == pytest.approx(0.25)


@pytest.mark.parametrize("change", ["no key", "no rows", "labels"])
def test_questions_and_keys_that_do_not_fit_are_refused(change):
    mcqs, keys, decisions = benchmark(scenarios=1)
    if change == "labels":
        keys[0]["sources"][0]["label"] = "E"
    with pytest.raises(RequestError):
        measure([] if change == "no rows" else mcqs, keys[1:] if change == "no key" else keys, decisions)


def test_the_published_poles_are_those_of_the_built_characters(small_heart):
    built = poles(small_heart["characters"])
    assert built and built.items() <= PUBLISHED.items()
    assert opposites(PUBLISHED)["CHAR_03"] == {"CHAR_04"} and len(opposites(PUBLISHED)) == 10


def test_a_benchmark_says_which_tables_hold_its_questions_and_their_findings_name_them():
    mcqs, keys, decisions = benchmark(pick=lambda rng, c, others: opposite_and_two(rng, c, others))
    chosen = benchmark_of("heart-published")
    asked = replace(chosen.questions, table="items", keys="solutions", decisions="choices")
    tables = {"items": mcqs, "solutions": keys, "choices": decisions}
    report = audit_questions(replace(chosen, questions=asked), tables)
    assert {(each.code, each.table) for each in report.findings} >= {("shortcut.pole", "items")}
    assert "the opposite pole is among the distractors" in {figure["name"] for figure in report.figures()}


def test_a_rate_lies_in_its_interval_and_clusters_widen_it():
    hits = [1.0, 0.0] * 50
    alone = rate(hits, [0.25] * 100, [str(n) for n in range(100)])
    joined = rate(sorted(hits), [0.25] * 100, [str(n // 10) for n in range(100)])
    assert alone.low < alone.rate == 0.5 < alone.high
    assert (alone.low, alone.high) == pytest.approx((0.4038, 0.5962), abs=1e-4)  # Wilson, 50 of 100
    assert joined.low < alone.low and joined.high > alone.high and joined.above > alone.above
    assert rate([0.0] * 5, [0.25] * 5, list("abcde")).low == 0


def test_the_command_prints_one_document_and_exits_1(tmp_path, published, capsys):
    workspace = Workspace(tmp_path, "heart-published")
    for name, rows in zip(("mcqs", "mcq_keys", "decisions"), published, strict=True):
        workspace.write(name, rows)
    words = ["--benchmark", "heart-published", "--workspace", str(tmp_path), "--no-solvers"]
    assert command.main([*words, "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["poles"]["hits"] == 537 and document["text"] is None
    assert document["counts"] == {"shortcut.person": 16, "shortcut.pole": 1, "shortcut.source": 1}
    assert command.main(words) == 1
    assert "537 of 610" in capsys.readouterr().err


def test_the_report_shows_the_words_an_option_must_not_have(tmp_path, capsys):
    mcqs, keys, _ = benchmark(scenarios=2)
    mcqs[0]["options"][1]["content"] = "She chooses to stay, and I am glad."
    mcqs[1]["options"][2]["content"] = "Choose to wait. " * 40
    workspace = Workspace(tmp_path, "heart-published")
    workspace.write("mcqs", mcqs)
    workspace.write("mcq_keys", keys)
    assert command.main(["--benchmark", "heart-published", "--workspace", str(tmp_path), "--no-solvers"]) == 1
    reported = [line for line in capsys.readouterr().err.splitlines() if "shortcut.person" in line]
    assert [line.split("options.")[1].split("  An option")[0] for line in reported[:1]] == ["B  “She”"]
    assert "“Choose to wait. Choose" in reported[1] and max(map(len, reported)) < 400


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("heart", "no rows of heart"),
        ("personalens-published", "benchmark personalens-published has no questions: add [questions]"),
    ],
)
def test_a_benchmark_without_questions_exits_2(name, message, tmp_path, capsys):
    assert command.main(["--benchmark", name, "--workspace", str(tmp_path)]) == 2
    assert message in capsys.readouterr().err


def test_the_tutorial_shows_what_the_commands_print(tmp_path, published, capsys):
    workspace = Workspace(tmp_path, "heart-published")
    for name, rows in zip(("mcqs", "mcq_keys", "decisions"), published, strict=True):
        workspace.write(name, rows)
    common = ["--benchmark", "heart-published", "--workspace", str(tmp_path)]
    command.main(common)
    evenness.main([*common, "--table", "mcq_keys", "--column", "sources.character_id"])
    printed = set(map(str.rstrip, capsys.readouterr().err.splitlines()))
    blocks = re.findall(r"```text\n(.*?)```", (ROOT / "docs/tutorial-shortcuts.md").read_text("utf-8"), re.DOTALL)
    shown = {line.rstrip() for block in blocks for line in block.splitlines()}
    assert len(blocks) == 3 and shown - printed == set()
