"""The Message Batches API: half the price, in rounds, over days and machines if need be.

- ``rounds``  what chains ask through with ``--batch``: the next requests of all chains make a round
- ``calls``   submitting, finding and collecting batches; also what a run without ``--batch`` does about open ones
"""
