"""How good the composed memories are, in figures: variety, length, how much of the trait shows, English residue.

HEART-BENCH 3.2, appendix B.3 and B.4, Tables 7 and 8; the bounds are those of the offline writer's brief.
Read from a workspace, or composed here with nothing written.

- ``cosine``     within each (character, stage): 99th percentile and maximum of all pairwise TF-IDF cosines of
                 content words (function words carry no content)
- ``sentence``   the largest number of a character's memories that one sentence stands in, and how many stand in
                 more than 0.5 %; openings used twice
- ``length``     mean characters of ``content_full`` against Table 7
- ``probe``      TF-IDF and logistic regression, trained on every other life stage and tested on the rest: how often
                 it names the archetype from one memory, and from 30. Names of the ledger are masked: they say who,
                 not what somebody is like. ``--names`` leaves them in
- ``words``      by what factor the rates of articles and conjunctions lie outside those of the published texts
- ``invented``   memories with pets, kin or storeys that the ledger does not have; ``family`` the least share of a
                 parent's memories of home that a child or the partner is in (``perf.quality.text_words``)
- ``suited``     the share of memories of tiers A and B whose scene has a turn for their pattern (only where they are
                 composed here); ``python -m builders.offline.lint`` names the patterns that lack scenes
- ``residue``    traces a composer leaves: slots, doubled words, wrong articles, unbalanced quotes, small letters
- ``speed``      memories composed a second on one core (only where they are composed here)

    python -m perf.quality.text_quality
    python -m perf.quality.text_quality --workspace build --benchmark heart
"""

from __future__ import annotations

import argparse
import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from builders.life.ledgers import ledger
from builders.memories.plan import plan, targets
from builders.offline.likeness import FUNCTION_WORDS
from builders.offline.memories import Writer
from builders.personas import load_characters
from builders.pipeline.streams import Streams
from perf.quality import text_words
from perf.quality.residue import residue
from schemas.command import DONE, FINDINGS, parser, print_json, run, say
from schemas.errors import RequestError
from schemas.randomness import rng_for
from schemas.tables import Row, term_ids
from schemas.text.sentences import sentences
from schemas.workspace import Workspace

LIMITS = {
    "cosine_p99": (0.0, 0.45),
    "cosine_max": (0.0, 0.80),
    "sentences_over": (0, 0),
    "openings_twice": (0, 0),
    "length_off": (0.0, 0.05),
    "probe_of_30": (0.95, 1.0),
    "probe_of_1": (0.35, 0.80),
    "residue": (0, 0),
    "words_off": (1.0, 1.5),
    "invented": (0, 0),
    "family_at_home": (1 / 3, 1.0),
    "suited": (1.0, 1.0),
    "per_second": (100, None),
}

_SHARE = 0.005
_GROUP, _GROUPS = 30, 200


def measure(
    by_character: Mapping[str, Sequence[Row]],
    characters: Sequence[Row],
    names: bool = False,
    ledgers: Mapping[str, Sequence[Row]] | None = None,
) -> dict[str, Any]:
    """All figures: per character, over all, and what is outside its limits; against ``ledgers`` if given."""
    kind = {row["character_id"]: row for row in characters}
    each = {who: _character(rows, kind[who]) for who, rows in by_character.items()}
    total: dict[str, Any] = {
        key: max(figures[key] for figures in each.values())
        for key in ("cosine_p99", "cosine_max", "sentences_over", "openings_twice", "residue")
    }
    total["length_off"] = max(abs(figures["length_off"]) for figures in each.values())
    rates = text_words.rates(row["content_full"] for rows in by_character.values() for row in rows)
    factors = {word: round(text_words.factor(word, rate), 2) for word, rate in rates.items()}
    total["words_off"] = max(factors.values())
    if ledgers is not None:
        total["invented"] = sum(text_words.invented(rows, ledgers[who]) for who, rows in by_character.items())
        shares = [text_words.family_at_home(rows, ledgers[who]) for who, rows in by_character.items()]
        if known := [share for share in shares if share is not None]:
            total["family_at_home"] = round(min(known), 3)
    if len(each) > 1:
        total |= probe(by_character, {who: row["archetype"] for who, row in kind.items()}, names)
    return {
        "characters": each,
        "total": total,
        "words": {word: (round(rates[word], 2), factors[word]) for word in rates},
    }


def _character(rows: Sequence[Row], character: Row) -> dict[str, Any]:
    texts = [row["content_full"] for row in rows]
    counts, openings = _sentences(texts)
    cosines = _cosines(rows)
    length = sum(map(len, texts)) / len(texts)
    limit = max(1, int(_SHARE * len(texts)))
    over = {sentence: count for sentence, count in counts.items() if count > limit}
    found = [hit for row in rows for hit in residue(row["content_full"])]
    return {
        "archetype": character["archetype"],
        "memories": len(rows),
        "cosine_p99": round(max(p99 for p99, _ in cosines.values()), 3),
        "cosine_max": round(max(top for _, top in cosines.values()), 3),
        "sentence_max": max(counts.values()),
        "sentences_over": len(over),
        "over": sorted(over.items(), key=lambda item: (-item[1], item[0]))[:20],
        "openings_twice": sum(count > 1 for count in openings.values()),
        "length": round(length, 1),
        "length_off": round(length / targets(character).length - 1, 4),
        "shortest": min(map(len, texts)),
        "longest": max(map(len, texts)),
        "residue": len(found),
        "residues": found[:20],
    }


def _sentences(texts: Iterable[str]) -> tuple[Counter[str], Counter[str]]:
    """In how many texts each sentence stands, and how often each opens one."""
    counts: Counter[str] = Counter()
    openings: Counter[str] = Counter()
    for text in texts:
        said = [text[start:end] for start, end in sentences(text)]
        counts.update(set(said))
        openings[said[0]] += 1
    return counts, openings


def _cosines(rows: Sequence[Row]) -> dict[str, tuple[float, float]]:
    """99th percentile and maximum of pairwise cosine of content words, by stage; TF-IDF fitted on the window."""
    import numpy as np
    from sklearn.feature_extraction.text import TfidfVectorizer

    windows: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        windows[row["stage"]].append(row["content_full"])
    found = {}
    for stage, texts in windows.items():
        if len(texts) > 1:
            matrix = TfidfVectorizer(stop_words=sorted(FUNCTION_WORDS)).fit_transform(texts)
            values = (matrix @ matrix.T).toarray()[np.triu_indices(len(texts), 1)]
            found[stage] = (float(np.quantile(values, 0.99)), float(values.max()))
    return found


def probe(by_character: Mapping[str, Sequence[Row]], kind: Mapping[str, str], names: bool = False) -> dict[str, float]:
    """How often the archetype is named from one memory of unseen stages, and from 30; both halves train once."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    masks = {who: None if names else _masked_names(rows) for who, rows in by_character.items()}
    halves: list[tuple[list[str], list[str]]] = [([], []), ([], [])]
    stages = term_ids("memory_stages")
    for who, rows in by_character.items():
        for row in rows:
            texts, labels = halves[stages.index(row["stage"]) % 2]
            texts.append(_mask(row["content_full"], masks[who]))
            labels.append(kind[who])
    one, many = [], []
    for train, test in (halves, halves[::-1]):
        vectorizer = TfidfVectorizer(sublinear_tf=True, min_df=3)
        model = LogisticRegression(C=10.0, max_iter=300).fit(vectorizer.fit_transform(train[0]), train[1])
        scores = model.predict_log_proba(vectorizer.transform(test[0]))
        one.append(sum(model.classes_[scores.argmax(1)] == test[1]) / len(test[1]))
        many.append(_of_many(scores, test[1], list(model.classes_)))
    return {"probe_of_1": round(float(sum(one)) / 2, 3), "probe_of_30": round(float(sum(many)) / 2, 3)}


def _of_many(scores: Any, labels: Sequence[str], classes: Sequence[str]) -> float:
    right = 0
    for label in classes:
        rows = [index for index, own in enumerate(labels) if own == label]
        rng = rng_for(7, "perf", "probe", label)
        for _ in range(_GROUPS):
            drawn = rng.sample(rows, min(_GROUP, len(rows)))
            right += classes[int(scores[drawn].sum(0).argmax())] == label
    return right / (_GROUPS * len(classes))


def _masked_names(rows: Sequence[Row]) -> re.Pattern[str]:
    """Capitalised words that stand inside sentences: names of people, streets, schools and firms."""
    inside = {word for row in rows for word in re.findall(r"(?<=[a-z,] )[A-Z][\w'-]+", row["content_full"])}
    return re.compile(r"\b(?:" + "|".join(sorted(map(re.escape, inside), key=len, reverse=True) or ["(?!)"]) + r")\b")


def _mask(text: str, names: re.Pattern[str] | None) -> str:
    return names.sub("somebody", text) if names else text


def _composed(wanted: Sequence[str], seed: int) -> tuple[dict[str, list[Row]], dict[str, float]]:
    """All memories of the characters, with ``suited`` and ``per_second`` (of processor time)."""
    made: dict[str, list[Row]] = {}
    suited: list[bool] = []
    start = time.process_time()
    for character in load_characters():
        who = character["character_id"]
        if wanted and who not in wanted:
            continue
        streams = Streams(seed, "heart")
        plans = plan(character, streams)
        writer = Writer(character, ledger(character, streams), streams, plans)
        taken: dict[str, set[str]] = defaultdict(set)
        made[who] = []
        for item in plans:
            row = writer.compose(item, taken[item.stage])
            taken[item.stage].add(row["context"])
            made[who].append(row)
        suited += [writer.frame(item).suited for item in plans if item.pattern is not None]
    speed = round(sum(map(len, made.values())) / (time.process_time() - start))
    return made, {"suited": round(sum(suited) / len(suited), 4), "per_second": speed}


def _stored(space: Workspace, wanted: Sequence[str]) -> dict[str, list[Row]]:
    keys = [key for key in space.keys("memories") if not wanted or key in wanted]
    if not keys:
        raise RequestError("no memories", space.folder / "memories", fix="Build them: python -m builders.memories")
    return {key: list(space.rows("memories", key)) for key in keys}


def outside(total: Mapping[str, float]) -> list[str]:
    """Which figures are outside their limits."""
    return [
        name
        for name, (low, high) in LIMITS.items()
        if name in total and not (low <= total[name] and (high is None or total[name] <= high))
    ]


def main(argv: Sequence[str] | None = None) -> int:
    """Print the figures; exit code 1 when one is outside its limits."""
    made = parser(
        "perf.quality.text_quality", __doc__.split("\n\n")[0] if __doc__ else "", "python -m perf.quality.text_quality"
    )
    made.set_defaults(workspace=None)
    made.add_argument("--benchmark", default="heart", choices=["heart"], help="(default: heart)")
    made.add_argument("--char", action="append", default=[], metavar="ID", help="a character; may be given again")
    made.add_argument("--names", action="store_true", help="leave names in for the probe")
    return run(_command, made, argv)


def _command(parsed: argparse.Namespace) -> int:
    characters = load_characters()
    if parsed.workspace is None:
        by_character, composed = _composed(parsed.char, parsed.seed)
    else:
        space = Workspace(parsed.workspace, parsed.benchmark)
        by_character, composed = _stored(space, parsed.char), {}
    ledgers = {
        row["character_id"]: ledger(row, Streams(parsed.seed, "heart"))
        if parsed.workspace is None
        else list(space.rows("ledgers", row["character_id"]))
        for row in characters
        if row["character_id"] in by_character
    }
    figures = measure(by_character, characters, parsed.names, ledgers)
    figures["total"] |= composed
    figures["outside"] = outside(figures["total"])
    if parsed.json:
        print_json(figures)
    else:
        _say(figures)
    return FINDINGS if figures["outside"] else DONE


def _say(figures: Mapping[str, Any]) -> None:
    columns = (
        "archetype",
        "length",
        "length_off",
        "cosine_p99",
        "cosine_max",
        "sentence_max",
        "sentences_over",
        "openings_twice",
        "residue",
    )
    say("".join(f"{name:>15}" for name in ("character", *columns)))
    for who, own in figures["characters"].items():
        say("".join(f"{value!s:>15}" for value in (who, *(own[name] for name in columns))))
    for word, (rate, factor) in figures["words"].items():
        say(f"{word:>16}  {rate:<8} in a thousand words, {factor} times those of the published texts")
    for name, value in figures["total"].items():
        low, high = LIMITS[name]
        bound = f"at least {low}" if high is None else f"{low} to {high}"
        say(f"{name:>16}  {value:<8} ({bound}){'  OUTSIDE' if name in figures['outside'] else ''}")


if __name__ == "__main__":
    raise SystemExit(main())
