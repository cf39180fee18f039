"""Driving the chains of a run: side by side in one process, or shared out to several.

- ``driver``     all chains of a process, on one event loop
- ``processes``  processes that drive a share of the chains each, with one journal and one budget
"""
