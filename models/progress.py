"""What a run on a model shows while it runs: one live line on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import shutil
import sys
import time

from models.budget import Used, dollars

_LIVE = 0.1  # seconds between two states of the live line
_PLAIN = 30.0  # seconds between two plain lines
_BAR = 20  # characters


class Progress:
    """Rows, rate, cost, time left, retries. ``rows``: how many rows are expected, None: unknown."""

    def __init__(self, quiet: bool, rows: int | None) -> None:
        self._quiet, self._rows = quiet, rows
        self._live = sys.stderr.isatty()
        self._began = self._shown = time.monotonic()
        self._width = 0

    def is_due(self) -> bool:
        """Is it time to show where the run stands?"""
        return not self._quiet and time.monotonic() - self._shown >= (_LIVE if self._live else _PLAIN)

    def show(self, used: Used, retries: int) -> None:
        """Show where the run stands, unless it was just shown."""
        if not self.is_due():
            return
        self._shown = now = time.monotonic()
        line = self._line(used, retries, now - self._began)
        if self._live:
            line = line[: shutil.get_terminal_size().columns - 1]
            sys.stderr.write("\r" + line.ljust(self._width))
            self._width = len(line)
        else:
            sys.stderr.write(line + "\n")
        sys.stderr.flush()

    def close(self) -> None:
        """Clear the live line."""
        if self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()
            self._width = 0

    def _line(self, used: Used, retries: int, seconds: float) -> str:
        parts = [f"{used.rows} rows"]
        if self._rows:
            share = min(1.0, used.rows / self._rows)
            filled = round(_BAR * share)
            parts = [f"[{'#' * filled}{'.' * (_BAR - filled)}] {used.rows}/{self._rows} rows"]
        parts.append(f"{used.answered + used.replayed} replies")
        if used.answered:
            parts.append(f"{used.answered / seconds:.1f}/s")
        parts.append(dollars(used.cost))
        if self._rows and 0 < used.rows < self._rows:
            parts.append(f"{_clock(seconds * (self._rows - used.rows) / used.rows)} left")
        if retries:
            parts.append(f"{retries} retries")
        return "  ".join(parts)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
