"""How right the audits, judges and texts are: figures on labelled cases and planted faults."""
