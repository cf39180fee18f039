"""How fast evaluations, judges and scores are beside other harnesses and plain loops."""
