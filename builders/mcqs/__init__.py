"""Multiple-choice questions and their distractors. HEART-BENCH appendix D.3."""
