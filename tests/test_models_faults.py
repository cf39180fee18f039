"""The table of faults in the docs is what a run over both wires comes to."""

from perf.models import faults


def test_the_table_of_faults_in_the_docs_is_what_runs_over_both_wires_come_to():
    text = faults.DOCS.read_text("utf-8")
    assert faults.BEGIN in text
    assert faults.documented(text, faults.table()) == text
