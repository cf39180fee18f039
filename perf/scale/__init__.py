"""What becomes of audits, freezing and dispatch as tables and runs grow (docs/scale.md)."""
