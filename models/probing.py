"""Does a server heed a schema? Found out from what it answers, because some take one and ignore it without a word.

A model whose entry says ``schema = "probe"`` (the default for one without an entry) is given the schema both for the
server to enforce and in words. A refusal, or a first reply that an enforced schema could not have let through, shows
that it is not heeded: from then on it is asked for in words alone. Either finding is reported once.
"""

from __future__ import annotations

from collections import Counter

import orjson

from models.request import Reply, Request
from models.roles import Model
from models.wire.answers import is_bare_json, schema_problems
from models.wire.questions import Manner
from models.wire.schemas import enforceable
from schemas.command import say

_ENOUGH = 5  # replies that keep to a schema before it is said that they do


class Probe:
    """What a run has found out, by model."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self._not_heeded: set[str] = set()
        self._kept_to: Counter[str] = Counter()

    def enforces(self, model: Model) -> bool | None:
        """False when the server was found not to heed a schema; None: as the model's entry says."""
        return False if model.name in self._not_heeded else None

    def refused(self, model: Model, reason: str) -> bool:
        """The server refused a schema. True: it is worth asking again without."""
        if model.schema is False:
            return False
        self._not_heeded_for(model, f"takes no schema here ({reason})")
        return True

    def observe(self, request: Request, model: Model, manner: Manner, reply: Reply) -> None:
        """Learn from a reply that came from the server just now."""
        undecided = model.schema == "probe" and model.name not in self._not_heeded
        if manner != "both" or not undecided or reply.status not in ("answered", "invalid", "unparsable"):
            return
        if not _could_be_enforced(request, reply.text):
            self._not_heeded_for(model, "takes a schema and does not heed it")
            return
        self._kept_to[model.name] += 1
        if self._kept_to[model.name] == _ENOUGH:
            self._say(model, "keeps to the schema. To leave it out of the prompt", "true")

    def _not_heeded_for(self, model: Model, why: str) -> None:
        if model.name not in self._not_heeded:
            self._not_heeded.add(model.name)
            self._say(model, f"{why}: it is asked for in words. To save the attempt", "false")

    def _say(self, model: Model, what: str, value: str) -> None:
        say(f'{model.name} {what}, put in a --roles file: [models."{model.name}"] schema = {value}', quiet=self._quiet)


def _could_be_enforced(request: Request, text: str) -> bool:
    text = text.strip()
    schema = enforceable(orjson.dumps(request.schema))
    return is_bare_json(text) and not schema_problems(request._replace(schema=schema), orjson.loads(text))
