"""The way that docs/likebench.md shows, from nothing to the page with the curves, on a few of the profiles."""

import os
import re
import subprocess
import sys
from pathlib import Path

from models.rehearsal.speakers import talk

ROOT = Path(__file__).resolve().parents[1]


def three_commands():
    """The commands of the page that run, judge and report."""
    blocks = re.findall(r"```sh\n(.*?)```", (ROOT / "docs/likebench.md").read_text("utf-8"), re.S)
    (found,) = [block for block in blocks if "evaluators report" in block]
    return found


def test_the_three_commands_of_the_page_lead_from_an_empty_folder_to_the_curves(tmp_path, rehearse):
    api = rehearse(compose=talk)
    script = three_commands()
    assert len(script.strip().splitlines()) == 3
    frozen = f"--frozen {ROOT / 'releases/frozen'}"
    script = script.replace("--release likebench@1.0.0", f"--release likebench@1.0.0 {frozen} --limit 2")
    script = script.replace("evaluators report", f"evaluators report {frozen}")
    shell = f'set -e\npython() {{ "{sys.executable}" "$@"; }}\n{script}'
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(["bash", "-c", shell], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "likebench.html").read_text("utf-8")
    assert page.count('class="band') >= 3 and "claude-haiku-4-5" in page and "Not at hand" not in page
    assert api.stats()["answered_twice"] == 0
