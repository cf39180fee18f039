"""inspect_ai for ``perf.evaluators.evaluate``, in an environment that has it: ``inspect_peer.py RELEASE WIDTH FOLDER``.

Says "ready" when imported, waits for a line, evaluates, says how many samples were scored.
"""

from __future__ import annotations

import sys


def main() -> int:
    """Evaluate once."""
    release, width, folder = sys.argv[1:]
    from inspect_ai import eval as evaluate  # type: ignore[import-not-found,unused-ignore]

    from evaluators.inspect_tasks import heart_choice

    task = heart_choice(release=release, workspace=folder)
    print("ready", flush=True)
    sys.stdin.readline()
    (log,) = evaluate(
        task,
        model="anthropic/claude-sonnet-4-6",
        log_dir=folder,
        log_realtime=False,
        max_connections=int(width),
        max_samples=int(width),
    )
    print(sum(bool(sample.scores) for sample in log.samples or ()), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
