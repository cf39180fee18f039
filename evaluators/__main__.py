"""``python -m evaluators VERB``: evaluate models on a frozen release, compare runs, make the report.

python -m evaluators choice --release heart@2.0.0 --setting vanilla --model offline:random
python -m evaluators report build/evaluations/heart@2.0.0/*.json --out report.html
"""

from __future__ import annotations

from collections.abc import Sequence

import evaluators.reporting.command as reporting
from evaluators import export
from evaluators.protocols import choice, import_command, open_command, run_command
from evaluators.reporting import leaderboard
from evaluators.rubrics import judge_command, spur
from evaluators.satisfaction import calibrate_command
from evaluators.scoring import comparing
from evaluators.task_dialogues import command as dialogues_command
from schemas.command import Verb, run_verb

VERBS = {
    "choice": Verb(choice.HELP, choice.EXAMPLE, choice.add_arguments, choice.run),
    "open": Verb(open_command.HELP, open_command.EXAMPLE, open_command.add_arguments, open_command.run),
    "run": Verb(run_command.HELP, run_command.EXAMPLE, run_command.add_arguments, run_command.run),
    "judge": Verb(judge_command.HELP, judge_command.EXAMPLE, judge_command.add_arguments, judge_command.run),
    "calibrate": Verb(
        calibrate_command.HELP, calibrate_command.EXAMPLE, calibrate_command.add_arguments, calibrate_command.run
    ),
    "spur": Verb(spur.HELP, spur.EXAMPLE, spur.add_arguments, spur.run),
    "dialogues": Verb(
        dialogues_command.HELP, dialogues_command.EXAMPLE, dialogues_command.add_arguments, dialogues_command.run
    ),
    "import": Verb(import_command.HELP, import_command.EXAMPLE, import_command.add_arguments, import_command.run),
    "compare": Verb(comparing.HELP, comparing.EXAMPLE, comparing.add_arguments, comparing.run),
    "report": Verb(reporting.HELP, reporting.EXAMPLE, reporting.add_arguments, reporting.run),
    "leaderboard": Verb(leaderboard.HELP, leaderboard.EXAMPLE, leaderboard.add_arguments, leaderboard.run),
    "export": Verb(export.HELP, export.EXAMPLE, export.add_arguments, export.run),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Parse the verb and its arguments, and run it."""
    return run_verb("evaluators", "Evaluate models on frozen releases, and report.", VERBS, argv)


if __name__ == "__main__":
    raise SystemExit(main())
