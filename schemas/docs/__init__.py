"""The pages of docs/ that are generated: tables and vocabularies, and every command."""
