"""PersonaLens as a protocol: a talk a situation, between a simulated user with a task and an assistant.

PersonaLens 3.1. The user begins. When the user ends, the assistant answers once more; without an end the dialogue stops
after ``--max-turns`` exchanges on a message of the user, as in the released code. Rows name user, task, domain and
context; how a dialogue ended stands in ``ended`` (signal: the user ended it; limit: nobody did).

    python -m evaluators run --release personalens@1.0.0 --model NAME --user NAME --context demographics situation
    python -m evaluators run --release personalens@1.0.0 --model offline:mixed --users 20
"""

from __future__ import annotations

import argparse
import functools
from collections.abc import Iterator, Mapping, Sequence

from evaluators.dialogues.rows import Planted
from evaluators.protocols.dialogue import PLANNED, Talk, dialogue_plan, limited
from evaluators.protocols.plan import Plan
from evaluators.running import OFFLINE as PREFIX
from evaluators.subjects.tasks.script import BEHAVIOURS
from evaluators.subjects.tasks.slots import menus
from evaluators.subjects.tasks.truth import personalization, planted_of_user, planted_scores
from evaluators.subjects.tasks.users import USERS
from evaluators.task_dialogues.known import Scene, fields
from evaluators.task_dialogues.speakers import (
    CONTEXTS,
    ENDINGS,
    MAX_TOKENS,
    VANILLA,
    Casting,
    prompt,
    script,
    speakers,
)
from models.dialogue import Dialogue, Speaker, StopRule
from releases import Release
from schemas.command import whole_number
from schemas.errors import RequestError, unknown
from schemas.randomness import rng_for

NEEDS = ("users", "tasks", "situations", "preferences")
OFFLINE = tuple(BEHAVIOURS)
ARGUMENTS = ("user", "context", "ending", "max_turns", "users", "limit", "max_tokens")
MAX_TURNS = {"single": 20, "multi": 30}


def add_arguments(made: argparse.ArgumentParser) -> None:
    """The arguments of its own; ``--user`` is added by the first protocol with simulated users."""
    made.add_argument(
        "--context",
        nargs="+",
        default=[],
        metavar="NAME",
        help=f"what the assistant knows of the user: any of {', '.join(CONTEXTS)} (default: the history alone);"
        f" {VANILLA}: nothing, and it is not asked to suit anybody (task_dialogues)",
    )
    made.add_argument(
        "--ending",
        choices=ENDINGS,
        default="word",
        help="how the user agent ends a dialogue: by a word in its message (default) or by a field of its answer"
        " (task_dialogues)",
    )
    made.add_argument(
        "--max-turns",
        type=whole_number(1, 10**4),
        metavar="N",
        help="exchanges after which a dialogue ends (default: 20, with several domains 30; task_dialogues)",
    )
    made.add_argument(
        "--users",
        type=whole_number(1, 10**9),
        metavar="N",
        help="a seeded sample of so many users, with all of their tasks (task_dialogues)",
    )


def plan(release: Release, parsed: argparse.Namespace, offline: str | None) -> Plan:
    """The run that the arguments ask for; ``offline`` names a subject without a model."""
    context, vanilla = read_context(parsed.context)
    offered = menus(release.rows("preferences"), release.rows("users") if offline else ())
    casting = Casting(
        subject=offline,
        user=_manner(parsed.user),
        context=context,
        vanilla=vanilla,
        ending=parsed.ending,
        seed=parsed.seed,
        room=parsed.max_tokens or MAX_TOKENS,
        offered=offered,
    )
    chosen = limited(list(scenes(release, parsed.users, parsed.seed)), parsed, release)
    talks = [_talk(scene, casting, parsed.max_turns) for scene in chosen]
    given = context_name(context, vanilla)
    about = {
        "context": given,
        "ending": parsed.ending,
        "max_turns": parsed.max_turns or MAX_TURNS,
        "users": parsed.users,
        "prompts": {
            side: {"id": f"{file.id}@{file.version}", "digest": file.digest}
            for side, file in {side: prompt(side) for side in ("user", "assistant")}.items()
        },
        "max_tokens": casting.room,
    }
    named = (
        "" if given == "none" else given.replace(",", "-"),
        "" if parsed.ending == "word" else parsed.ending,
        f"turns{parsed.max_turns}" if parsed.max_turns else "",
        f"users{parsed.users}" if parsed.users else "",
    )
    return dialogue_plan(release, parsed, talks, about, named=named, offline_users=("planned", *USERS))


def read_context(words: Sequence[str]) -> tuple[tuple[str, ...], bool]:
    """What the assistant knows, in order, and whether it is vanilla. Raises RequestError for an unknown name."""
    names = [name for word in words for name in word.split(",") if name]
    for name in names:
        if name not in (*CONTEXTS, VANILLA, "none"):
            raise unknown("context", name, (*CONTEXTS, VANILLA, "none"), "--context")
    for alone in (VANILLA, "none"):
        if alone in names and len(set(names)) > 1:
            raise RequestError(f"--context {alone} with other context", expected=f"{alone} alone", fix="Leave one out")
    return tuple(name for name in CONTEXTS if name in names), VANILLA in names


def context_name(context: Sequence[str], vanilla: bool) -> str:
    """The context in one word: ``none``, ``vanilla``, or its parts."""
    return VANILLA if vanilla else ",".join(context) or "none"


def scenes(release: Release, users: int | None, seed: int) -> Iterator[Scene]:
    """All situations in order of key; those of a seeded sample of users where ``users`` are fewer.

    Raises RequestError for a situation of an unknown user or task.
    """
    people = {row["user_id"]: row for row in release.rows("users")}
    tasks = {row["task_id"]: row for row in release.rows("tasks")}
    chosen = set(people)
    if users is not None and users < len(people):
        rng = rng_for(seed, release.name.benchmark, "evaluators", "users")
        chosen = set(rng.sample(sorted(people), users))
    for row in release.rows("situations"):
        for name, known in (("user_id", people), ("task_id", tasks)):
            if row[name] not in known:
                raise unknown(name.removesuffix("_id"), row[name], known, f"{release.name}, table situations")
        if row["user_id"] in chosen:
            yield Scene(people[row["user_id"]], tasks[row["task_id"]], row)


def _talk(scene: Scene, casting: Casting, max_turns: int | None) -> Talk:
    texts = fields(scene)
    return Talk(
        id=scene.id,
        groups={
            "user_id": scene.user["user_id"],
            "task_id": scene.task["task_id"],
            "kind": scene.task["kind"],
            "domain": scene.domain,
            "context": context_name(casting.context, casting.vanilla),
        },
        speakers=functools.partial(_speakers, scene, casting, texts),
        rule=StopRule(max_turns or MAX_TURNS[scene.task["kind"]], answered=True, last_word=True),
        fields=texts,
        planted=functools.partial(_planted, scene, casting) if casting.subject else None,
    )


def _speakers(scene: Scene, casting: Casting, texts: Mapping[str, str], *_: object) -> tuple[Speaker, Speaker]:
    """The same two, whatever was said before."""
    return speakers(scene, casting, texts)


def _planted(scene: Scene, casting: Casting, found: Dialogue) -> Planted:
    """The true scores of a dialogue and of its replies, by what a planted assistant did."""
    plan = script(scene, casting)
    replies = [turn for turn in found.turns if turn.role == "subject"]
    so_far = {
        (turn.session, turn.number): {"personalization_so_far": personalization(plan.moves[:place], len(plan.slots))}
        for place, turn in enumerate(replies, 1)
    }
    of_user = planted_of_user(casting.user) if casting.user else {}
    return Planted(turns=so_far, dialogue={**planted_scores(plan, len(replies)), **of_user})


def _manner(user: str) -> str | None:
    """How an offline user behaves; None for a model."""
    if not user.startswith(PREFIX):
        return None
    return "steady" if user == PLANNED else user.removeprefix(PREFIX)
