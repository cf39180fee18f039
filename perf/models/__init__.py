"""How fast models are asked beside other clients, and what faults and kills do to a run."""
