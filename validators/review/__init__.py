"""Expert review: what people are shown, what they answer, and what follows from it.

HEART-BENCH 3.4 stage 2 and appendix D.2 as a protocol: three annotators judge each decision on their own,
an arbitrator decides where they are not of one mind. Pairs and ratings go the same way without arbitration.

- ``items``        what is judged, as it is shown, and its digest
- ``rounds``       who judges, which items were ever shown, which judgements are there
- ``sheets``, ``labelstudio``  the two forms in which items go out and answers come back
- ``answers``      one answer, checked: is it whole, does it contradict itself
- ``intake``       answers against items, people and earlier answers; what is refused is named
- ``consensus``    what the judgements of one item come to
- ``gold``         that, carried into the table of decisions
- ``second``       the same people, the same texts, once more and blind
- ``figures``      agreement, edit rate, drops

``python -m validators.review`` is the command, ``docs/review.md`` the manual.
"""
