"""The memory settings of HEART-BENCH 4.1, and what each retrieves for every question of a run.

vanilla      nothing is known of the person
recent       the last 30 memories before the situation
naive_rag    the 30 nearest memories
mem0         the 150 nearest of what the package mem0ai keeps
persona_db   the 30 best of narratives and statements, by fields the situation is about

Two more tell failing to remember from failing to reason; no model could have them in earnest:

oracle       the memories that the release says the situation calls up (at most 50, HEART-BENCH 3.4)
full         all memories up to the scenario's age
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluators.memory.embedding import embedder
from evaluators.protocols.bench import Bench, demand_memories
from evaluators.protocols.prompting import Excerpt
from models.backends import BackendSettings
from schemas.errors import RequestError

SETTINGS = ("vanilla", "recent", "naive_rag", "mem0", "persona_db", "oracle", "full")
DEFAULT_K = {"recent": 30, "naive_rag": 30, "mem0": 150, "persona_db": 30}


@dataclass(frozen=True)
class Setting:
    """A setting and its options. ``k`` None: the paper's; ``manager`` writes what mem0 and persona_db derive."""

    name: str
    k: int | None = None
    embedder: str = "tfidf"
    manager: str = "offline"

    @property
    def depth(self) -> int | None:
        """How many memories a question gets at most; None for vanilla, and where the release decides."""
        return self.k or DEFAULT_K.get(self.name)

    def about(self) -> dict[str, str | int | None]:
        """What a result says of it; null for what it does not use."""
        embeds, manages = self.name in ("naive_rag", "mem0", "persona_db"), self.name in ("mem0", "persona_db")
        return {
            "setting": self.name,
            "k": self.depth,
            "embedder": self.embedder if embeds else None,
            "manager": self.manager if manages else None,
        }

    @property
    def retrieves(self) -> bool:
        """Whether anything of the person is remembered."""
        return self.name != "vanilla"


def retrieve(
    bench: Bench, setting: Setting, cache: Path, models: BackendSettings | None
) -> dict[str, Sequence[Excerpt]]:
    """Question -> what is remembered. ``cache`` is the folder of what is kept between runs.

    Raises RequestError for a release without memories, for ``k`` larger than anybody's memories, and for
    an embedder or package that is not there.
    """
    if not setting.retrieves:
        return {question.id: () for question in bench.questions}
    demand_memories(bench, f"--setting {setting.name}")
    depth = setting.depth
    if depth is None:
        from evaluators.memory.retrieval import called_up, everything

        return called_up(bench) if setting.name == "oracle" else everything(bench)
    most = max(len(own) for own in bench.memories.values())
    if setting.k is not None and setting.k > most and setting.name != "mem0":
        raise RequestError(
            f"--k {setting.k} is more than there is",
            bench.release.name,
            expected=f"at most {most} memories a character",
            fix=f"Give --k {most} or less",
        )
    if setting.name == "recent":
        from evaluators.memory.retrieval import recent

        return {question.id: recent(bench, question, depth) for question in bench.questions}
    embed = embedder(setting.embedder, cache / "embeddings.sqlite")
    if setting.name == "naive_rag":
        from evaluators.memory.retrieval import nearest

        return dict(nearest(bench, embed, depth))
    if setting.name == "persona_db":
        from evaluators.memory import persona_db

        return dict(persona_db.retrieved(bench, embed, persona_db.statements_of(bench, setting.manager, models), depth))
    from evaluators.memory import mem0

    quiet = models.quiet if models else True
    how = mem0.Mem0(setting.manager, mem0.dense(embed), cache / "mem0", depth, quiet)
    return dict(mem0.retrieved(bench, how))
