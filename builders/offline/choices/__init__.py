"""What a character does in a scenario, offline: which memories come to mind, how they are quoted, what is decided."""
