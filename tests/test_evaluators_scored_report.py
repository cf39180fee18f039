"""The report of judged texts: every figure with its interval and meaning, judges examined, ranks with ties."""

import hashlib
import re

import orjson
import polars as pl
import pytest
from evaluator_samples import browser

from builders.__main__ import main as builders
from evaluators.__main__ import main
from evaluators.reporting.parts import data_block_within
from evaluators.scoring.metrics import Aggregation, Metric, Scale
from evaluators.scoring.ranking import ranked
from evaluators.scoring.results import read_result
from evaluators.scoring.score_rows import Scores, frame_of, rows_beside
from releases.__main__ import main as releases

SUBJECTS = ("steady", "slipping", "flat")


@pytest.fixture(scope="module")
def reported(tmp_path_factory):
    root = tmp_path_factory.mktemp("scored")
    work = ["--workspace", str(root)]
    assert builders(["run", "fidelity", *work, "--quiet"]) == 0
    frozen = ["--frozen", str(root / "frozen")]
    assert releases(["freeze", "fidelity@0.1.0", *work, *frozen, "--quiet"]) == 0
    folder = root / "evaluations/fidelity@0.1.0"
    for subject in SUBJECTS:
        words = ["--release", "fidelity@0.1.0", *frozen, "--model", f"offline:{subject}", "--limit", "150", "--quiet"]
        assert main(["run", *work, *words]) == 0
        judges = ["offline:noisy", "offline:constant"] if subject == "steady" else ["offline:noisy"]
        said = str(folder / f"said.offline-{subject}.limit150.json")
        assert main(["judge", *work, said, "--judge", *judges, "--quiet"]) == 0
    paths = sorted(folder.glob("scores.*.json"))
    page = root / "page.html"
    assert main(["report", *work, *map(str, paths), "--out", str(page), "--quiet"]) == 0
    return page, [read_result(path) for path in paths], paths


def test_every_figure_stands_with_its_interval_and_what_it_means(reported):
    page, results, _ = reported
    text = page.read_text("utf-8")
    shown = sorted(float(value) for value in re.findall(r'data-value="([0-9.-]+)"', text))
    figures = [
        figure["value"]
        for result in results
        for one in result["figures"]["judged"]
        for figure in one["fidelity"]["metrics"].values()
        if figure["value"] is not None
    ]
    assert shown == pytest.approx(sorted(figures), abs=1e-6)
    assert "Personas like these" in text and "These, asked again" in text
    assert "Judges examined" in text and "Judges compared" in text and "Without offline:noisy" in text
    assert text.count(">kappa 0.9") >= 7 * len(SUBJECTS)  # beside each figure, as judges did
    assert "No model has been asked" in text and "src=" not in text and len(page.read_bytes()) < 150_000


def test_runs_of_different_quality_are_ranked_by_a_judge_that_all_had(reported, capsys):
    _, _, paths = reported
    page = str(paths[0].parent / "r.html")
    assert main(["report", *map(str, paths), "--out", page, "--json"]) == 0
    printed = capsys.readouterr().out
    order = re.findall(r'"name": "offline:(\w+)"', printed)
    assert order == ["steady", "slipping", "flat"]
    assert re.findall(r'"rank": (\d)', printed) == ["1", "2", "3"]


def scores_of(values):
    metric = Metric("warmth", "turn", Scale("integers", 1, 5), Aggregation("mean", (), ("user",)))
    rows = [
        {
            "item": f"t{place}", "metric": "warmth", "judge": "j", "state": "scored", "value": float(value),
            "input_tokens": 0, "output_tokens": 0, "groups": {"user": f"u{place // 4}"},
        }
        for place, value in enumerate(values)
    ]  # fmt: skip
    return Scores(None, {}, (metric,), frame_of(rows, ("user",)).unnest("groups"))


def test_runs_whose_difference_is_not_told_from_nothing_share_a_rank():
    mixed = [1 + place % 5 for place in range(40)]
    turned = [1 + (place + 2) % 5 for place in range(40)]
    found = ranked({"low": scores_of([1] * 40), "one": scores_of(mixed), "two": scores_of(turned)}, 7)
    ranks = {one.name: one.rank for one in found}
    assert ranks == {"one": 1, "two": 1, "low": 3}
    assert {one.name: one.tied for one in found} == {"one": ("two",), "two": ("one",), "low": ()}


def test_choices_and_scores_are_not_put_on_one_page(reported, tmp_path, capsys):
    _, _, paths = reported
    said = next(path for path in paths[0].parent.glob("said.*.json"))
    assert main(["report", str(paths[0]), str(said), "--out", str(tmp_path / "r.html")]) == 2
    assert "a result of `said`" in capsys.readouterr().err


@pytest.fixture(scope="module")
def both(reported, tmp_path_factory):
    """One page of two benchmarks: choices on HEART in two orders and two samples, judged texts of fidelity."""
    root = tmp_path_factory.mktemp("both")
    words = ["--release", "heart@1.0.0", "--setting", "recent", "--workspace", str(root), "--limit", "60", "--quiet"]
    models = ["offline:nearest", "offline:longest", "offline:reader"]
    assert main(["choice", *words, "--model", *models, "--orders", "2", "--samples", "2"]) == 0
    choices = sorted(map(str, root.rglob("choice.*.json")))
    page = root / "both.html"
    assert main(["report", *choices, *map(str, reported[2]), "--out", str(page), "--quiet"]) == 0
    return page


def test_several_benchmarks_are_chapters_of_one_page_whose_links_lead_somewhere(both):
    with browser() as chrome:
        chrome.open(both)
        assert chrome.complaints() == []
        assert chrome.run("return [...document.querySelectorAll('h1')].map((h) => h.textContent)") == [
            "heart@1.0.0",
            "fidelity@0.1.0",
        ]
        ids = chrome.run("return [...document.querySelectorAll('[id]')].map((e) => e.id)")
        assert len(ids) == len(set(ids))
        links = chrome.run("return [...document.querySelectorAll('a[href]')].map((a) => a.getAttribute('href'))")
        assert len(links) > 20 and all(link.startswith("#") and link[1:] in ids for link in links)


@pytest.mark.parametrize("width", [390, 1200])
def test_no_table_and_no_chart_is_cut_on_a_phone_or_a_desk(both, width):
    with browser() as chrome:
        chrome.resize(width)
        chrome.open(both, width)
        chrome.run("return showItems()")
        chrome.run("document.querySelectorAll('details').forEach((fold) => { fold.open = true })")
        assert chrome.run("return innerWidth") == width
        cut = chrome.run(
            """return [...document.querySelectorAll('body, section, .wide, table, .dots, td, th')].filter(
              (e) => e.offsetParent !== null && e.scrollWidth > e.clientWidth + 1).map(
              (e) => e.tagName + ' ' + e.className + ' ' + e.textContent.slice(0, 60))"""
        )
        assert cut == []


def test_a_phone_shows_the_name_of_a_column_beside_its_cell(both):
    with browser() as chrome:
        chrome.resize(390)
        chrome.open(both, 390)
        label = chrome.run(
            """const cell = document.querySelector('#chapter-1-results td');
            return [cell.dataset.label, getComputedStyle(cell, '::before').content]"""
        )
        assert label == ["Accuracy", '"Accuracy"']


def test_the_page_is_walked_by_keyboard_and_folds_open_with_it(both):
    with browser() as chrome:
        chrome.open(both)
        chrome.press("\ue004")
        assert chrome.run("return document.activeElement.className") == "skip"
        chrome.press("\ue007")
        chrome.wait()
        assert chrome.run("return document.activeElement.id") == "main"
        chrome.run("document.querySelector('#chapter-2-groups summary').focus()")
        chrome.press("\ue007")
        chrome.wait()
        assert chrome.run("return document.querySelector('#chapter-2-groups details').open")


def test_a_response_opens_with_its_sentences_and_what_each_judge_said_of_them(both, reported):
    said = pl.read_parquet(next(reported[2][0].parent.glob("said.offline-steady*sentences.parquet")))
    rows = {row["item"]: row for row in said.rows(named=True)}
    header = next(path for path in reported[2] if "steady" in path.name)
    scores = pl.read_parquet(rows_beside(header)).filter(pl.col("judge") == "offline:noisy").rows(named=True)
    unfit = next(one for one in scores if one["value"] in (1.0, 2.0, 3.0) and one["groups"]["level"] == "high")
    with browser() as chrome:
        chrome.open(both, 390)
        chrome.run("return showItems()")
        chrome.run(
            """const form = document.querySelector('#chapter-2-texts form');
            const runs = form.elements.run;
            runs.selectedIndex = [...runs.options].findIndex((one) => one.text.includes('steady'));
            form.elements['by-level'].value = 'high'; form.elements.outcome.value = 'off';
            form.dispatchEvent(new Event('input')); return 1"""
        )
        chrome.run(
            f"document.querySelector('#chapter-2-texts [data-text=\"{rows[unfit['item']]['response']}\"]').open = true"
        )
        chrome.wait()
        shown = chrome.run(
            """return [...document.querySelectorAll('#chapter-2-texts .parts > li')].map((part) => [
              part.querySelector('p').textContent,
              [...part.querySelectorAll('.verdicts li')].map((one) => [one.className, one.textContent])])"""
        )
        assert chrome.run("return document.documentElement.scrollWidth") <= 390
        assert chrome.complaints() == []
    own = sorted(item for item, row in rows.items() if row["response"] == rows[unfit["item"]]["response"])
    assert [text for text, _ in shown] == [rows[item]["sentence"] for item in own]
    verdicts = shown[own.index(unfit["item"])][1]
    assert ["wrong", f"{unfit['value']:g}offline:noisy"] in verdicts and len(verdicts) == 2  # two judges of this run


def test_items_that_do_not_fit_the_page_are_thinned_out_evenly_and_that_is_said():
    ids = [f"text {number:03}" for number in range(100)]
    noise = {name: hashlib.sha512(name.encode()).hexdigest() for name in ids}
    made = []

    def document(chosen):
        made.append(list(chosen))
        return [[name, noise[name]] for name in chosen]

    block, count = data_block_within("texts", ids, document, 4000)
    assert len(block) <= 4000 and 20 < count < 60 and made[0] == ids and len(made[-1]) == count
    gaps = [int(two[5:]) - int(one[5:]) for one, two in zip(made[-1], made[-1][1:], strict=False)]
    assert max(gaps) - min(gaps) <= 1
    assert data_block_within("texts", ids, document, 10**6)[1] == 100


def test_print_leaves_out_what_is_operated_and_keeps_every_figure(both):
    with browser() as chrome:
        chrome.open(both)
        chrome.media("print")
        hidden = chrome.run(
            """return ['nav', '.filter', '.more', '.skip'].map(
              (name) => getComputedStyle(document.querySelector(name)).display)"""
        )
        assert set(hidden) == {"none"}
        shown = chrome.run(
            "return [...document.querySelectorAll('section table')].filter((e) => e.offsetParent).length"
        )
        assert shown >= 10
        assert chrome.run("return getComputedStyle(document.querySelector('.wide')).overflowX") == "visible"


def test_a_leaderboard_has_a_table_for_each_content_and_ranks_with_ties(reported, tmp_path, capsys):
    _, _, paths = reported
    choices = []
    for model in ("random", "longest"):
        choices.append(tmp_path / f"{model}.json")
        words = ["--release", "heart@1.0.0", "--setting", "vanilla", "--model", f"offline:{model}", "--limit", "40"]
        words += ["--workspace", str(tmp_path), "--out", str(choices[-1]), "--quiet"]
        assert main(["choice", *words]) == 0
    assert main(["leaderboard", *map(str, [*paths, *choices]), "--json"]) == 0
    tables = orjson.loads(capsys.readouterr().out)
    assert {name for table in tables for name in table["releases"]} == {"fidelity@0.1.0", "heart@1.0.0"}
    by_release = {table["releases"][0]: table["runs"] for table in tables}
    assert [one["rank"] for one in by_release["fidelity@0.1.0"]] == [1, 2, 3]
    assert [one["rank"] for one in by_release["heart@1.0.0"]] == [1, 1]
    assert by_release["heart@1.0.0"][0]["tied"] == [by_release["heart@1.0.0"][1]["name"]]
    said = next(paths[0].parent.glob("said.*.json"))
    assert main(["leaderboard", str(said)]) == 2
    assert "no result to rank" in capsys.readouterr().err
