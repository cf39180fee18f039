"""Near-duplicates: exact TF-IDF cosine within a window of rows."""
