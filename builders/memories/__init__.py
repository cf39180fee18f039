"""Autobiographical memories: plan, write, audit, repair. HEART-BENCH 3.2."""
