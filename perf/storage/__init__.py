"""How releases are stored: what writing Parquet costs, and what each choice of its writer buys a reader."""
