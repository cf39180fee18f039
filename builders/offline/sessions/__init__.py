"""Profiles and session agendas composed offline, from the banks under ``banks/sessions/``."""
