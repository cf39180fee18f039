"""What answers come to: parsing, statistics, comparison, result files."""
