"""Several jobs side by side: where their specs differ, and what came out."""
from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .curves import is_finite
from .endpoints import Endpoints

#: Fields of a spec that tell one job from another without changing what it computes.
NAMES_ONLY = ("name", "labels")
PLACES = ("step", "epoch", "nonfinite")    # of a result, beside its metrics


@dataclass(frozen=True)
class Comparison:
    """A column for each job. Print it for a table."""
    jobs: list[dict[str, Any]]
    #: Dotted path -> the value in each job's spec; only of fields that are not equal in all.
    differences: dict[str, list[Any]]
    #: Metric -> its last value in each job; None where the job has none.
    results: dict[str, list[float | None]]

    def best(self, metric: str, mode: str = "min") -> dict[str, Any] | None:
        """The job with the best last value of a metric; mode is min or max. None when no job has one."""
        if mode not in ("min", "max"):
            raise ValueError(f"mode must be min or max, got {mode}")
        known = [(value, place) for place, value in enumerate(self.results.get(metric, [])) if is_finite(value)]
        return self.jobs[(min if mode == "min" else max)(known)[1]] if known else None

    def __str__(self) -> str:
        rows = [["", *(job["name"] for job in self.jobs)], ["id", *(job["id"] for job in self.jobs)],
                ["state", *(job["state"] for job in self.jobs)]]
        rows += [[path, *map(_text, values)] for path, values in self.differences.items()]
        rows += [[metric, *map(_text, values)] for metric, values in self.results.items()]
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)


def compare(client: Endpoints, jobs: Iterable[str]) -> Comparison:
    """Raises ValueError for no job at all."""
    found = [client.get_job(job) for job in jobs]
    if not found:
        raise ValueError("there is nothing to compare: give the ids of jobs")
    specs = [flat({key: value for key, value in job["spec"].items() if key not in NAMES_ONLY}) for job in found]
    paths = dict.fromkeys(path for spec in specs for path in spec)
    differences = {path: values for path in paths if _differ(values := [spec.get(path) for spec in specs])}
    metrics = sorted({name for job in found for name in job.get("result") or {} if name not in PLACES})
    results = {name: [_number(job.get("result") or {}, name) for job in found] for name in metrics}
    return Comparison(found, differences, {name: values for name, values in results.items() if any(v is not None for v in values)})


def flat(document: dict[str, Any], around: str = "") -> dict[str, Any]:
    """{"train": {"epochs": 3}} as {"train.epochs": 3}. Lists stay as they are."""
    found = {}
    for name, value in document.items():
        found.update(flat(value, f"{around}{name}.") if isinstance(value, dict) and value else {around + name: value})
    return found


def _differ(values: list[Any]) -> bool:
    return any(value != values[0] for value in values)


def _number(result: dict[str, Any], name: str) -> float | None:
    value = result.get(name)
    if is_finite(value):
        return value
    word = (result.get("nonfinite") or {}).get(name)
    return float(word) if word in ("nan", "inf", "-inf") else None


def _text(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.5g}"
    return value if isinstance(value, str) else json.dumps(value)
