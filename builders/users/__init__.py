"""Users of an assistant: demographics, preferences in twenty domains, past interactions. PersonaLens 2.1."""
