"""How varied the words of dialogues are: Dist-1 and Dist-2, Ent-4 and Self-BLEU, a dialogue at a time.

PersonaLens 2.4 and Table 10 report such figures without a definition of unit, tokens, logarithm or smoothing, and
without code. These are ours, named so wherever they are shown: tokens are lower-cased words and single punctuation
marks, n-grams stay within a message, Ent-4 is in nats, Self-BLEU compares each message with the other messages of its
dialogue (closest length, method-1 smoothing of Chen and Cherry 2014, 0 without a common word), and every figure is a
mean over dialogues, since the share of distinct words falls with the length of what is measured.

All dialogues are measured at once as columns: n-grams are 64-bit hashes, counted by grouping.
"""

from __future__ import annotations

import polars as pl

ORDERS = (2, 3, 4)
"""Orders of Self-BLEU."""
MEASURES = ("dist_1", "dist_2", "ent_4", *(f"self_bleu_{order}" for order in ORDERS))

_TOKEN = r"[\p{L}\p{N}_]+(?:['’][\p{L}\p{N}_]+)*|[^\s\p{L}\p{N}_]"
_SMOOTHING = 0.1
_SEED = 7
_FAR = 2**31
_CHUNK = 20_000  # dialogues measured at once

_TALK, _MESSAGE = "talk", "message"


def lexical_diversity(turns: pl.DataFrame) -> pl.DataFrame:
    """One row a dialogue with ``MEASURES``; ``turns`` has ``dialogue`` and ``text``, one row a message.

    A measure is null where a dialogue has no n-gram of its order, Self-BLEU where it has fewer than two messages.
    """
    said = turns.filter(pl.col("text").is_not_null()).select("dialogue", "text")
    names = said.select(pl.col("dialogue").unique(maintain_order=True)).with_row_index(_TALK)
    numbered = said.join(names, on="dialogue", how="left", maintain_order="left").with_row_index(_MESSAGE)
    numbered = numbered.sort(_TALK, maintain_order=True)
    starts = range(0, len(names), _CHUNK)
    parts = [_measured(numbered.filter(pl.col(_TALK).is_between(start, start + _CHUNK - 1))) for start in starts]
    schema = {_TALK: pl.get_index_type(), **dict.fromkeys(MEASURES, pl.Float64())}
    return names.join(pl.concat([pl.DataFrame(schema=schema), *parts]), on=_TALK, how="left").drop(_TALK)


def _measured(said: pl.DataFrame) -> pl.DataFrame:
    grams = _ngrams(said)
    made = said.select(_TALK).unique(maintain_order=True)
    for order in (1, 2):
        made = made.join(_distinct(_counted(grams[order]), f"dist_{order}"), on=_TALK, how="left")
    made = made.join(_entropy(_counted(grams[4])), on=_TALK, how="left")
    return made.join(_self_bleu(grams), on=_TALK, how="left").select(_TALK, *MEASURES)


def _ngrams(said: pl.DataFrame) -> dict[int, pl.DataFrame]:
    """Order -> dialogue, message and hash of every n-gram, in order. Hashes of different dialogues are different."""
    tokens = said.select(_TALK, _MESSAGE, pl.col("text").str.to_lowercase().str.extract_all(_TOKEN).alias("last"))
    tokens = tokens.explode("last").drop_nulls("last").with_columns(pl.col("last").hash(seed=0))
    found = {1: tokens.with_columns(_mixed(pl.col(_TALK).cast(pl.UInt64), pl.col("last")).alias("gram"))}
    for order in range(2, max(ORDERS) + 1):
        next_word = pl.col("last").shift(-1)
        longer = found[order - 1].with_columns(
            _mixed(pl.col("gram"), next_word).alias("gram"),
            next_word.alias("last"),
            pl.col(_MESSAGE).shift(-1).alias("next"),
        )
        found[order] = longer.filter(pl.col(_MESSAGE) == pl.col("next")).drop("next")
    return found


def _mixed(one: pl.Expr, other: pl.Expr) -> pl.Expr:
    """One hash of two, in their order."""
    return (one ^ (other * 2)).hash(seed=_SEED)


def _counted(grams: pl.DataFrame) -> pl.DataFrame:
    """Each n-gram of a dialogue once, with how often it occurs."""
    return grams.group_by("gram").agg(pl.col(_TALK).first(), pl.len())


def _distinct(counted: pl.DataFrame, name: str) -> pl.DataFrame:
    return counted.group_by(_TALK).agg((pl.len() / pl.col("len").sum()).alias(name))


def _entropy(counted: pl.DataFrame) -> pl.DataFrame:
    share = pl.col("len") / pl.col("len").sum()
    return counted.group_by(_TALK).agg((-(share * share.log()).sum()).alias("ent_4"))


def _self_bleu(grams: dict[int, pl.DataFrame]) -> pl.DataFrame:
    """Mean over the messages of a dialogue of the BLEU of each against the others."""
    messages = _brevity(grams[1])
    for order in range(1, max(ORDERS) + 1):
        messages = messages.join(_hits(grams[order], order), on=_MESSAGE, how="left")
    common = pl.col("hits_1").fill_null(0) > 0
    logs = [_smoothed(order).log() for order in range(1, max(ORDERS) + 1)]
    scores = [
        pl.when(common).then(pl.col("brevity") * (pl.sum_horizontal(logs[:order]) / order).exp()).otherwise(0.0)
        for order in ORDERS
    ]
    named = [score.alias(f"self_bleu_{order}") for order, score in zip(ORDERS, scores, strict=True)]
    return messages.select(_TALK, *named).group_by(_TALK).mean()


def _smoothed(order: int) -> pl.Expr:
    """The share of a message's n-grams that other messages have, never 0."""
    hits = pl.col(f"hits_{order}").fill_null(0)
    total = pl.max_horizontal(pl.col("length") - (order - 1), 1)
    return pl.when(hits > 0).then(hits).otherwise(_SMOOTHING) / total


def _hits(grams: pl.DataFrame, order: int) -> pl.DataFrame:
    """How many n-grams of each message other messages of the dialogue have, each at most as often as it has it."""
    counts = grams.group_by("gram", _MESSAGE).agg(pl.len().cast(pl.Int64).alias("count"))
    shared = counts.group_by("gram").agg(pl.len().alias("messages"), pl.col("count").max().alias("most"))
    counts = counts.join(shared.filter(pl.col("messages") > 1), on="gram")
    leads = pl.col("count") == pl.col("most")
    second = counts.filter(~leads).group_by("gram").agg(pl.col("count").max().alias("second"))
    leaders = counts.filter(leads).group_by("gram").agg(pl.len().alias("leaders"))
    counts = counts.join(leaders, on="gram").join(second, on="gram", how="left")
    alone = leads & (pl.col("leaders") == 1)
    others = pl.when(alone).then(pl.col("second")).otherwise(pl.col("most"))
    return counts.group_by(_MESSAGE).agg(pl.min_horizontal("count", others).sum().alias(f"hits_{order}"))


def _brevity(tokens: pl.DataFrame) -> pl.DataFrame:
    """Messages of dialogues that have several, each with its penalty for being shorter than the closest other."""
    lengths = tokens.group_by(_MESSAGE).agg(pl.col(_TALK).first(), pl.len().cast(pl.Int64).alias("length"))
    lengths = lengths.sort(_TALK, "length", _MESSAGE)
    before, after = (
        pl.when(pl.col(_TALK) == pl.col(_TALK).shift(step)).then(pl.col("length").shift(step)) for step in (1, -1)
    )
    # The closest length is a neighbour's; of two as close the shorter counts.
    nearer = (pl.col("length") - before).fill_null(_FAR) <= (after - pl.col("length")).fill_null(_FAR)
    closest = pl.when(nearer).then(before).otherwise(after)
    ratio = closest / pl.col("length")
    penalty = pl.when(ratio > 1).then((1 - ratio).exp()).otherwise(1.0).alias("brevity")
    return lengths.with_columns(penalty, closest.alias("closest")).filter(pl.col("closest").is_not_null())
