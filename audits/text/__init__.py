"""Plain text: sentences, normalisation, quotation marks, names, language."""
