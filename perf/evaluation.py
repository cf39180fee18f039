"""Fit the weights of ``audits.checks.adult_language`` to labelled sentences, or check that they are the fitted ones.

What is a fault and what only looks like one is told by the labelled sentences of ``perspective.adult`` (all sets
but ``unseen``) and the hits and misses of its rule and patterns. Without plain text ordinary words would weigh
too much: so there are children's sentences, too, of sound memories (``whole_memories.jsonl``, all sets but
``unseen``) and of the frozen release.

    python -m perf.evaluation
    python -m perf.evaluation --check
    python -m perf.evaluation --left-out
"""

from __future__ import annotations

import argparse
import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence

import numpy as np
import orjson
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression

from audits.checks.adult_language import BIAS, CODE, WEIGHTS, Weights, pieces, told, weights
from audits.checks.memories import CHILD
from audits.codes import computed
from audits.patterns.criteria import criteria
from audits.text.quotations import Quotations
from audits.text.sentences import sentences
from perf.agreement import FOLDER, UNSEEN, WHOLE, labelled
from schemas.benchmarks import benchmark
from schemas.command import DONE, FINDINGS, parser, run, say
from schemas.rows import write_whole
from schemas.sources import of_release
from schemas.tables import Row

CASES = FOLDER / f"{CODE}.txt"
RELEASE = FOLDER.parents[2] / "releases/frozen/heart/1.0.0"

FROM = -0.5
"""Log-odds from which on a sentence is a finding; ``--left-out`` shows what the choice is between."""


Sentence = tuple[bool, tuple[str, ...]]
"""Whether a sentence is a fault, and its tokens."""

_EVERY = 20
"""Of the sentences of the release one in so many is read from the start."""

_ROUNDS, _NEARLY = 2, -2.0
_FOLDS = 4
_LEAST_OFTEN, _LEAST = 2, 0.02
_STRENGTH = 0.1
_TOLERANCE, _STALE = 0.05, 0.01  # solvers differ in the last digits from machine to machine


def labelled_sentences(left_out: Collection[str] = (UNSEEN,)) -> Iterator[Sentence]:
    """The sentences that say what is a fault and what only looks like one, but for those of some sets."""
    cases = [case for name, each in labelled(CASES).items() if name not in left_out for case in each]
    for pattern in criteria()[CODE].patterns:
        cases += [(True, text) for text in pattern.hits] + [(False, text) for text in pattern.misses]
    (rule,) = (each for each in computed() if each.code == CODE)
    for fault, rows in ((True, rule.hits), (False, rule.misses)):
        cases += [(fault, row["content_full"]) for row in rows if row.get("age", CHILD + 1) <= CHILD]
    for fault, text in cases:
        tokens = tuple(token for words in _told(text) for token in words)
        if tokens:
            yield fault, tokens


def plain_sentences(rows: Iterable[Row]) -> list[Sentence]:
    """The different sentences of children's memories."""
    texts = [row["content_full"] for row in rows if row["age"] <= CHILD]
    return [(False, tokens) for tokens in dict.fromkeys(tuple(words) for text in texts for words in _told(text))]


def _told(text: str) -> Iterator[list[str]]:
    quoted = Quotations(text)
    return told(quoted, sentences(text, quoted.spans))


def best() -> Weights:
    """The fitted weights, of which the bias is such that a sentence of more than 0 is a finding."""
    found = dict(fit_among_plain(labelled_sentences()).by_piece)
    found[BIAS] -= FROM
    return Weights({piece: round(value, 2) for piece, value in found.items() if abs(value) >= _LEAST})


def fit_among_plain(cases: Iterable[Sentence]) -> Weights:
    """The weights that tell faults from near-misses and from plain sentences, in log-odds."""
    pool = plain_sentences(of_release(str(RELEASE), benchmark("heart")).rows("memories"))
    whole = [orjson.loads(line) for line in WHOLE.read_bytes().splitlines()]
    plain = plain_sentences(row for row in whole if row["set"] != UNSEEN and not row["faults"])
    read = [*cases, *plain, *pool[::_EVERY]]
    for _ in range(_ROUNDS):
        # The release tells much alike: of the rest only those count that would nearly be findings.
        fitted = fit(read)
        known = {tokens for _, tokens in read}
        read += [each for each in pool if each[1] not in known and fitted.sentence(each[1]) > _NEARLY]
    return fit(read)


def left_out() -> Iterator[tuple[bool, float]]:
    """Whether a labelled case is a fault, and its weight by a fit that left its set out."""
    sets = {name: cases for name, cases in labelled(CASES).items() if name != UNSEEN}
    for names in (list(sets)[number::_FOLDS] for number in range(_FOLDS)):
        fitted = fit_among_plain(labelled_sentences((UNSEEN, *names)))
        for fault, text in (case for name in names for case in sets[name]):
            yield fault, max((fitted.sentence(words) for words in _told(text)), default=-math.inf)


def fit(read: Sequence[Sentence]) -> Weights:
    """A logistic regression on the pieces of sentences, in shares of the root of their length."""
    counts = [Counter(pieces(tokens)) for _, tokens in read]
    often = Counter(piece for each in counts for piece in each)
    vectors = DictVectorizer()
    table = vectors.fit_transform([{p: n for p, n in each.items() if often[p] >= _LEAST_OFTEN} for each in counts])
    # Rare pieces say more where they do occur: weighed by inverse document frequency, as texts are.
    rarity = np.log((1 + len(read)) / (1 + np.asarray((table > 0).sum(axis=0)).ravel())) + 1
    lengths = np.array([1 / math.sqrt(len(tokens)) for _, tokens in read])
    model = LogisticRegression(C=_STRENGTH, max_iter=10_000, tol=1e-6)
    model.fit(table.multiply(lengths[:, None]).multiply(rarity).tocsr(), [fault for fault, _ in read])
    by_piece = dict(zip(vectors.get_feature_names_out(), (model.coef_[0] * rarity).tolist(), strict=True))
    return Weights({BIAS: float(model.intercept_[0]), **by_piece})


def main(argv: Sequence[str] | None = None) -> int:
    """Write the weights, or check them; returns the exit code."""
    made = parser(
        "perf.evaluation", "Fit the weights of audits.checks.adult_language.", "python -m perf.evaluation --check"
    )
    made.add_argument("--check", action="store_true", help="write nothing; exit code 1 when the weights are stale")
    made.add_argument("--left-out", action="store_true", help="precision and recall on sets that a fit left out")
    return run(_command, made, argv)


def _command(arguments: argparse.Namespace) -> int:
    if arguments.left_out:
        _tell_left_out()
        return DONE
    found = best()
    if arguments.check and _differ(found, weights()) > _STALE:
        say(f"{WEIGHTS} is stale. Run: python -m perf.evaluation")
        return FINDINGS
    if not arguments.check:
        lines = (f"{piece}\t{value:g}\n" for piece, value in sorted(found.by_piece.items()))
        write_whole(WEIGHTS, ["".join(lines).encode()])
    done = "is up to date" if arguments.check else f"has {len(found.by_piece):,} weights"
    say(f"{WEIGHTS} {done}", quiet=arguments.quiet)
    return DONE


def _tell_left_out() -> None:
    weighed = list(left_out())
    say(f"{'from':>5} {'precision':>10} {'recall':>7}  of {len(weighed):,} cases")
    for threshold in (-1.0, FROM, 0.0, 0.5, 1.0):
        found = [fault for fault, weight in weighed if weight > threshold]
        recall = sum(found) / sum(fault for fault, _ in weighed)
        say(f"{threshold:5.1f} {sum(found) / len(found):10.3f} {recall:7.3f}")


def _differ(one: Weights, other: Weights) -> float:
    """The share of weights that differ."""
    every = one.by_piece.keys() | other.by_piece.keys()
    far = [p for p in every if abs(one.by_piece.get(p, 0.0) - other.by_piece.get(p, 0.0)) > _TOLERANCE]
    return len(far) / len(every)


if __name__ == "__main__":
    raise SystemExit(main())
