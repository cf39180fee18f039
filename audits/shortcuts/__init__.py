"""Whether multiple-choice questions can be answered without what they ask about."""
