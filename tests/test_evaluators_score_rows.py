"""Scores as rows: checked when written and read, and figures that follow from them."""

import orjson
import polars as pl
import pytest

from evaluators.scoring.metrics import Aggregation, Metric, Scale
from evaluators.scoring.results import head, read_result
from evaluators.scoring.score_figures import _median
from evaluators.scoring.score_rows import KEY, frame_of, read_scores, rows_beside, write_scores
from schemas.errors import RequestError

DIGEST = "a" * 64
HEAD = {
    "result_version": 3,
    "kind": "scores",
    "release": {"name": "some@0.1.0", "digest": DIGEST, "content_digest": DIGEST},
    "evaluated_by": "0",
    "run": {
        "model": "m",
        "served_by": [],
        "seed": 7,
        "protocol": "p",
        "judges": ["j"],
        "judged": {"limit": None, "seed": 7},
    },
    "said": {"model": "m", "tables": {"turns": DIGEST}},
}
WARMTH = Metric(
    "warmth", "turn", Scale("integers", 1, 5), Aggregation("mean", ("session", "user"), ("user",), ("user",))
)


def row(item, value, judge="j", metric="warmth", user="u1", session="s1", **more):
    state = "scored" if value is not None else "not_applicable"
    return {
        "item": item,
        "metric": metric,
        "judge": judge,
        "state": state,
        "value": value,
        "input_tokens": 0,
        "output_tokens": 0,
        "groups": {"user": user, "session": f"{user}/{session}"},
        **more,
    }


def some_rows():
    return [
        row("t1", 5.0),
        row("t2", 1.0),
        row("t3", 3.0, session="s2"),
        row("t4", None, session="s2"),
        row("t5", 2.0, user="u2"),
        row("t6", None, user="u3"),
    ]


def write(path, rows, metrics=(WARMTH,)):
    return write_scores(path, HEAD, metrics, frame_of(rows, ("user", "session")))


def test_a_mean_is_a_mean_of_means_over_what_applies(tmp_path):
    header = write(tmp_path / "r.json", some_rows())
    (one,) = header["figures"]["judged"]
    assert one["mean"]["value"] == pytest.approx(((5 + 1) / 2 / 2 + 3 / 2 + 2) / 2)
    assert one["states"] == {"scored": 4, "not_applicable": 2, "unscored": 0, "refused": 0, "failed": 0}
    assert set(one["mean"]["by"]["user"]) == {"u1", "u2"}
    assert one["mean"]["by"]["user"]["u1"]["low"] is None, "one user is no sample of users"
    assert one["mean"]["intervals"][0]["clusters"] == 2
    assert one["distribution"] == [1, 1, 1, 0, 1]


def test_a_result_of_scores_reads_back_and_its_rows_are_sorted(tmp_path):
    path = tmp_path / "r.json"
    written = write(path, some_rows()[::-1])
    assert read_result(path) == orjson.loads(orjson.dumps(written))
    found = pl.read_parquet(rows_beside(path))
    assert found.select(KEY).equals(found.select(KEY).sort(KEY))
    assert read_scores(path, written).frame["user"].to_list().count("u1") == 4


def test_the_same_rows_give_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        write(tmp_path / f"{name}.json", some_rows() if name == "a" else some_rows()[::-1])
    one, two = (orjson.loads((tmp_path / f"{name}.json").read_bytes()) for name in ("a", "b"))
    assert one["figures"] == two["figures"] and one["rows"]["sha256"] == two["rows"]["sha256"]


def test_nothing_scored_is_no_figure(tmp_path):
    (one,) = write(tmp_path / "r.json", [row("t1", None), row("t2", None)])["figures"]["judged"]
    assert one["mean"] == {"value": None, "intervals": [], "declined_as_least": None, "by": {"user": {}}}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda rows: rows.append(row("t1", 4.0)), "two scores of j on warmth in {}, row t1"),
        (lambda rows: rows.append(row("t9", 4.0, judge="k")), "no score of j on warmth in {}, row t9"),
        (
            lambda rows: rows[0].update(value=6.0),
            "score 6 of warmth in {}, row t1, field value: a whole number from 1 to 5",
        ),
        (lambda rows: rows[0].update(value=4.5), "score 4.5 of warmth in {}, row t1"),
        (lambda rows: rows[0].update(value=None), "value against its state in {}, row t1"),
        (lambda rows: rows[3].update(value=0.0), "value against its state in {}, row t4"),
        (lambda rows: rows[1].update(state="guessed"), "unknown state 'guessed' in {}, row t2"),
        (lambda rows: rows[1].update(metric="warmht"), "unknown metric 'warmht'"),
        (lambda rows: rows[1].update(planted=2.0, planted_state="not_applicable"), "planted value against its state"),
        (lambda rows: rows[1].update(judge=None), "null in {}, field judge"),
    ],
)
def test_rows_that_cannot_be_right_are_refused_by_item_and_file(tmp_path, change, said):
    rows = some_rows()
    change(rows)
    path = tmp_path / "r.json"
    with pytest.raises(RequestError) as raised:
        write(path, rows)
    assert said.format(path) in str(raised.value) and "\n" not in str(raised.value)
    assert not path.exists() and not rows_beside(path).exists()


def edited(path, change):
    header = orjson.loads(path.read_bytes())
    change(header)
    path.write_bytes(orjson.dumps(header))


def test_a_header_whose_figures_do_not_follow_is_refused(tmp_path):
    path = tmp_path / "r.json"
    write(path, some_rows())
    edited(path, lambda header: header["figures"]["judged"][0]["mean"].update(value=4.9))
    with pytest.raises(RequestError, match=r"figures do not follow from the rows in .*, field judged"):
        read_result(path)


def test_a_header_whose_cost_does_not_follow_is_refused(tmp_path):
    path = tmp_path / "r.json"
    write(path, some_rows())
    edited(path, lambda header: header["figures"]["used"]["j"].update(cost=0.01))
    with pytest.raises(RequestError, match=r"figures do not follow from the rows in .*, field used"):
        read_result(path)


def test_rows_of_another_result_missing_rows_and_other_files_are_refused(tmp_path):
    one, two = tmp_path / "one.json", tmp_path / "two.json"
    write(one, some_rows())
    write(two, some_rows()[:3])
    rows_beside(one).write_bytes(rows_beside(two).read_bytes())
    with pytest.raises(RequestError, match="rows of another result"):
        read_result(one)
    rows_beside(one).write_bytes(b"no Parquet")
    with pytest.raises(RequestError, match="malformed Parquet"):
        read_result(one)
    rows_beside(one).unlink()
    with pytest.raises(RequestError, match=r"missing rows in .*one\.scores\.parquet"):
        read_result(one)


def test_several_judges_are_compared_and_each_is_left_out_once(tmp_path):
    rows = some_rows() + [
        {**one, "judge": "k", "value": one["value"] and min(5.0, one["value"] + 1)} for one in some_rows()
    ]
    figures = write(tmp_path / "r.json", rows)["figures"]
    (pair,) = figures["agreement"]
    assert (pair["items"], pair["exact"], pair["within_one"], pair["not_applicable"]) == (4, 0.25, 1.0, 1.0)
    assert pair["bias"] == pytest.approx(0.75)
    both, without_j, without_k = figures["consensus"]
    assert (both["without"], without_j["without"], without_k["without"]) == (None, "j", "k")
    by_judge = {one["judge"]: one["mean"]["value"] for one in figures["judged"]}
    assert without_k["mean"]["value"] == pytest.approx(by_judge["j"])
    assert by_judge["j"] < both["mean"]["value"] < by_judge["k"]


def test_the_median_of_two_judges_moves_neither_high_nor_low_scores_by_more():
    pairs = {"low": (1.0, 2.0), "high": (4.0, 5.0), "apart": (2.0, 5.0), "opposite": (1.0, 4.0), "same": (3.0, 3.0)}
    rows = pl.DataFrame([{"item": item, "value": value} for item, pair in pairs.items() for value in pair])
    found = dict(rows.group_by("item").agg(_median(Scale("integers", 1, 5))).rows())
    assert found == {"low": 2.0, "high": 4.0, "apart": 3.0, "opposite": 3.0, "same": 3.0}


def test_a_judge_is_examined_where_quality_was_planted(tmp_path):
    planted = {"t1": 4.0, "t2": 1.0, "t3": None, "t4": None, "t5": 2.0, "t6": None}
    rows = [
        {
            **one,
            "planted": planted[one["item"]],
            "planted_state": "scored" if planted[one["item"]] else "not_applicable",
        }
        for one in some_rows()
    ]
    (found,) = write(tmp_path / "r.json", rows)["figures"]["examined"]
    assert (found["items"], found["exact"], found["within_one"]) == (3, pytest.approx(2 / 3), 1.0)
    assert found["not_applicable"] == pytest.approx(5 / 6)


def test_pairwise_scores_count_the_verdicts_that_went_by_position(tmp_path):
    metric = Metric("better", "pair", Scale("pairwise"), Aggregation("mean", (), ("user",)))
    rows = [
        row("p1", 1.0, metric="better"),
        row("p2", 0.5, metric="better", reason="position"),
        row("p3", 0.5, metric="better", user="u2"),
        row("p4", 0.0, metric="better", user="u2"),
    ]
    (one,) = write(tmp_path / "r.json", rows, [metric])["figures"]["judged"]
    assert one["position_dependent"] == 0.25 and one["mean"]["value"] == 0.5


def test_two_crossed_clusters_give_three_intervals(tmp_path):
    metric = Metric("warmth", "turn", Scale("integers", 1, 5), Aggregation("mean", (), ("user", "session")))
    rows = [
        {
            **row(f"{user}{session}", float(1 + (user + session) % 5)),
            "groups": {"user": str(user), "session": str(session)},
        }
        for user in range(6)
        for session in range(8)
    ]
    (one,) = write(tmp_path / "r.json", rows, [metric])["figures"]["judged"]
    assert [spread["over"] for spread in one["mean"]["intervals"]] == ["user", "session", "both"]
    assert all(spread["low"] < one["mean"]["value"] < spread["high"] for spread in one["mean"]["intervals"])


def test_the_head_of_scores_is_that_of_any_result(tmp_path):
    release = type("R", (), {"name": "x@0.1.0", "digest": DIGEST, "content_digest": DIGEST})
    assert HEAD.keys() - {"said"} == head(release, "scores", {}).keys()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda header: header["run"].update(model="another"), "two models in {}, field run.model: m"),
        (lambda header: header["run"].update(judges=["k"]), "judges against the rows in {}, field run.judges: j"),
        (lambda header: header["figures"].update(bonus=1), "figures do not follow from the rows in {}, field bonus"),
        (lambda header: header["run"].update(protocol=[1]), "not a result in {}: run/protocol"),
        (lambda header: header["run"].update(shown=3), "not a result in {}: run/shown"),
        (lambda header: header["metrics"][0]["scale"].update(kind="stars"), "not a result in {}: metrics/0/scale/kind"),
        (
            lambda header: header["metrics"][0]["aggregation"].update(over=0),
            "not a result in {}: metrics/0/aggregation/over",
        ),
    ],
)
def test_an_edited_header_is_refused_by_file_and_field(tmp_path, change, said):
    path = tmp_path / "r.json"
    write(path, some_rows())
    edited(path, change)
    with pytest.raises(RequestError) as raised:
        read_result(path)
    assert said.format(path) in str(raised.value) and "\n" not in str(raised.value)


def test_a_row_without_a_group_that_figures_need_is_refused(tmp_path):
    rows = some_rows()
    rows[2]["groups"] = {**rows[2]["groups"], "user": None}
    with pytest.raises(RequestError, match=rf"null in .*, row {rows[2]['item']}, field groups.user"):
        write(tmp_path / "r.json", rows)
