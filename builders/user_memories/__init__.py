"""User memories: what a judge knows of a rater for one target task, made from the other task families alone."""
