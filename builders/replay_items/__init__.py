"""Replay items: turns that candidates answer anew, by the published selection and by a blind one."""
