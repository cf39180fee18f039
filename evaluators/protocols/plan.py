"""What a protocol hands to ``python -m evaluators run``: who is asked what, and how replies become rows.

A protocol is a module of this folder with

    NEEDS       tables that the release must have; without ``--protocol`` the first protocol that has them is run
    OFFLINE     names of subjects without a model (``--model offline:NAME``)
    ARGUMENTS   names of the arguments of ``run`` that it reads; any other that is given is refused
    add_arguments(made)          its own arguments (only where no other protocol has added them)
    plan(release, parsed, offline) -> Plan

and stands in ``PROTOCOLS`` of ``run_command``. Requests may be of several roles; which model plays which is in
``Plan.settings``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluators.scoring.said_rows import Said
from models.backends import BackendSettings
from models.request import Chain


@dataclass(frozen=True)
class Plan:
    """A run before it is run.

    ``starts`` begin the chains; ``tables`` makes the rows from their results, in the same order, the table whose states
    are counted first. ``served`` names the models that replied. ``about`` goes into the header's ``run`` beside model,
    protocol, limit and seed; ``named`` are further parts of the file's name, "" left out.
    """

    unit: str
    starts: Sequence[Callable[[], Chain[Any]]]
    settings: BackendSettings
    tables: Callable[[Sequence[Any]], dict[str, Said]]
    served: Callable[[Sequence[Any]], set[str | None]]
    about: Mapping[str, Any]
    named: Sequence[str] = ()
