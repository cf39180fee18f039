"""What is asked of a model: choices and open answers, and the baselines that need no model."""
