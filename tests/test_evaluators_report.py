"""The page, opened in a headless Chromium: what is drawn is what was measured."""

import base64
import gzip
import re

import orjson
import pytest
from evaluator_samples import SPEC, browser, evaluate, result_at, wide_tables
from release_samples import PROVENANCE, frozen_once

NASTY = '</script><img src=x onerror="document.title=1">&amp; <b>bold</b> \u2028 "quoted"'


@pytest.fixture(scope="module")
def chrome():
    with browser() as opened:
        yield opened


@pytest.fixture(scope="module")
def reported(tmp_path_factory):
    """A report of three runs on a release whose texts hold markup."""
    root = tmp_path_factory.mktemp("report")
    tables = wide_tables()
    for scenario in tables["scenarios"]:
        scenario["context_text"] = NASTY
    for question in tables["mcqs"]:
        question["options"][0]["content"] = NASTY + question["options"][0]["content"]
    tables["memories"][0]["content_summary"] = NASTY
    frozen_once(root, SPEC, tables)
    results = []
    for setting, model in (("recent", "reader"), ("naive_rag", "nearest"), ("vanilla", "longest")):
        path = root / f"{setting}.json"
        words = ["--setting", setting, "--model", f"offline:{model}", "--orders", "2"]
        evaluate(root, "choice", *words, "--quiet", "--out", path)
        results.append(path)
    page = root / "report.html"
    assert evaluate(root, "report", *results, "--out", page, "--quiet") == 0
    return page, [result_at(path) for path in results]


def test_the_page_asks_for_nothing_and_nothing_in_it_runs_but_its_own_script(chrome, reported):
    page, _ = reported
    chrome.open(page)
    assert chrome.complaints() == []
    assert chrome.run("return performance.getEntriesByType('resource').length") == 0
    assert chrome.run("return document.title") == f"{SPEC}: evaluation"
    assert chrome.run("return document.images.length") == 0
    text = page.read_text("utf-8")
    assert "src=" not in text.replace("src=x", "") and 'href="http' not in text and "@import" not in text


def test_the_dots_stand_where_the_accuracies_are(chrome, reported):
    page, results = reported
    chrome.open(page)
    drawn = chrome.run(
        """return [...document.querySelectorAll('#figure-4 .dot')].map((dot) => {
          const track = dot.parentElement.getBoundingClientRect(), own = dot.getBoundingClientRect();
          return [Number(dot.dataset.value), (own.left + own.width / 2 - track.left) / track.width * dot.dataset.most];
        })"""
    )
    rates = sorted(result["figures"]["overall"]["rate"] for result in results)
    assert sorted(value for value, _ in drawn) == pytest.approx(rates, abs=1e-6)
    for value, place in drawn:
        assert place == pytest.approx(value, abs=0.01)


def test_lines_matrix_and_characters_show_the_figures_of_the_results(chrome, reported):
    page, results = reported
    chrome.open(page)
    points = chrome.run("return [...document.querySelectorAll('#figure-6 .point')].map((p) => Number(p.dataset.value))")
    stages = [one["rate"] for result in results for one in result["figures"]["by_stage"].values()]
    assert sorted(points) == pytest.approx(sorted(stages), abs=1e-6)
    cells = chrome.run(
        "return [...document.querySelectorAll('.matrix td[data-value]')].map((c) => Number(c.dataset.value))"
    )
    choices = [{item["question_id"]: item["choice"] for item in result["items"]} for result in results]
    agree = [
        sum(one[key] == two[key] for key in one) / len(one) for one in choices for two in choices if one is not two
    ]
    assert sorted(cells) == pytest.approx(sorted(agree), abs=1e-6)
    dots = chrome.run("return [...document.querySelectorAll('#figure-5 .dot')].map((d) => Number(d.dataset.value))")
    people = [one["rate"] for result in results for one in result["figures"]["by_character"].values()]
    assert sorted(dots) == pytest.approx(sorted(people), abs=1e-6)


def test_bars_of_a_life_are_as_high_as_its_memories_are_many(chrome, reported):
    page, _ = reported
    chrome.open(page)
    bars = chrome.run(
        """return [...document.querySelectorAll('.strip')].map((strip) => [...strip.querySelectorAll('path')].map(
          (bar) => [Number(bar.dataset.value), bar.getBoundingClientRect().height]))"""
    )
    assert [sum(count for count, _ in life) for life in bars] == [3, 3, 3, 3]
    for life in bars:
        tallest = max(life)
        for count, height in life:
            assert height == pytest.approx(tallest[1] * count / tallest[0], rel=0.02)


def test_a_question_opens_by_keyboard_and_shows_texts_as_they_are(chrome, reported):
    page, results = reported
    chrome.open(page)
    chrome.run("return showItems()")
    assert chrome.run("return document.querySelectorAll('.list details').length") == len(results[0]["items"])
    chrome.run("document.querySelector('.list summary').focus()")
    chrome.press("\ue007")
    chrome.wait()
    shown = chrome.run("return document.querySelector('.list details[open] .question').textContent")
    assert "<b>bold</b>" in shown and "</script><img" in shown
    chrome.run("document.querySelector('.list details[open] details summary').focus()")
    chrome.press("\ue007")
    chrome.wait()
    assert chrome.run("return document.querySelectorAll('.list .memories li').length") > 0
    first = chrome.run("return document.querySelector('.list details').dataset.question")
    item = next(item for item in results[0]["items"] if item["question_id"] == first)
    assert f"chose {item['choice']}, {'right' if item['correct'] else 'wrong'}" in shown


def test_filters_leave_what_they_say(chrome, reported):
    page, results = reported
    chrome.open(page)
    chrome.run("return showItems()")
    chrome.run(
        """const form = document.querySelector(".filter"); form.elements.who.value = 'CHAR_02';
        form.elements.outcome.value = 'none'; form.dispatchEvent(new Event('input'))"""
    )
    right = {item["question_id"] for result in results for item in result["items"] if item["correct"]}
    wanted = {q["question_id"] for q in results[0]["items"] if q["character_id"] == "CHAR_02"} - right
    found = chrome.run("return [...document.querySelectorAll('.list details')].map((d) => d.dataset.question)")
    assert set(found) == wanted


@pytest.mark.parametrize("width", [360, 1200])
def test_the_page_fits_a_phone_and_a_desk(chrome, reported, width):
    page, _ = reported
    chrome.open(page, width)
    inner, wide = chrome.run("return [innerWidth, document.documentElement.scrollWidth]")
    assert wide <= inner
    smallest = chrome.run(
        """return Math.min(...[...document.querySelectorAll('p, td, th, li, summary, .label')].filter(
          (e) => e.offsetParent).map((e) => parseFloat(getComputedStyle(e).fontSize)))"""
    )
    assert smallest >= 11


def test_results_of_different_content_are_never_put_in_one_page(tmp_path, reported, capsys):
    _, _ = reported
    tables = wide_tables(2)
    frozen_once(tmp_path, SPEC, tables)
    one = tmp_path / "one.json"
    evaluate(tmp_path, "choice", "--setting", "vanilla", "--model", "offline:random", "--quiet", "--out", one)
    other = reported[0].parent / "vanilla.json"
    assert evaluate(tmp_path, "report", one, other, "--out", tmp_path / "r.html") == 2
    assert "results of different releases" in capsys.readouterr().err
    assert evaluate(tmp_path, "compare", one, other) == 2
    assert not (tmp_path / "r.html").exists()
    assert evaluate(tmp_path, "report", other, "--out", tmp_path / "r.html") == 2
    assert "results of another release" in capsys.readouterr().err


def questions_of(page):
    """What the page's script unpacks."""
    packed = re.search(
        r'<script type="text/plain" class="data" data-kind="questions">([A-Za-z0-9+/=]*)</script>',
        page.read_text("utf-8"),
    )[1]
    return orjson.loads(gzip.decompress(base64.b64decode(packed)))


def test_the_questions_are_one_block_that_no_text_can_end(reported):
    page, results = reported
    found = questions_of(page)
    assert {q["id"] for q in found["questions"]} == {item["question_id"] for item in results[0]["items"]}
    by_id = {q["id"]: q for q in found["questions"]}
    assert all(len(run["memories"]) == len(run["scores"]) for q in by_id.values() for run in q["runs"])
    assert any(NASTY in scenario["text"] for scenario in found["scenarios"].values())
    assert "onerror" not in page.read_text("utf-8")


def head_of(page):
    return page.read_text("utf-8").split("<header>")[1].split("<nav")[0]


def test_runs_of_baselines_are_not_reported_as_if_a_model_had_been_asked(reported):
    page, results = reported
    head = head_of(page)
    floors = results[0]["figures"]["baselines"]
    best = max(floors, key=lambda name: floors[name]["rate"])
    assert "No model has been asked" in head and f"{100 * floors[best]['rate']:.1f} %" in head
    assert "The best of" not in head and "chooses" not in head


def test_the_first_screen_says_what_a_model_reached_over_the_floor_and_what_that_cannot_show(tmp_path, rehearse):
    tables = wide_tables()
    for decision in tables["decisions"]:
        decision["provenance"] = PROVENANCE  # composed, and the small workspace has nothing reviewed
        decision["review"] = {**decision["review"], "status": "unreviewed"}
    frozen_once(tmp_path, SPEC, tables)
    rehearse(compose=lambda body: '{"reasoning": "So it seems.", "choice": "A"}')
    words = ["--setting", "recent", "--quiet", "--model", "claude-haiku-4-5", "offline:reader"]
    assert evaluate(tmp_path, "choice", *words) == 0
    results = sorted((tmp_path / "out/evaluations" / SPEC).glob("*.json"))
    page = tmp_path / "report.html"
    assert len(results) == 2 and evaluate(tmp_path, "report", *results, "--out", page, "--quiet") == 0
    head, asked = head_of(page), result_at(results[0])
    assert asked["run"]["model"] == "claude-haiku-4-5"
    assert f"<strong>{100 * asked['figures']['overall']['rate']:.1f} %</strong>" in head
    assert "claude-haiku-4-5, recent</strong> chooses" in head and "best baseline" in head
    assert "reviewed by people" in head and "composed by a built-in writer" in head


def test_no_two_lines_of_a_setting_look_the_same(tmp_path):
    frozen_once(tmp_path, SPEC, wide_tables())
    models = [f"offline:{name}" for name in ("random", "longest", "options", "nearest", "reader")]
    assert evaluate(tmp_path, "choice", "--setting", "recent", "--quiet", "--model", *models) == 0
    page = tmp_path / "report.html"
    results = sorted((tmp_path / "out/evaluations" / SPEC).glob("*.json"))
    assert evaluate(tmp_path, "report", *results, "--out", page, "--quiet") == 0
    chart = page.read_text("utf-8").split('id="figure-6"')[1].split("</svg>")[0]
    drawn = re.findall(r'<path class="line [^"]+" d="[^"]+"([^>]*)/>', chart)
    assert len(drawn) == len(set(drawn)) == len(models)
