"""What a protocol of ``python -m evaluators run`` is: which tables it needs, whom it asks, and what rows come of it.

A protocol is a module with a ``METHOD``; ``run_command`` asks its plan, has the chains answered and writes the rows.
Which protocols a benchmark has is data: ``protocols`` in its TOML, terms of the vocabulary ``protocols``, each with
the tables it needs.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evaluators.scoring.said_rows import Said
from models.backends import BackendSettings
from models.request import Chain
from releases import Release


@dataclass(frozen=True)
class Plan:
    """What is asked: ``starts`` makes a chain of each ``what``, ``tables`` the rows of their results.

    ``what`` is responses or dialogues; ``about`` is what the header says of the run beside the model; ``served`` names
    the models that answered, by role. ``offline``: no chain asks a model.
    """

    what: str
    starts: Sequence[Callable[[], Chain[Any]]]
    tables: Callable[[Sequence[Any], BackendSettings], dict[str, Said]]
    served: Callable[[Sequence[Any]], Mapping[str, Sequence[str]]]
    settings: BackendSettings
    about: Mapping[str, Any]
    offline: bool
    name: Sequence[str] = field(default=())
    """Parts of the result's file name beside the model's."""


@dataclass(frozen=True)
class Method:
    """A protocol: its term in the vocabulary, the offline models it knows, and its plan for a release.

    ``options`` are the arguments of ``run`` that are its own, by name: any other that is given is refused.
    """

    name: str
    subjects: tuple[str, ...]
    options: tuple[str, ...]
    plan: Callable[[Release, argparse.Namespace], Plan]
    users: tuple[str, ...] = ()
