"""What a model is shown of the past: recent, retrieved, summarised memories."""
