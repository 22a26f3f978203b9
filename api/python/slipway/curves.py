"""Metrics as arrays.

The service answers with at most 200,000 points; a longer curve comes summarised (`thinned`). All points of such a curve are read
by halving the range of steps until each half fits.
"""
from __future__ import annotations

import datetime
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from . import arrays
from .endpoints import Endpoints

JOBS_OF_A_CALL = 100


@dataclass(frozen=True)
class Curve:
    """A metric over the steps of a job. All arrays have the same length."""
    name: str
    #: int64
    step: Any
    #: int64
    epoch: Any
    #: float64, seconds since 1970
    time: Any
    #: float64; nan, inf and -inf as they were. Of a summary: the last value.
    value: Any
    #: float64; of a single value: the value
    min: Any
    max: Any
    mean: Any
    #: int64, how many values a point stands for
    count: Any

    def __len__(self) -> int:
        return len(self.step)


def of_jobs(client: Endpoints, jobs: list[str], names: Iterable[str] | None, resolution: int) -> dict[str, dict[str, Curve]]:
    """Curves of several jobs with at most `resolution` points each: job id -> metric -> curve."""
    found = {}
    for begin in range(0, len(jobs), JOBS_OF_A_CALL):
        answer = client.list_metrics(jobs=jobs[begin:begin + JOBS_OF_A_CALL], names=_listed(names), resolution=resolution)
        for one in answer["jobs"]:
            found[one["job_id"]] = {series["name"]: curve_of(series["name"], series["points"]) for series in one["series"]}
    return found


def complete(client: Endpoints, job: str, names: Iterable[str] | None) -> dict[str, Curve]:
    """Every stored point of a job: metric -> curve."""
    answer = client.list_job_metrics(job, names=_listed(names), resolution=0)
    points = {}
    for series in answer["series"]:
        name = series["name"]
        points[name] = _all_points(client, job, name, 0, series["points"][-1]["step"]) if series.get("thinned") else series["points"]
    return {name: curve_of(name, found) for name, found in points.items()}


def _all_points(client: Endpoints, job: str, name: str, first: int, last: int) -> list[dict]:
    answer = client.list_job_metrics(job, names=[name], step_min=first, step_max=last, resolution=0)
    series = answer["series"][0] if answer["series"] else {"points": []}
    if not series.get("thinned") or first == last:
        return series["points"]
    middle = (first + last) // 2
    return _all_points(client, job, name, first, middle) + _all_points(client, job, name, middle + 1, last)


def curve_of(name: str, points: list[dict]) -> Curve:
    """The arrays of a list of points."""
    values = [number(point.get("value"), point.get("nonfinite")) for point in points]

    def summary(field: str) -> Any:
        return arrays.make("d", [value if point.get(field) is None else point[field] for point, value in zip(points, values)])
    return Curve(name=name, step=arrays.make("q", [point["step"] for point in points]),
                 epoch=arrays.make("q", [point["epoch"] for point in points]),
                 time=arrays.make("d", [seconds(point["time"]) for point in points]), value=arrays.make("d", values),
                 min=summary("min"), max=summary("max"), mean=summary("mean"),
                 count=arrays.make("q", [point.get("count", 1) for point in points]))


def number(value: float | None, nonfinite: str | None = None) -> float:
    """A value of the API: null is named beside it (`nan`, `inf`, `-inf`)."""
    return float(nonfinite or "nan") if value is None else float(value)


def seconds(time: str) -> float:
    """A time of the API as seconds since 1970."""
    return datetime.datetime.fromisoformat(time).timestamp()


def is_finite(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _listed(names: Iterable[str] | None) -> list[str] | None:
    return [names] if isinstance(names, str) else list(names) if names is not None else None
