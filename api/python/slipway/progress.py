"""One live line: in a terminal it is written over, in a notebook it is one output that changes, in a pipe there is only its end."""
from __future__ import annotations

import shutil
import sys
import time
from typing import Any

PAUSE_S = 0.1    # between two pictures of the line


class ProgressLine:
    """Use as a context manager; `show` as often as you like."""

    def __init__(self, stream=None):
        self._stream = stream or sys.stdout
        self._display = _notebook_display() if stream is None else None
        self._is_terminal = self._display is None and self._stream.isatty()
        self._shown, self._text, self._next = "", "", 0.0

    def __enter__(self) -> "ProgressLine":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def show(self, text: str) -> None:
        """Replaces the line, at most ten times a second."""
        self._text = text
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + PAUSE_S
            self._write()

    def close(self) -> None:
        """Ends the line with the last text."""
        if self._is_terminal:
            self._write()
            self._stream.write("\n" if self._text else "")
        elif self._display is not None:
            self._write()
        elif self._text:
            self._stream.write(_printable(self._text) + "\n")
        self._stream.flush()
        self._text = ""

    def _write(self) -> None:
        text = _printable(self._text)
        if text == self._shown:
            return
        self._shown = text
        if self._display is not None:
            self._display.update({"text/plain": text}, raw=True)
        elif self._is_terminal:
            columns = shutil.get_terminal_size().columns
            self._stream.write("\r" + text[:max(1, columns - 1)] + "\x1b[K")
            self._stream.flush()


def _printable(text: str) -> str:
    """Nothing that a terminal would obey: names come from other people."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)


def _notebook_display() -> Any:
    """A display that can be changed, in a notebook; None elsewhere. IPython is not imported where it is not running."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is None or not hasattr(shell, "kernel"):
        return None
    from IPython.display import display
    return display({"text/plain": ""}, raw=True, display_id=True)


def job_text(job: dict[str, Any]) -> str:
    """A job in a line: state, step, best metric, what is left."""
    parts = [f"{job.get('name', '')} {job.get('state', '')}"]
    progress = job.get("progress") or {}
    if progress.get("steps_total"):
        done = progress["step"] / progress["steps_total"]
        filled = int(20 * min(1.0, done))
        parts.append(f"{'━' * filled}{'─' * (20 - filled)} {int(100 * done):3} %")
        parts.append(f"step {progress['step']}/{progress['steps_total']}")
    if best := job.get("best"):
        parts.append(f"best {best['metric']} {best['value']:.4g}" if best.get("value") is not None else f"best {best['metric']} –")
    if job.get("state") == "running" and progress.get("eta_s") is not None:
        parts.append(f"eta {duration_text(progress['eta_s'])}")
    return "  ".join(parts)


def duration_text(seconds: float) -> str:
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60} min {whole % 60:02} s" if whole < 3600 else f"{whole // 3600} h {whole % 3600 // 60:02} min"


def bytes_text(count: int) -> str:
    size, unit = float(count), "bytes"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if size < 1024:
            break
        size, unit = size / 1024, larger
    return f"{count} bytes" if unit == "bytes" else f"{size:.1f} {unit}"


def transfer_text(name: str, done: int, total: int) -> str:
    """An upload or a download in a line."""
    share = done / total if total else 1.0
    filled = int(20 * share)
    return f"{name}  {'━' * filled}{'─' * (20 - filled)} {int(100 * share):3} %  {bytes_text(done)} of {bytes_text(total)}"
