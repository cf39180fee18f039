"""What ``verify`` compares beyond bytes: rows with the manifest, and what is said of the rows with the rows."""
