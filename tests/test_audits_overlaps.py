"""One fault is one finding: what overlaps is merged, and nothing else."""

import itertools

import hypothesis
from hypothesis import strategies as st

from audits.overlaps import merged
from schemas.findings import Finding, counts

SEVERITIES = ("error", "warning", "note")
TWICE = {"m2"}


def finding(code, span, severity="error", row_id="m1", field="content_full"):
    return Finding(code, "memories", row_id, field, severity, span, "words", "message", "Anamnesis")


findings = st.lists(
    st.builds(
        finding,
        st.sampled_from(["a.one", "b.two", "c.three"]),
        st.tuples(st.integers(0, 20), st.integers(1, 9)).map(lambda each: (each[0], each[0] + each[1])),
        st.sampled_from(SEVERITIES),
        st.just("m1"),
        st.sampled_from(["content_full", "context"]),
    ),
    max_size=12,
)


def test_the_most_severe_stays_and_names_the_other_codes():
    found = [finding("a.one", (0, 9), "warning"), finding("b.two", (2, 5)), finding("c.three", (8, 12), "note")]
    (first, second) = sorted(merged(found, TWICE), key=lambda each: each.code)
    assert (first.code, first.also) == ("b.two", ("a.one",))
    assert (second.code, second.also) == ("c.three", ())  # it overlaps what was merged, and not what stays
    assert counts([first, second]) == {"b.two": 1, "c.three": 1}


def test_of_equals_the_longest_stays_then_the_first_by_code():
    assert [each.code for each in merged([finding("a.one", (0, 3)), finding("b.two", (0, 5))], TWICE)] == ["b.two"]
    assert [each.code for each in merged([finding("b.two", (0, 5)), finding("a.one", (0, 5))], TWICE)] == ["a.one"]


def test_other_fields_other_rows_findings_without_words_and_stretches_are_left_alone():
    found = [
        finding("a.one", (0, 9)),
        finding("b.two", (0, 9), field="context"),
        finding("b.two", (0, 9), row_id="m2"),
        finding("c.three", (0, 9), row_id="m2"),  # two rows have that id
        finding("b.two", None),
        finding("c.three", (0, 9)),
    ]
    assert sorted(merged(found, TWICE, {"c.three"}), key=repr) == sorted(found, key=repr)


@hypothesis.given(findings)
def test_no_two_findings_of_a_field_overlap_no_code_is_lost_and_order_does_not_matter(found):
    once = merged(found, TWICE)
    for field in ("content_full", "context"):
        spans = sorted(each.span for each in once if each.field == field)
        assert all(one[1] <= other[0] for one, other in itertools.pairwise(spans))
    assert {code for each in once for code in each.codes} == {each.code for each in found}
    assert sorted(once, key=repr) == sorted(merged(found[::-1], TWICE), key=repr)
