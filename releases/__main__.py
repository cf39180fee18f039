"""``python -m releases VERB``: freeze, check, compare, query and publish releases.

python -m releases freeze heart@2.0.0
python -m releases verify heart@2.0.0
"""

from __future__ import annotations

from collections.abc import Sequence

from releases import diff, freeze, listing, query, rebuild, verify
from releases.cards import card
from releases.publishing import publish, sign
from releases.splitting import score, split
from schemas.command import Verb, run_verb

VERBS = {
    "freeze": Verb(freeze.HELP, freeze.EXAMPLE, freeze.add_arguments, freeze.run),
    "verify": Verb(verify.HELP, verify.EXAMPLE, verify.add_arguments, verify.run),
    "diff": Verb(diff.HELP, diff.EXAMPLE, diff.add_arguments, diff.run),
    "query": Verb(query.HELP, query.EXAMPLE, query.add_arguments, query.run),
    "list": Verb(listing.LIST_HELP, listing.LIST_EXAMPLE, listing.add_list_arguments, listing.run_list),
    "show": Verb(listing.SHOW_HELP, listing.SHOW_EXAMPLE, listing.add_show_arguments, listing.run_show),
    "card": Verb(card.HELP, card.EXAMPLE, card.add_arguments, card.run),
    "publish": Verb(publish.HELP, publish.EXAMPLE, publish.add_arguments, publish.run),
    "split": Verb(split.HELP, split.EXAMPLE, split.add_arguments, split.run),
    "score": Verb(score.HELP, score.EXAMPLE, score.add_arguments, score.run),
    "rebuild": Verb(rebuild.HELP, rebuild.EXAMPLE, rebuild.add_arguments, rebuild.run),
    "sign": Verb(sign.HELP, sign.EXAMPLE, sign.add_arguments, sign.run),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Parse the verb and its arguments, and run it."""
    return run_verb("releases", "Frozen, verifiable, queryable releases of benchmarks.", VERBS, argv)


if __name__ == "__main__":
    raise SystemExit(main())
