"""How well a judge could do: measured at freezing, shown on the card, measured again by verify."""

import copy
import random
from types import SimpleNamespace

import orjson
import pytest
from benchmark_samples import CARD, write_benchmark
from persturn_samples import built_rows
from release_samples import ROOT, copy_of, release_of, small_tables
from test_releases_tampering import reseal

from releases.__main__ import main as releases
from releases.cards import curves
from releases.cards.texts import card_texts
from releases.checking import derived
from releases.opening import open_release
from releases.splitting.variants import without_keys, write_variant
from releases.verify import verify
from schemas.benchmarks import benchmark
from schemas.errors import RequestError
from schemas.satisfaction.curves import COLUMNS, curve
from schemas.satisfaction.planted import JUDGES, planted_turns

FROZEN = ROOT / "releases/frozen"


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    return release_of(tmp_path_factory.mktemp("curves"), "persturn@0.1.0", built_rows())


def test_the_manifest_has_what_the_curves_of_the_rows_are_and_the_card_every_figure_of_it(release):
    rows = built_rows()
    ratings = sorted(rows["ratings"], key=lambda row: row["sample_id"])  # as a release has them
    turns = planted_turns(rows["raters"], ratings)
    found = release.manifest["curves"]
    assert found["rows"] == [row for judge in JUDGES for row in curve(turns, judge, 7)]
    assert (found["raters"], found["turns"], found["seed"]) == (6, len(rows["ratings"]), 7)
    card = (release.folder / "README.md").read_text("utf-8")
    section = card[card.index("## How well a judge could do") : card.index("## Review")]
    lines = [line[2:-2].split(" | ") for line in section.splitlines() if line.startswith("| ")][1:]
    for line, row in zip(lines, found["rows"], strict=True):
        assert [float(cell.split(" ")[0]) for cell in line[2:-1]] == [round(row[name], 3) for name in COLUMNS]
    assert "python -m evaluators.satisfaction.curves persturn@0.1.0 --seed 7" in section
    assert (release.folder / "figures/calibration-curves.svg").is_file()


def test_a_figure_that_the_rows_do_not_give_is_found_also_where_other_code_wrote_the_card(
    release, tmp_path, monkeypatch
):
    monkeypatch.setattr(derived, "form", lambda: "0" * 64)

    def better(manifest):
        manifest["curves"]["rows"][3]["qwk"]["ordinal"] += 0.01

    folder = copy_of(release, tmp_path / "copy")
    reseal(folder, better)
    (problem,) = verify(folder).problems
    assert problem.code == "derived.curves" and "rows/3/qwk/ordinal is 0." in problem.message


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda declared: declared["rows"].pop(), "rows is ["),
        (lambda declared: declared.update(seed=8), "seed is 8, the rows give 7"),
        (lambda declared: declared["rows"][0].update(judge="fair"), "rows/0/judge is fair"),
        (lambda declared: declared["rows"][0].update(history=6), "rows/0/history is 6, the rows give 5"),
        (lambda declared: declared["rows"][0].update(recovered=None), "rows/0/recovered is None"),
        (lambda declared: declared["rows"][0].update(best=declared["rows"][0]["best"] - 0.0011), "rows/0/best is"),
    ],
)
def test_every_figure_is_compared_by_itself(release, change, said):
    declared, found = copy.deepcopy(release.manifest["curves"]), release.manifest["curves"]
    change(declared)
    assert said in curves.difference(declared, found)


def test_a_difference_of_the_last_bits_is_none(release):
    found = release.manifest["curves"]
    near = copy.deepcopy(found)
    near["rows"][0]["best"] += curves.TOLERANCE / 2
    assert curves.difference(near, found) is None


def test_curves_that_are_left_out_or_have_no_rows_are_found(release):
    found = release.manifest["curves"]
    assert curves.difference(None, found) == "missing, the rows have some"
    assert curves.difference(found, None) == "the rows have none"
    assert curves.difference(None, None) is None


def of_rows(rows, release):
    """What is measured of a release with these rows."""
    return curves.measured(SimpleNamespace(manifest=release.manifest, tables=release.tables, rows=rows.__getitem__))


def test_two_raters_have_curves_and_no_correlation_over_raters(release):
    found = of_rows(built_rows(2), release)
    assert {row["recovered"] for row in found["rows"]} == {None}
    assert "| not defined |" in curves.shown(found, "persturn@0.1.0")


def test_ratings_of_one_task_have_no_curves(release):
    rows = {name: [row for row in table if row.get("task", "gift") == "gift"] for name, table in built_rows(2).items()}
    assert of_rows(rows, release) is None


def test_a_row_without_planted_truth_among_others_refuses_the_freeze(tmp_path):
    rows = {name: [dict(row) for row in table] for name, table in built_rows(2).items()}
    rows["ratings"][5]["planted"] = None
    with pytest.raises(RequestError, match="no planted truth in ratings"):
        release_of(tmp_path, "persturn@0.1.0", rows)


def test_a_variant_without_ratings_and_a_benchmark_without_raters_have_no_curves(release, tmp_path):
    for found in (
        write_variant(release, without_keys(release), tmp_path),
        release_of(tmp_path, "heart@0.1.0", small_tables()),
    ):
        assert found.manifest["curves"] is None
        assert "## How well a judge could do" not in (found.folder / "README.md").read_text("utf-8")


def test_a_card_that_names_another_table_for_its_raters_is_refused(tmp_path):
    home = write_benchmark(tmp_path / "pets")
    (home / "card.toml").write_text(f'{CARD}\n[curves]\nraters = "pets"\nratings = "meals"\nseed = 7\n', "utf-8")
    with pytest.raises(RequestError, match="pets is no table of raters"):
        card_texts(benchmark(str(home)))


def test_docs_show_the_table_of_the_frozen_release():
    page = (ROOT / "docs/persturn.md").read_text("utf-8")
    (spec,) = {word for word in page.split() if word.startswith("persturn@") and word[-1].isdigit()}
    assert curves.table(open_release(spec, FROZEN).manifest["curves"]["rows"]) in page


def test_a_manifest_of_version_three_has_no_curves_and_one_of_version_four_needs_them(release, tmp_path):
    folder = copy_of(release, tmp_path / "copy")
    manifest = orjson.loads((folder / "manifest.json").read_bytes())
    assert manifest["manifest_version"] == 4
    reseal(folder, lambda manifest: manifest.pop("curves"))
    assert verify(folder).problems[0].code == "manifest.malformed"
    reseal(folder, lambda manifest: manifest.update(manifest_version=3))
    assert not [each for each in verify(folder).problems if each.code == "manifest.malformed"]


def test_verify_says_whether_curves_were_measured_again(release, tmp_path, capsys):
    plain = release_of(tmp_path, "heart@0.1.0", small_tables())
    for found, said in ((release, "descriptions, counts and curves agree"), (plain, "descriptions and counts agree")):
        assert releases(["verify", str(found.folder)]) == 0
        assert f"files, rows, {said}\n" in capsys.readouterr().err


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("raters", "turns"), [(2, 20), (6, 6)])
def test_raters_of_one_score_and_with_a_handful_of_turns_have_curves(release, raters, turns):
    rows = {**built_rows(6), "raters": built_rows(6)["raters"][:raters]}
    names = {row["rater_id"] for row in rows["raters"]}
    own = [{**row, "score": 5} for row in rows["ratings"] if row["rater_id"] in names]
    rows["ratings"] = random.Random(1).sample(own, turns)
    found = of_rows(rows, release)
    assert {row["qwk"]["raw"] for row in found["rows"]} <= {0, None}  # gold is constant: no agreement beyond chance
    assert len(curves.table(found["rows"]).splitlines()) == 2 + len(found["rows"])
