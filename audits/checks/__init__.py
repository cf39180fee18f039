"""What is looked for in a row: format, perspective, register, Rubin's dimensions, continuity, identity."""
