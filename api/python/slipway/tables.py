"""CSV of the service as columns."""
from __future__ import annotations

import csv
import io
from typing import Any

from . import arrays


def columns_of(text: str) -> dict[str, Any]:
    """Name -> column: whole numbers as int64, other numbers as float64 (an empty field is nan), everything else as a list of texts."""
    rows = csv.reader(io.StringIO(text, newline=""))
    head = next(rows, [])
    table = list(rows)
    if any(len(row) != len(head) for row in table):
        raise ValueError("the rows of the CSV differ in length")
    return {name: _column([row[place] for row in table]) for place, name in enumerate(head)}


def _column(cells: list[str]) -> Any:
    try:
        return arrays.make("q", [int(cell) for cell in cells])
    except (ValueError, OverflowError):
        pass
    try:
        return arrays.make("d", [float(cell) if cell else float("nan") for cell in cells])
    except ValueError:
        return cells
